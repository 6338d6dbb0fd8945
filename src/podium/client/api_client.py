"""Single requests to the API, nearly all of them writes.

Plugins get it as `Handle.client`; the event recorder and leader election use it, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from podium.api.codec import UNREADABLE
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
    PodGroup,
    ResourceClaim,
)
from podium.api.times import time_text
from podium.client.event_series import Event
from podium.client.http import Connection, Request
from podium.client.pacing import Retries
from podium.client.resources import (
    CLAIMS,
    LEASE_CANDIDATES,
    LEASES,
    POD_GROUPS,
    PODS,
    RESOURCE_CLAIMS,
    VOLUMES,
    Resource,
    resource_of,
)
from podium.client.status_patches import group_condition, status_patch
from podium.clock import Clock, sleep
from podium.errors import ApiError, Conflict, InvalidObject, Unreachable

K = TypeVar("K", bound=ApiObject)
Json = dict[str, Any]

MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
EVENTS: Final = "/apis/events.k8s.io/v1/namespaces"

RETRIES: Final = Retries(tries=4, first_seconds=0.01, factor=5, jitter=0.1)
# How long to find out what became of a binding whose answer is missing.
_SETTLE_SECONDS: Final = 60.0
_SETTLE_PAUSE_SECONDS: Final = 1.0


class ApiClient:
    """Implements ``framework.handle.Client``; ``clock`` is the time that it writes to objects."""

    def __init__(self, connection: Connection, clock: Clock | None = None) -> None:
        self._connection = connection
        self._clock = clock or connection.clock

    # --- pods ------------------------------------------------------------------------------------

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind the pod; raise ``ApiError`` if it is not on this node in the end.

        A request that fails may have been carried out all the same: its answer was lost, or an
        earlier try got through. If the pod counted as unbound then, its room would be given to
        another pod until the watch shows the truth. So the pod is read.
        """
        try:
            await self._send_binding(pod, node_name)
        except ApiError as error:
            is_unclear = error.may_be_done or isinstance(error, Conflict)
            if not (is_unclear and await self._is_on(pod, node_name)):
                raise

    def _send_binding(self, pod: Pod, node_name: str) -> Awaitable[object]:
        return self._retry(lambda: self._bind(pod, node_name), _may_pass)

    async def _is_on(self, pod: Pod, node_name: str) -> bool:
        """Read the pod, trying for a while; without an answer it counts as not bound."""
        end = self._connection.clock.now() + _SETTLE_SECONDS
        while True:
            try:
                found = await self.read(Pod, pod.key)
                return (found.uid, found.node_name) == (pod.uid, node_name)
            except ApiError as error:
                is_over = self._connection.clock.now() >= end
                if is_over or not (isinstance(error, Unreachable) or error.code >= 500):
                    return False
            await sleep(self._connection.clock, _SETTLE_PAUSE_SECONDS)

    def _bind(self, pod: Pod, node_name: str) -> Awaitable[object]:
        meta = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
        target = {"kind": "Node", "name": node_name}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}
        return self._send("POST", PODS.path_of(pod.key, "binding"), binding)

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

    async def patch_group_condition(self, group: PodGroup, condition: Condition) -> None:
        """Set a condition of a PodGroup."""
        patch = {"status": {"conditions": [group_condition(group, condition, self._clock.now())]}}
        path = POD_GROUPS.path_of(group.key, "status")
        await self._retry(
            lambda: self._send("PATCH", path, patch, STRATEGIC), _may_pass_or_conflicts
        )

    # What only passes on is no coroutine: each one costs time whenever its task goes on, and a
    # thousand bindings under way are a good part of what the garbage collector examines.

    def _retry(
        self, attempt: Callable[[], Awaitable[object]], may_pass: Callable[[ApiError], bool]
    ) -> Awaitable[object]:
        return RETRIES.run(self._connection.clock, attempt, may_pass)

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

    async def patch_status(
        self, resource: Resource[Any], key: str, status: Mapping[str, Any]
    ) -> None:
        """Set these fields of an object's status, or remove them (``None``)."""
        await self._send("PATCH", resource.path_of(key, "status"), {"status": status}, MERGE)

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
        """Create an event of the core API, about the process itself; standbys may do so, too."""
        path, body = f"/api/v1/namespaces/{namespace}/events", msgspec.json.encode(event)
        await self._connection.send(Request("POST", path, body, is_fenced=False))

    async def patch_event(self, namespace: str, name: str, patch: Json) -> None:
        await self._send("PATCH", f"{EVENTS}/{namespace}/events/{name}", patch, STRATEGIC)

    def _send(
        self, method: str, path: str, body: object, content_type: str = "application/json"
    ) -> Awaitable[bytes]:
        request = Request(method, path, msgspec.json.encode(body), content_type)
        return self._connection.send(request)


class SingleTryBindings(ApiClient):
    """A client that sends each binding once, as Kubernetes 1.36 does."""

    def _send_binding(self, pod: Pod, node_name: str) -> Awaitable[object]:
        return self._bind(pod, node_name)


def _events_path(namespace: str) -> str:
    return f"{EVENTS}/{namespace}/events"


class _Kind(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""


_KINDS: Final = msgspec.json.Decoder(_Kind)


def _read(resource: Resource[K], answer: bytes) -> K:
    """Decode an answer; an answer of another kind makes the request fail.

    An object of another kind would be decoded without an error: a Lease without a holder.
    """
    wrong = "the server answered with another object"
    try:
        read = resource.decode(answer, None)
        found = _KINDS.decode(answer)
    except (InvalidObject, *UNREADABLE) as error:
        raise ApiError(f"{wrong}: {error}") from error
    if (found.api_version, found.kind) != (resource.api_version, resource.kind):
        asked = f"{resource.kind} of {resource.api_version}"
        raise ApiError(f"{wrong}: {found.kind} of {found.api_version} instead of {asked}")
    return read


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
    kind = {"apiVersion": LEASES.api_version, "kind": LEASES.kind}
    return {**kind, "metadata": lease.metadata, "spec": spec}


def _candidate_json(candidate: LeaseCandidate) -> Json:
    kind = {"apiVersion": LEASE_CANDIDATES.api_version, "kind": LEASE_CANDIDATES.kind}
    return {**kind, "metadata": candidate.metadata, "spec": candidate.spec}
