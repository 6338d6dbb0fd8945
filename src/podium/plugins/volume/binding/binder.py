"""PreBind: write what Reserve has assumed, and wait until the claims are bound."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, TypeVar

from podium import framework as fwk
from podium.api.meta import ApiObject
from podium.api.objects import PersistentVolume, PersistentVolumeClaim, Pod
from podium.clock import sleep
from podium.errors import ApiError, NotFound
from podium.plugins.volume.binding.pod_claims import SELECTED_NODE
from podium.plugins.volume.binding.progress import progress
from podium.plugins.volume.binding.reservation import (
    BOUND_BY_CONTROLLER,
    Change,
    Reservation,
    is_reserved_for,
    reference,
)

POLL_SECONDS: Final = 1.0
CHECK_SECONDS: Final = 5.0

T = TypeVar("T", bound=ApiObject)


class Binder:
    """Writes reservations to the API. Writes are never undone; a later attempt builds on them."""

    def __init__(self, handle: fwk.Handle, timeout_seconds: float) -> None:
        self._handle = handle
        self._timeout_seconds = timeout_seconds

    async def bind(self, reservation: Reservation, pod: Pod) -> fwk.Status:
        try:
            for volume in reservation.volumes:
                await self._write_volume(volume)
            for claim in reservation.claims:
                await self._write_claim(claim, reservation.node_name)
        except ApiError as fault:
            return fwk.Status.error(fault)
        status = await self._wait(reservation, pod)
        return status if status.ok else fwk.Status.error(f"binding volumes: {status.message}")

    async def _wait(self, reservation: Reservation, pod: Pod) -> fwk.Status:
        left = self._timeout_seconds
        while left >= POLL_SECONDS:
            await sleep(self._handle.clock, POLL_SECONDS)
            left -= POLL_SECONDS
            status = progress(self._handle.cluster, reservation, pod)
            if status is not None:
                return status
        await sleep(self._handle.clock, left)
        return fwk.Status.error("context deadline exceeded")

    async def _write_volume(self, change: Change[PersistentVolume]) -> None:
        known = self._handle.cluster.volumes.get(change.wanted.name)
        if known is not None and is_reserved_for(known, change.claim):
            change.written = (
                known  # written by an earlier attempt, or for another pod with this claim
            )
            return
        annotations = change.wanted.annotations
        marks = {key: annotations[key] for key in (BOUND_BY_CONTROLLER,) if key in annotations}
        client, claim = self._handle.client, reference(change.claim)
        await _send(change, client.bind_volume(change.wanted, claim, marks))

    async def _write_claim(self, change: Change[PersistentVolumeClaim], node_name: str) -> None:
        known = self._handle.cluster.objects(PersistentVolumeClaim).get(change.wanted.key)
        if known is not None and known.annotations.get(SELECTED_NODE) == node_name:
            change.written = known
            return
        client, marks = self._handle.client, {SELECTED_NODE: node_name}
        await _send(change, client.annotate_claim(change.wanted, marks))

    # --- writes without a response ---------------------------------------------------------------

    def resolve(self, reservation: Reservation) -> None:
        """Check in the background which uncertain writes happened, and restore the others."""
        for volume in reservation.volumes:
            self._resolve(volume)
        for claim in reservation.claims:
            self._resolve(claim)

    def _resolve(self, change: Change[T]) -> None:
        if change.is_assumed and change.is_in_doubt:
            kind, key = type(change.wanted).__name__, change.wanted.key
            self._handle.spawn(f"write of {kind} {key}", self._check_write(change))

    async def _check_write(self, change: Change[T]) -> None:
        """Read the object until the server responds, or until the watch ends the assumption."""
        wanted = change.wanted
        assumed = self._handle.cluster.assumed(type(wanted))
        while assumed.holds(wanted):
            try:
                current = await self._handle.client.read(type(wanted), wanted.key)
            except NotFound:
                assumed.restore(wanted)
            except ApiError:
                await sleep(self._handle.clock, CHECK_SECONDS)
            else:
                if current.metadata.resource_version == wanted.metadata.resource_version:
                    assumed.restore(wanted)
                return


async def _send(change: Change[T], request: Awaitable[T]) -> None:
    """Await a write. Without a clear response it is in doubt: it may have been carried out."""
    change.is_in_doubt = True
    try:
        change.written = await request
    except ApiError as fault:
        change.is_in_doubt = not fault.is_refusal
        raise
    change.is_in_doubt = False
