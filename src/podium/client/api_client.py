"""What the scheduler asks of the API one request at a time, nearly all of it writes.

It is what plugins get as `Handle.client`; the event recorder and leader election use it, too.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    Lease,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from podium.api.times import time_text
from podium.client.http import Connection, Request
from podium.client.pod_status import status_patch
from podium.client.resources import CLAIMS, LEASES, PODS, VOLUMES, Resource, resource_of
from podium.clock import Clock, sleep
from podium.errors import ApiError, Conflict, InvalidObject, Unreachable

K = TypeVar("K", bound=ApiObject)
Json = dict[str, Any]

MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
EVENTS: Final = "/apis/events.k8s.io/v1/namespaces"

STATUS_TRIES: Final = 4
_FIRST_WAIT_SECONDS: Final = 0.01
_WAIT_FACTOR: Final = 5


class ApiClient:
    """Implements ``framework.handle.Client`` on a connection; ``clock`` is the time it writes."""

    def __init__(self, connection: Connection, clock: Clock | None = None) -> None:
        self._connection = connection
        self._clock = clock or connection.clock

    # --- pods ------------------------------------------------------------------------------------

    async def bind(self, pod: Pod, node_name: str) -> None:
        meta = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
        target = {"kind": "Node", "name": node_name}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}
        await self._send("POST", PODS.path_of(pod.key, "binding"), binding)

    async def delete_pod(self, pod: Pod) -> None:
        await self._connection.send(Request("DELETE", PODS.path_of(pod.key)))

    async def patch_pod_status(
        self,
        pod: Pod,
        condition: Condition | None = None,
        nominated_node_name: str | None = None,
    ) -> None:
        """Bring the status to this; nothing is sent when the pod says so already.

        A name of None leaves the nomination alone, "" takes it away.
        """
        now = time_text(self._clock.now())
        patch = status_patch(pod, condition, nominated_node_name, now)
        if patch is not None:
            path = PODS.path_of(pod.key, "status")
            await self._insist(lambda: self._send("PATCH", path, patch, STRATEGIC))

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        await self.patch_pod_status(pod, condition)

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        await self.patch_pod_status(pod, nominated_node_name="")

    async def _insist(self, attempt: Callable[[], Awaitable[bytes]]) -> None:
        """Four tries at what a moment later may succeed."""
        seconds = _FIRST_WAIT_SECONDS
        for left in reversed(range(STATUS_TRIES)):
            try:
                await attempt()
            except ApiError as error:
                if not left or not _may_pass(error):
                    raise
                await sleep(self._connection.clock, seconds * (1 + random.random() / 10))
                seconds *= _WAIT_FACTOR
            else:
                return

    # --- volumes ---------------------------------------------------------------------------------

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        patch = {**_marks(volume, annotations), "spec": {"claimRef": claim}}
        return await self._patched(VOLUMES, volume, patch)

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        return await self._patched(CLAIMS, claim, _marks(claim, annotations))

    async def _patched(self, resource: Resource[K], obj: K, patch: Json) -> K:
        return _read(resource, await self._send("PATCH", resource.path_of(obj.key), patch, MERGE))

    # --- any kind --------------------------------------------------------------------------------

    async def read(self, kind: type[K], key: str) -> K:
        resource = resource_of(kind)
        return _read(resource, await self._connection.get(resource.path_of(key)))

    # --- leases ----------------------------------------------------------------------------------

    async def get_lease(self, key: str) -> Lease:
        return await self.read(Lease, key)

    async def create_lease(self, lease: Lease) -> Lease:
        """``Conflict`` when there is one already."""
        answer = await self._send("POST", LEASES.path_in(lease.namespace), _lease_json(lease))
        return _read(LEASES, answer)

    async def update_lease(self, lease: Lease) -> Lease:
        """``Conflict`` unless the lease has the version that it had when it was read."""
        answer = await self._send("PUT", LEASES.path_of(lease.key), _lease_json(lease))
        return _read(LEASES, answer)

    # --- events ----------------------------------------------------------------------------------

    async def create_event(self, namespace: str, event: Json) -> None:
        await self._send("POST", f"{EVENTS}/{namespace}/events", event)

    async def create_core_event(self, namespace: str, event: Json) -> None:
        """In the older form of events, which leader election still uses."""
        await self._send("POST", f"/api/v1/namespaces/{namespace}/events", event)

    async def patch_event(self, namespace: str, name: str, patch: Json) -> None:
        await self._send("PATCH", f"{EVENTS}/{namespace}/events/{name}", patch, STRATEGIC)

    async def _send(
        self, method: str, path: str, body: Json, content_type: str = "application/json"
    ) -> bytes:
        request = Request(method, path, msgspec.json.encode(body), content_type)
        return await self._connection.send(request)


def _read(resource: Resource[K], answer: bytes) -> K:
    """To whoever asked, an answer that cannot be read is a request that failed."""
    try:
        return resource.decode(answer, None)
    except InvalidObject as error:
        raise ApiError(f"the server answered with something else: {error}") from error


def _may_pass(error: ApiError) -> bool:
    if isinstance(error, Unreachable):
        return not error.sent
    return isinstance(error, Conflict) or error.code in (500, 503)


def _marks(obj: ApiObject, annotations: Mapping[str, str]) -> Json:
    """Annotations to add, to exactly this version of the object."""
    version = {"resourceVersion": obj.metadata.resource_version}
    added = {"annotations": dict(annotations)} if annotations else {}
    return {"metadata": {**version, **added}}


def _lease_json(lease: Lease) -> Json:
    """What an election writes, also where it is empty, as client-go does: an update replaces."""
    spec: Json = {
        "holderIdentity": lease.spec.holder_identity,
        "leaseTransitions": lease.spec.lease_transitions,
        **msgspec.to_builtins(lease.spec),  # leaves out what is empty
    }
    kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    return {**kind, "metadata": lease.metadata, "spec": spec}
