"""Claims of pods in a run without an API server: written when a pod is placed, freed with it."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

import msgspec

from podium.api.objects import Pod, ResourceClaim, ResourceClaimStatus
from podium.api.resource_claims import claim_keys
from podium.cycle.services import Services
from podium.errors import WorkloadFailed
from podium.framework.binding import Target, run_pre_flight
from podium.framework.offline import OfflineClient
from podium.framework.status import Status, as_status
from podium.state.cluster import ClusterState


class BenchClient(OfflineClient):
    """Remembers which pods preemption deletes; a claim that a plugin creates is there at once."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster: ClusterState | None = None

    def take_evicted(self) -> list[Pod]:
        """Return the pods deleted since the last call."""
        taken, self.deleted = self.deleted, []
        return taken

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        created = await super().create_claim(claim)
        assert self.cluster is not None
        self.cluster.set_object(created)
        return created


class BoundClaims:
    """Does for claims what binding cycles and the claim controller do in a cluster."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._cluster = services.cluster

    def bind(self, target: Target) -> None:
        """Write the claims of a placed pod, if there is anything to write."""
        if not (target.pod.spec.resource_claims or self._services.devices.in_flight):
            return
        flight, _ = run_pre_flight(target)
        status = flight
        for plugin in target.profile.pre_binds if flight.ok else ():
            if plugin.name not in target.state.skip_pre_bind:
                work = plugin.pre_bind(target.state, target.pod, target.node_name)
                status = as_status(_run_to_end(work))
            if not status.ok:
                break
        if not (status.ok or status.is_skip):
            raise WorkloadFailed(f"{target.pod.key} cannot be bound: {status.message}")

    def release(self, pod: Pod) -> None:
        """Free the claims of a pod that is deleted; those that were made for it go with it."""
        for claim in list(self._claims_of(pod)):
            if claim.is_made_for(pod.uid):
                self._cluster.remove_object(ResourceClaim, claim.key)
            elif claim.is_reserved_for(pod.uid):
                self._cluster.set_object(_without(claim, pod.uid))

    def _claims_of(self, pod: Pod) -> Iterator[ResourceClaim]:
        known = self._cluster.objects(ResourceClaim)
        for key in claim_keys(pod):
            claim = known.get(key)
            if claim is not None:
                yield claim
        extended = self._services.devices.extended_claim_of(pod)
        if extended is not None:
            yield extended


def _without(claim: ResourceClaim, uid: str) -> ResourceClaim:
    """Return a claim without one of its users; its devices are free after the last one."""
    left = tuple(each for each in claim.status.reserved_for if each.uid != uid)
    status = (
        msgspec.structs.replace(claim.status, reserved_for=left) if left else ResourceClaimStatus()
    )
    return msgspec.structs.replace(claim, status=status)


def _run_to_end(work: Coroutine[Any, Any, Status | None]) -> Status | None:
    """Return the result of a coroutine that has nothing to wait for."""
    try:
        work.send(None)
    except StopIteration as done:
        found: Status | None = done.value
        return found
    work.close()
    raise WorkloadFailed("a plugin waits for something that does not happen in a benchmark")
