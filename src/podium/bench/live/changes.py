"""Deletes and updates objects of a cluster, all at once or at a rate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from podium.api.objects import ApiObject, Node, Pod
from podium.bench.live.manifests import Json, Manifest, Marking
from podium.bench.live.writer import Writer, at_once
from podium.bench.ops import DeletePods, UpdateAny
from podium.bench.templates import Templates
from podium.client.resources import PODS, resource_of
from podium.clock import Clock, sleep
from podium.errors import NotFound, WorkloadFailed

T = TypeVar("T")

# Fields of a node's spec that other programs set.
_NOT_OURS: Final = ("podCIDR", "podCIDRs", "providerID")


class Changes:
    """Carries out the operations that change objects which exist already."""

    def __init__(self, writer: Writer, marking: Marking, clock: Clock) -> None:
        self._writer = writer
        self._marking = marking
        self._clock = clock

    async def delete_pods(self, op: DeletePods) -> None:
        """Delete pods with their own grace period, as ``kubectl delete`` does."""
        selector = ",".join(f"{name}={value}" for name, value in op.label_selector.items())
        names = await self._writer.names(PODS, op.namespace, selector)
        keys = [f"{op.namespace}/{name}" for name in names]
        await self._each(keys, op.delete_pods_per_second, self._delete)

    async def _delete(self, key: str) -> None:
        await self._writer.delete(PODS, key, at_once=False)

    async def update_any(self, op: UpdateAny, templates: Templates) -> None:
        template = templates.get(op.template_path, ApiObject, None, op.count)
        namespace = op.namespace if template.is_namespaced else ""
        new = [
            self._marking.of_json(template.kind, template.json(0, namespace, index=index))
            for index in range(op.count)
        ]

        async def update(manifest: Manifest) -> None:
            await self._update(manifest, "/".join(op.subresources))

        await self._each(new, op.update_per_second, update)

    async def _update(self, manifest: Manifest, subresource: str) -> None:
        resource, key = manifest.resource, manifest.key
        what = f"{resource.kind} {key}"
        try:
            body = next_version(await self._writer.get(resource, key), manifest)
        except NotFound:
            raise WorkloadFailed(f"updateAny: there is no {what}") from None
        try:
            await self._writer.replace(resource, key, body, subresource)
            if "status" in manifest.body:
                await self._writer.replace(resource, key, body, "status")
        except NotFound as error:
            part = f"{subresource} of " if subresource else ""
            raise WorkloadFailed(f"updateAny: cannot update {part}{what}: {error}") from error

    async def _each(
        self, things: Iterable[T], per_second: int, work: Callable[[T], Awaitable[None]]
    ) -> None:
        if not per_second:
            await at_once(things, work)
            return
        due = self._clock.now()
        for thing in things:
            due += 1 / per_second
            await sleep(self._clock, due - self._clock.now())
            await work(thing)


def next_version(found: Json, wanted: Manifest) -> Json:
    """Return the object that an update sends: what is wanted, and what the server has filled in.

    It has no resource version, because a scheduler may write to the object at the same time.
    """
    metadata = {
        **{name: value for name, value in found["metadata"].items() if name != "resourceVersion"},
        "labels": wanted.body["metadata"].get("labels") or {},
    }
    body = {**found, **wanted.body, "metadata": metadata}
    body["spec"] = _spec(found.get("spec") or {}, wanted)
    body["status"] = {**(found.get("status") or {}), **(wanted.body.get("status") or {})}
    return body


def _spec(found: Json, wanted: Manifest) -> Json:
    spec: Json = wanted.body.get("spec") or {}
    if wanted.resource is resource_of(Node):
        return {name: found[name] for name in _NOT_OURS if name in found} | spec
    if wanted.resource is not resource_of(Pod):
        return {**found, **spec}
    kept = {name: found[name] for name in found if name != "schedulingGates"}
    by_name = {each.get("name"): each for each in spec.get("containers") or ()}
    # Little of a pod may change: its gates go, tolerations are added, containers are resized.
    return {
        **kept,
        **{name: spec[name] for name in ("schedulingGates",) if name in spec},
        "tolerations": _united(found.get("tolerations"), spec.get("tolerations")),
        "containers": [
            {**each, **_resized(by_name.get(each["name"], {}))} for each in found["containers"]
        ],
    }


def _united(found: list[Json] | None, wanted: list[Json] | None) -> list[Json]:
    united = list(found or ())
    return united + [each for each in wanted or () if each not in united]


def _resized(container: Json) -> Json:
    return {name: container[name] for name in ("image", "resources") if name in container}
