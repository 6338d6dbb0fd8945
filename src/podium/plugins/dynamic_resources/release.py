"""Give claims back: undo a reservation, deallocate a claim, delete one that was made up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from podium import framework as fwk
from podium.api.objects import Pod, PodGroup, ResourceClaim
from podium.api.resource_claims import FINALIZER
from podium.clock import sleep
from podium.errors import ApiError, Conflict, NotFound
from podium.plugins.dynamic_resources.binder import RETRY_SECONDS, TRIES
from podium.plugins.dynamic_resources.extended import is_in_memory
from podium.plugins.dynamic_resources.pod_claims import PodClaims

CHECK_SECONDS: Final = 5.0
NOTHING_LEFT: Final = {"reservedFor": None, "allocation": None, "devices": None}
DEALLOCATED: Final = fwk.Status.unschedulable("deallocation of ResourceClaim completed")
DELETED: Final = fwk.Status.unschedulable("deletion of ResourceClaim completed")


class Releases:
    """Gives claims back, in memory at once and in the API in the background."""

    def __init__(self, handle: fwk.Handle) -> None:
        self._handle = handle
        self._devices = handle.devices

    # --- Unreserve -------------------------------------------------------------------------------

    def settle(self, claims: PodClaims, pod: Pod) -> None:
        """Free the devices that the pod has reserved, unless they may have been written."""
        for index in claims.reserved:
            claim = claims.claims[index]
            if index in claims.in_doubt:
                self._handle.spawn(f"write of claim {claim.key}", self._check_write(claim, pod))
            else:
                self._devices.settle(claim.uid, pod.uid)

    def written(self, claims: PodClaims, pod: Pod) -> list[ResourceClaim]:
        """Return the claims that are reserved for the pod in the API, and those made for it."""
        return [*_reserved_for(claims, pod), *_made_for(claims)]

    async def undo(self, claims: PodClaims, pod: Pod) -> None:
        """Undo in the API what ``written`` returns. What fails is done by a later attempt."""
        for claim in _reserved_for(claims, pod):
            try:
                left = await self._handle.client.remove_consumer(claim, pod.uid)
            except ApiError as fault:
                self._handle.log.warning(
                    "cannot remove the reservation of a pod from a claim; its next attempt uses it",
                    pod=pod.key,
                    claim=claim.key,
                    err=str(fault),
                )
            else:
                self._handle.cluster.learn(left)
        for claim in _made_for(claims):
            await self.delete(claim)

    async def _check_write(self, claim: ResourceClaim, pod: Pod) -> None:
        """Ask what became of a write that got no answer; until then its devices stay taken."""
        while True:
            try:
                current = await self._handle.client.read(ResourceClaim, claim.key)
            except NotFound:
                break
            except ApiError:
                await sleep(self._handle.clock, CHECK_SECONDS)
            else:
                if current.uid == claim.uid:
                    self._handle.cluster.learn(current)
                break
        self._devices.settle(claim.uid, pod.uid)
        self._handle.activate([pod])  # it was refused meanwhile, as its claim was in flight

    # --- PostFilter ------------------------------------------------------------------------------

    def give_back(self, claims: PodClaims, pod: Pod) -> fwk.Status | None:
        """Start to deallocate or delete one claim; ``None`` if that cannot help."""
        for claim in claims.deallocatable:
            if all(consumer.uid == pod.uid for consumer in claim.status.reserved_for):
                work = self.deallocate(claim)
                self._handle.spawn(f"deallocation of claim {claim.key}", work)
                return DEALLOCATED
        for made in _made_for(claims):
            self._handle.spawn(f"deletion of claim {made.key}", self.delete(made))
            return DELETED
        return None

    async def deallocate(self, claim: ResourceClaim) -> None:
        """Free the devices of an allocated claim."""
        try:
            left = await self._handle.client.patch_claim_status(claim, NOTHING_LEFT)
        except ApiError as fault:
            self._handle.log.warning(
                "cannot deallocate a claim; the pod is tried again when the claim changes",
                claim=claim.key,
                err=str(fault),
            )
        else:
            self._handle.cluster.learn(left)

    async def remove_group(self, claim: ResourceClaim, group: PodGroup) -> None:
        """Let a claim be no longer reserved for a group."""
        try:
            left = await self._handle.client.remove_consumer(claim, group.uid)
        except ApiError as fault:
            self._handle.log.warning(
                "cannot remove the reservation of a pod group from a claim; its next attempt does",
                podGroup=group.key,
                claim=claim.key,
                err=str(fault),
            )
        else:
            self._handle.cluster.learn(left)

    async def delete(self, claim: ResourceClaim) -> None:
        """Delete a claim that was made for extended resources; its finalizer goes first."""
        try:
            await self._without_finalizer(claim)
            await self._handle.client.delete_claim(claim)
        except NotFound:
            return
        except ApiError as fault:
            self._handle.log.warning(
                "cannot delete a claim for extended resources; a later attempt of the pod does",
                claim=claim.key,
                err=str(fault),
            )

    async def _without_finalizer(self, claim: ResourceClaim) -> None:
        for left in reversed(range(TRIES)):
            finalizers = [each for each in claim.metadata.finalizers if each != FINALIZER]
            try:
                await self._handle.client.set_finalizers(claim, finalizers)
            except Conflict:
                if not left:
                    raise
            else:
                return
            await sleep(self._handle.clock, RETRY_SECONDS)
            claim = await self._handle.client.read(ResourceClaim, claim.key)


def _reserved_for(claims: PodClaims, pod: Pod) -> Iterator[ResourceClaim]:
    for claim in claims.named:
        if claim.status.allocation is not None and claim.is_reserved_for(pod.uid):
            yield claim


def _made_for(claims: PodClaims) -> Iterator[ResourceClaim]:
    if claims.extended is not None and not is_in_memory(claims.extended):
        yield claims.extended
