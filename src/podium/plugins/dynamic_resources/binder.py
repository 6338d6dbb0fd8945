"""PreBind: write the allocations and reservations of a pod's claims."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar
from weakref import WeakValueDictionary

import msgspec

from podium import framework as fwk
from podium.api.objects import (
    AllocationResult,
    Pod,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from podium.api.resource_claims import FINALIZER, consumer
from podium.api.times import time_text
from podium.clock import sleep
from podium.errors import ApiError, Conflict
from podium.plugins.dynamic_resources import extended
from podium.plugins.dynamic_resources.pod_claims import PodClaims

TRIES: Final = 5
RETRY_SECONDS: Final = 0.01
# How long to wait until the watch shows a new claim, and how often to look.
SHOWN_SECONDS: Final = 120.0
LOOK_SECONDS: Final = 0.05

T = TypeVar("T")


class ClaimNotWritten(Exception):
    """A claim that could not be written, or must not be. The text is upstream's."""

    def __init__(self, text: str, fault: ApiError | None = None) -> None:
        super().__init__(text if fault is None else f"{text}: {fault}")
        self.is_conflict = isinstance(fault, Conflict)


class Binder:
    """Writes claims. What a write returns is stored at once, before the watch shows it.

    Pods that share a claim write it in turns, each to the version that the last one has written:
    otherwise all but one would get a conflict, read the claim and try again.
    """

    def __init__(self, handle: fwk.Handle) -> None:
        self._handle = handle
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by uid
        self._devices = handle.devices
        self._has_conditions = handle.devices.rules.binding_conditions

    async def bind(self, claims: PodClaims, pod: Pod, node_name: str) -> None:
        """Write what the pod has reserved; raise ``ClaimNotWritten`` when that fails."""
        for index, claim in enumerate(claims.claims):
            if self._is_reserved(claim, pod):
                continue
            if claim is claims.extended:
                await self._bind_extended(claims, index, pod, node_name)
            else:
                self._settle(await self._bind(claims, index, pod), pod)

    def _is_reserved(self, claim: ResourceClaim, pod: Pod) -> bool:
        return claim.is_reserved_for(pod.uid)

    async def _bind_extended(self, claims: PodClaims, index: int, pod: Pod, node_name: str) -> None:
        """Create the claim for extended resources, write it, and name it in the pod's status."""
        if index not in claims.reserved and not claims.claims[index].spec.devices.requests:
            return  # a device plugin serves the pod
        needs = claims.needs
        if extended.is_in_memory(claims.claims[index]):
            if needs is None:
                text = f"extended resource claim not found for node {node_name}"
                raise ClaimNotWritten(text)
            await self._create(claims, index, needs, pod)
        claim = await self._bind(claims, index, pod)
        await self._shown(claim, pod)
        if needs is None or not needs.mappings:
            what = "ExtendedResourceClaimStatus"
            text = f"nil or empty request mappings, no update of pod {pod.key} {what}"
            raise ClaimNotWritten(text)
        status = PodExtendedResourceClaimStatus(needs.mappings, claim.name)
        writing = self._handle.client.set_extended_claim(pod, status)
        await _sent(writing, f"update pod {pod.key} ExtendedResourceClaimStatus")

    async def _create(self, claims: PodClaims, index: int, needs: extended.Needs, pod: Pod) -> None:
        in_memory = claims.claims[index]
        metadata = msgspec.structs.replace(in_memory.metadata, name="", uid="")
        wanted = extended.with_requests(in_memory, needs)
        creating = self._handle.client.create_claim(
            msgspec.structs.replace(wanted, metadata=metadata)
        )
        what = f"create claim for extended resources {in_memory.namespace}/"
        try:
            created = await _sent(creating, what)
        except ClaimNotWritten:
            self._handle.metrics.claim_created("failure")
            raise
        self._handle.metrics.claim_created("success")
        claims.claims[index] = created
        self._devices.reserve(created, claims.reserved[index], pod.uid)
        self._devices.settle(in_memory.uid, pod.uid)

    async def _bind(self, claims: PodClaims, index: int, pod: Pod) -> ResourceClaim:
        """Write the allocation, if there is one, and the reservation; on a conflict try again."""
        uid = claims.claims[index].uid
        turn = self._turns.get(uid)
        if turn is None:
            turn = self._turns[uid] = asyncio.Lock()
        async with turn:
            return await self._bind_in_turn(claims, index, pod)

    async def _bind_in_turn(self, claims: PodClaims, index: int, pod: Pod) -> ResourceClaim:
        claim = self._newest(claims.claims[index])
        for left in reversed(range(TRIES)):
            try:
                written = await self._write(claims, index, claim, pod)
                break
            except ClaimNotWritten as fault:
                if not left or not fault.is_conflict:
                    raise
            await sleep(self._handle.clock, RETRY_SECONDS)
            reading = self._handle.client.read(ResourceClaim, claim.key)
            current = await _sent(reading, f"get updated claim {claim.key} after conflict")
            if current.uid != claim.uid:  # another claim has its name now
                raise ClaimNotWritten(f"claim {claim.key} got deleted in the meantime")
            claim = current
        claims.claims[index] = written
        return written

    def _newest(self, claim: ResourceClaim) -> ResourceClaim:
        """Return the claim as the cluster has it now, unless another one has its name."""
        known = self._handle.cluster.objects(ResourceClaim).get(claim.key)
        return claim if known is None or known.uid != claim.uid else known

    def _settle(self, written: ResourceClaim, pod: Pod) -> None:
        """Store a claim with its allocation, which is not in flight for the pod any more."""
        self._handle.cluster.learn(written)
        self._devices.settle(written.uid, pod.uid)

    async def _shown(self, written: ResourceClaim, pod: Pod) -> None:
        """Wait until the watch has shown a new claim. Until then its allocation is in flight."""
        clock = self._handle.clock
        end = clock.now() + SHOWN_SECONDS
        while not self._handle.cluster.learn(written) and clock.now() < end:
            await sleep(clock, LOOK_SECONDS)
        self._devices.settle(written.uid, pod.uid)

    async def _write(
        self, claims: PodClaims, index: int, claim: ResourceClaim, pod: Pod
    ) -> ResourceClaim:
        if claim.is_terminating:
            raise ClaimNotWritten(f"claim {claim.key} got deleted in the meantime")
        allocation = self._to_write(claims.reserved.get(index), claim)
        for_group = claims.for_group if index in claims.of_group else None
        user = for_group or consumer(pod)
        if allocation is None:
            writing = self._handle.client.patch_claim_status(claim, self._status(claim, None, user))
            return await _sent(writing, f"add reservation to claim {claim.key}")
        if FINALIZER not in claim.metadata.finalizers:
            finalizers = (*claim.metadata.finalizers, FINALIZER)
            adding = self._handle.client.set_finalizers(claim, finalizers)
            claim = await _sent(adding, f"add finalizer to claim {claim.key}")
        status = self._status(claim, allocation, user)
        claims.in_doubt.add(index)  # until there is a clear answer, it may have been written
        try:
            written = await self._handle.client.patch_claim_status(claim, status)
        except ApiError as fault:
            if fault.is_refusal:
                claims.in_doubt.discard(index)
            text = f"add allocation and reservation to claim {claim.key}"
            raise ClaimNotWritten(text, fault) from fault
        claims.in_doubt.discard(index)
        return written

    def _to_write(
        self, reserved: AllocationResult | None, claim: ResourceClaim
    ) -> AllocationResult | None:
        """Return the allocation that must be written; the claim must not have one then."""
        if reserved is not None and claim.status.allocation is not None:
            raise ClaimNotWritten(f"claim {claim.key} got allocated elsewhere in the meantime")
        return reserved

    def _status(
        self,
        claim: ResourceClaim,
        allocation: AllocationResult | None,
        user: ResourceClaimConsumerReference,
    ) -> dict[str, object]:
        """Return the fields of the claim's status that change."""
        reserved_for = [*claim.status.reserved_for, user]
        status: dict[str, object] = {"reservedFor": reserved_for}
        wanted = allocation or claim.status.allocation
        if self._has_conditions:
            if wanted is None:
                text = f"claim {claim.key} got deallocated elsewhere in the meantime"
                raise ClaimNotWritten(text)
            if not wanted.allocation_timestamp:
                now = time_text(self._handle.clock.now())
                wanted = msgspec.structs.replace(wanted, allocation_timestamp=now)
        if wanted is not claim.status.allocation:
            status["allocation"] = wanted
        return status


class GroupBinder(Binder):
    """Writes claims that members of a pod group share: the first one writes the allocation.

    In kube-scheduler the others fail once, if they are written at the same time.
    """

    def _to_write(
        self, reserved: AllocationResult | None, claim: ResourceClaim
    ) -> AllocationResult | None:
        written = claim.status.allocation
        if reserved is not None and written is not None:
            stamp = reserved.allocation_timestamp
            if msgspec.structs.replace(written, allocation_timestamp=stamp) == reserved:
                return None
        return super()._to_write(reserved, claim)


class WorkloadBinder(GroupBinder):
    """Writes claims of whole groups: the first member reserves one for all of them."""

    def _is_reserved(self, claim: ResourceClaim, pod: Pod) -> bool:
        name = pod.group_key.rpartition("/")[2]
        for_group = bool(name) and claim.is_reserved_for_group(name)
        return for_group or super()._is_reserved(claim, pod)

    async def _bind_in_turn(self, claims: PodClaims, index: int, pod: Pod) -> ResourceClaim:
        claim = self._newest(claims.claims[index])
        must_write = self._to_write(claims.reserved.get(index), claim) is not None
        if must_write or not self._is_reserved(claim, pod):
            return await super()._bind_in_turn(claims, index, pod)
        claims.claims[index] = claim  # another member has written it meanwhile
        return claim


async def _sent(request: Awaitable[T], what: str) -> T:
    """Await a request; say what it was for if it fails."""
    try:
        return await request
    except ApiError as fault:
        raise ClaimNotWritten(what, fault) from fault
