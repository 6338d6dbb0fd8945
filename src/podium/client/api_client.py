"""Single requests to the API, nearly all of them writes.

Plugins get it as `Handle.client`; the event recorder and leader election use it, too.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    Lease,
    LeaseCandidate,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
)
from podium.api.times import time_text
from podium.client.event_series import Event
from podium.client.http import Connection, Request
from podium.client.resources import (
    CLAIMS,
    LEASE_CANDIDATES,
    LEASES,
    PODS,
    RESOURCE_CLAIMS,
    VOLUMES,
    Resource,
    resource_of,
)
from podium.clock import Clock, sleep
from podium.errors import ApiError, Conflict, InvalidObject, Unreachable

K = TypeVar("K", bound=ApiObject)
Json = dict[str, Any]

MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
EVENTS: Final = "/apis/events.k8s.io/v1/namespaces"

TRIES: Final = 4
_FIRST_WAIT_SECONDS: Final = 0.01
_WAIT_FACTOR: Final = 5


class ApiClient:
    """Implements ``framework.handle.Client``; ``clock`` is the time that it writes to objects."""

    def __init__(self, connection: Connection, clock: Clock | None = None) -> None:
        self._connection = connection
        self._clock = clock or connection.clock

    # --- pods ------------------------------------------------------------------------------------

    async def bind(self, pod: Pod, node_name: str) -> None:
        await self._retry(lambda: self._bind(pod, node_name), _may_pass)

    async def _bind(self, pod: Pod, node_name: str) -> None:
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
        """Set a condition or the nomination; send nothing if the pod has them already.

        A name of None leaves the nomination alone, "" removes it.
        """
        now = time_text(self._clock.now())
        patch = status_patch(pod, condition, nominated_node_name, now)
        if patch is not None:
            path = PODS.path_of(pod.key, "status")
            await self._retry(
                lambda: self._send("PATCH", path, patch, STRATEGIC), _may_pass_or_conflicts
            )

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        await self.patch_pod_status(pod, condition)

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        await self.patch_pod_status(pod, nominated_node_name="")

    async def _retry(
        self, attempt: Callable[[], Awaitable[object]], may_pass: Callable[[ApiError], bool]
    ) -> None:
        """Try four times what may succeed a moment later."""
        seconds = _FIRST_WAIT_SECONDS
        for left in reversed(range(TRIES)):
            try:
                await attempt()
            except ApiError as error:
                if not left or not may_pass(error):
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

    async def _patched(
        self, resource: Resource[K], obj: K, patch: Json, subresource: str = ""
    ) -> K:
        path = resource.path_of(obj.key, subresource)
        return _read(resource, await self._send("PATCH", path, patch, MERGE))

    # --- resource claims -------------------------------------------------------------------------

    async def set_finalizers(
        self, claim: ResourceClaim, finalizers: Sequence[str]
    ) -> ResourceClaim:
        patch = {"metadata": {**_exactly(claim), "finalizers": list(finalizers)}}
        return await self._patched(RESOURCE_CLAIMS, claim, patch)

    async def patch_claim_status(
        self, claim: ResourceClaim, status: Mapping[str, object]
    ) -> ResourceClaim:
        patch = {"metadata": _exactly(claim), "status": status}
        return await self._patched(RESOURCE_CLAIMS, claim, patch, "status")

    async def remove_consumer(self, claim: ResourceClaim, uid: str) -> ResourceClaim:
        gone = {"$patch": "delete", "uid": uid}
        patch = {"metadata": {"uid": claim.uid}, "status": {"reservedFor": [gone]}}
        path = RESOURCE_CLAIMS.path_of(claim.key, "status")
        return _read(RESOURCE_CLAIMS, await self._send("PATCH", path, patch, STRATEGIC))

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        kind = {"apiVersion": "resource.k8s.io/v1", "kind": RESOURCE_CLAIMS.kind}
        body = {**kind, "metadata": claim.metadata, "spec": claim.spec}
        path = RESOURCE_CLAIMS.path_in(claim.namespace)
        return _read(RESOURCE_CLAIMS, await self._send("POST", path, body))

    async def delete_claim(self, claim: ResourceClaim) -> None:
        await self._connection.send(Request("DELETE", RESOURCE_CLAIMS.path_of(claim.key)))

    async def set_extended_claim(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> None:
        patch = {"status": {"extendedResourceClaimStatus": status}}
        path = PODS.path_of(pod.key, "status")
        await self._retry(
            lambda: self._send("PATCH", path, patch, STRATEGIC), _may_pass_or_conflicts
        )

    # --- any kind --------------------------------------------------------------------------------

    async def read(self, kind: type[K], key: str) -> K:
        resource = resource_of(kind)
        return _read(resource, await self._connection.get(resource.path_of(key)))

    # --- leases ----------------------------------------------------------------------------------

    async def get_lease(self, key: str) -> Lease:
        return await self.read(Lease, key)

    async def create_lease(self, lease: Lease) -> Lease:
        """Create the lease; raise ``Conflict`` if there is one already."""
        answer = await self._send("POST", LEASES.path_in(lease.namespace), _lease_json(lease))
        return _read(LEASES, answer)

    async def update_lease(self, lease: Lease) -> Lease:
        """Replace the lease; raise ``Conflict`` if it has changed since it was read."""
        answer = await self._send("PUT", LEASES.path_of(lease.key), _lease_json(lease))
        return _read(LEASES, answer)

    async def create_candidate(self, candidate: LeaseCandidate) -> None:
        path = LEASE_CANDIDATES.path_in(candidate.namespace)
        await self._send("POST", path, _candidate_json(candidate))

    async def update_candidate(self, candidate: LeaseCandidate) -> None:
        """Replace the candidate; raise ``Conflict`` if it has changed since it was read."""
        path = LEASE_CANDIDATES.path_of(candidate.key)
        await self._send("PUT", path, _candidate_json(candidate))

    # --- events ----------------------------------------------------------------------------------

    async def create_event(self, namespace: str, event: Event) -> None:
        await self._send("POST", _events_path(namespace), event)

    async def create_events(self, events: Sequence[tuple[str, Event]]) -> list[ApiError | None]:
        """Create events, each in its namespace; return for each why it failed, if it did."""
        encode = msgspec.json.encode
        requests = [Request("POST", _events_path(where), encode(event)) for where, event in events]
        return await self._connection.send_together(requests)

    async def create_core_event(self, namespace: str, event: Json) -> None:
        """Create an event of the older kind, which leader election still uses."""
        await self._send("POST", f"/api/v1/namespaces/{namespace}/events", event)

    async def patch_event(self, namespace: str, name: str, patch: Json) -> None:
        await self._send("PATCH", f"{EVENTS}/{namespace}/events/{name}", patch, STRATEGIC)

    async def _send(
        self, method: str, path: str, body: object, content_type: str = "application/json"
    ) -> bytes:
        request = Request(method, path, msgspec.json.encode(body), content_type)
        return await self._connection.send(request)


class SingleTryBindings(ApiClient):
    """A client that sends each binding once, as Kubernetes 1.36 does."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        await self._bind(pod, node_name)


def _events_path(namespace: str) -> str:
    return f"{EVENTS}/{namespace}/events"


def _read(resource: Resource[K], answer: bytes) -> K:
    """Decode an answer; one that cannot be read makes the request fail."""
    try:
        return resource.decode(answer, None)
    except InvalidObject as error:
        raise ApiError(f"the server answered with another object: {error}") from error


def _may_pass(error: ApiError) -> bool:
    if isinstance(error, Unreachable):
        return not error.sent
    return error.code in (500, 503)


def _may_pass_or_conflicts(error: ApiError) -> bool:
    return isinstance(error, Conflict) or _may_pass(error)


def _exactly(claim: ResourceClaim) -> Json:
    """Return the metadata of a patch that is for exactly this version of the claim."""
    return {"uid": claim.uid, "resourceVersion": claim.metadata.resource_version}


def _marks(obj: ApiObject, annotations: Mapping[str, str]) -> Json:
    """Return a patch that adds annotations, to exactly this version of the object."""
    version = {"resourceVersion": obj.metadata.resource_version}
    added = {"annotations": dict(annotations)} if annotations else {}
    return {"metadata": {**version, **added}}


def _lease_json(lease: Lease) -> Json:
    """Return the lease with the fields that client-go writes even if they are empty."""
    spec: Json = {
        "holderIdentity": lease.spec.holder_identity,
        "leaseTransitions": lease.spec.lease_transitions,
        **msgspec.to_builtins(lease.spec),  # which leaves out empty fields
    }
    kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    return {**kind, "metadata": lease.metadata, "spec": spec}


def _candidate_json(candidate: LeaseCandidate) -> Json:
    api_version = f"{LEASE_CANDIDATES.group}/{LEASE_CANDIDATES.version}"
    kind = {"apiVersion": api_version, "kind": LEASE_CANDIDATES.kind}
    return {**kind, "metadata": candidate.metadata, "spec": candidate.spec}


def status_patch(
    pod: Pod, condition: Condition | None, nominated_node_name: str | None, now: str
) -> Json | None:
    """Return a strategic merge patch with the difference, or None if there is none.

    A name of None leaves the nomination alone, "" removes it. The patch names no version, so it
    cannot conflict, and it leaves all other conditions as they are.
    """
    status: Json = {}
    if condition is not None:
        status |= _conditions(pod.status.conditions, condition, now)
    if nominated_node_name not in (None, pod.status.nominated_node_name):
        status["nominatedNodeName"] = nominated_node_name or None
    return {"status": status} if status else None


def _conditions(before: tuple[Condition, ...], wanted: Condition, now: str) -> Json:
    old = next((one for one in before if one.type == wanted.type), None)
    if old is None:
        change = {"lastProbeTime": None, "lastTransitionTime": now, **_fields(wanted)}
    elif _is_same(old, wanted):
        return {}
    else:
        change = _difference(old, wanted, now)
    change["type"] = wanted.type
    found: Json = {"conditions": [dict(sorted(change.items()))]}
    if before:
        types = [one.type for one in before] + ([wanted.type] if old is None else [])
        found = {"$setElementOrder/conditions": [{"type": one} for one in types], **found}
    return found


def _is_same(old: Condition, wanted: Condition) -> bool:
    """Compare as upstream does: a new observedGeneration alone is not written."""
    return (old.status, old.reason, old.message) == (wanted.status, wanted.reason, wanted.message)


def _difference(old: Condition, wanted: Condition, now: str) -> Json:
    was, is_now = _fields(old), _fields(wanted)
    change = {key: is_now.get(key) for key in was | is_now if was.get(key) != is_now.get(key)}
    if old.last_probe_time:
        change["lastProbeTime"] = None
    if old.status != wanted.status:  # only then is it a transition
        change["lastTransitionTime"] = now
    return change


def _fields(condition: Condition) -> Json:
    """Return the fields that are not empty, under their names in JSON."""
    fields = {
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "reason": condition.reason,
        "status": condition.status,
    }
    return {key: value for key, value in fields.items() if value}
