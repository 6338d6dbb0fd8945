"""Makes the claims of pods from templates, in a cluster that has no controller for that.

It does what kube-controller-manager's claim controller does, for the pods of one run: it creates
the claims, names them in the pod's status, and removes them with their pod.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Final

import msgspec

from podium.api.objects import ResourceClaim, ResourceClaimTemplate
from podium.bench.claims import claim_for, template_entries
from podium.bench.live.manifests import Json, Manifest, Marking
from podium.bench.live.measuring import NAMESPACE
from podium.bench.live.writer import IN_FLIGHT, Writer
from podium.client.api_client import STRATEGIC
from podium.client.http import Request
from podium.client.informer import Informer
from podium.client.resources import PODS, Resource, decode_plain, resource_of
from podium.clock import sleep
from podium.errors import NotFound

_PROBES: Final = 30
_PROBE_PAUSE: Final = 0.1
_CLAIMS: Final = resource_of(ResourceClaim)
_PLAIN_PODS: Final[Resource[Json]] = Resource("Pod", "pods", decode_plain, needed=True)
_PROBE_POD: Final[Json] = {
    "schedulerName": "podium-bench-nobody",
    "containers": [{"name": "probe", "image": "registry.k8s.io/pause:3.10"}],
    "resourceClaims": [{"name": "probe", "resourceClaimTemplateName": "template"}],
}
_PROBE_CLAIM: Final = {"name": "probe", "exactly": {"deviceClassName": "podium-bench-nothing"}}


class ClaimMaker:
    """Follows pods that use a template of the run, and makes and removes their claims.

    Each pod belongs to one of several workers, so that what happens to it is handled in order.
    """

    def __init__(self, writer: Writer, marking: Marking) -> None:
        self._writer = writer
        self._marking = marking
        self._templates: dict[str, Json] = {}  # by key
        self._made: dict[str, list[str]] = {}  # keys of claims, by the uid of their pod
        self._complete: set[str] = set()  # keys of pods that have had all their claims
        self._progress = asyncio.Event()
        self._queues: list[asyncio.Queue[tuple[Json, bool]]] = [
            asyncio.Queue() for _ in range(IN_FLIGHT)
        ]

    def add_template(self, template: Manifest) -> None:
        """Make claims for pods that name this template from now on."""
        self._templates[template.key] = template.body

    async def run(self) -> None:
        """Work until it is cancelled."""
        informer = Informer(self._writer.connection, _PLAIN_PODS)
        informer.subscribe(self._see)
        async with asyncio.TaskGroup() as group:
            group.create_task(informer.run())
            for queue in self._queues:
                group.create_task(self._serve(queue))

    async def wait_for_claims(self, pods: Iterable[Manifest]) -> None:
        """Wait until these pods have the claims that they need."""
        for pod in pods:
            while self._wanted(pod.body) and pod.key not in self._complete:
                self._progress.clear()
                await self._progress.wait()

    def _see(self, old: Json | None, new: Json | None) -> None:
        pod, is_gone = (new, False) if new is not None else (old, True)
        assert pod is not None
        uid = pod["metadata"]["uid"]
        if not is_gone and uid not in self._made and self._wanted(pod):
            self._made[uid] = []
        elif not is_gone or uid not in self._made:
            return
        self._queues[hash(uid) % len(self._queues)].put_nowait((pod, is_gone))

    def _wanted(self, pod: Json) -> list[tuple[str, Json]]:
        """Return the entries of a pod that need a claim, with their templates."""
        namespace = pod["metadata"]["namespace"]
        keys = ((entry, f"{namespace}/{name}") for entry, name in template_entries(pod["spec"]))
        return [(entry, self._templates[key]) for entry, key in keys if key in self._templates]

    async def _serve(self, queue: asyncio.Queue[tuple[Json, bool]]) -> None:
        while True:
            pod, is_gone = await queue.get()
            if is_gone:
                await self._remove(pod["metadata"]["uid"])
            else:
                await self._make(pod)

    async def _make(self, pod: Json) -> None:
        metadata, statuses = pod["metadata"], []
        for entry, template in self._wanted(pod):
            body = msgspec.json.encode(claim_for(pod, entry, template))
            claim = self._marking.of_json(ResourceClaim, body)
            await self._writer.create(claim)
            self._made[metadata["uid"]].append(claim.key)
            statuses.append({"name": entry, "resourceClaimName": claim.name})
        path = PODS.path_of(f"{metadata['namespace']}/{metadata['name']}", "status")
        status = {"resourceClaimStatuses": statuses}
        patch = msgspec.json.encode({"metadata": {"uid": metadata["uid"]}, "status": status})
        with contextlib.suppress(NotFound):  # if it is deleted already, its claims go next
            await self._writer.connection.send(Request("PATCH", path, patch, STRATEGIC))
        self._complete.add(f"{metadata['namespace']}/{metadata['name']}")
        self._progress.set()

    async def _remove(self, uid: str) -> None:
        for key in self._made.pop(uid):
            await self._writer.remove(_CLAIMS, key)


async def has_claim_controller(writer: Writer, marking: Marking) -> bool:
    """Whether the cluster makes claims from templates: tried with a pod that no scheduler places.

    The template that it creates is left to the clean-up.
    """
    template = _probe("template", {"spec": {"devices": {"requests": [_PROBE_CLAIM]}}})
    pod = marking.pod(_probe("claiming", _PROBE_POD))
    await writer.create(marking.of_json(ResourceClaimTemplate, template))
    await writer.create(pod)
    try:
        for _ in range(_PROBES):
            found = await writer.get(PODS, pod.key)
            if (found.get("status") or {}).get("resourceClaimStatuses"):
                return True
            await sleep(writer.connection.clock, _PROBE_PAUSE)
        return False
    finally:
        await writer.delete(PODS, pod.key)


def _probe(name: str, spec: Json) -> bytes:
    metadata = {"name": name, "namespace": NAMESPACE}
    return msgspec.json.encode({"metadata": metadata, "spec": spec})
