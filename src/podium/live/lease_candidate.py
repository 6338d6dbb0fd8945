"""The candidate of a coordinated election: an object that tells the API server of this process.

The server chooses the leader among such objects, and pings them first: a candidate answers by
renewing its object.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final, Protocol

import msgspec

from podium.api.meta import ObjectMeta
from podium.api.objects import LeaseCandidate, LeaseCandidateSpec
from podium.api.times import micro_time_text, parse_time
from podium.client.http import Connection
from podium.client.informer import Informer
from podium.client.pacing import Backoff
from podium.client.resources import LEASE_CANDIDATES
from podium.clock import Clock, Deadline
from podium.errors import InvalidTime, PodiumError
from podium.logs import get_logger
from podium.release import LATEST, Release

log = get_logger(__name__)

# kube-scheduler's own, whatever lease the configuration names.
NAMESPACE: Final = "kube-system"
LEASE_NAME: Final = "kube-scheduler"
STRATEGY: Final = "OldestEmulationVersion"
RENEW_SECONDS: Final = 300.0


class CandidateClient(Protocol):
    async def create_candidate(self, candidate: LeaseCandidate) -> None: ...

    async def update_candidate(self, candidate: LeaseCandidate) -> None: ...


class LeaseCandidacy:
    """Keeps the candidate of this process: creates it, and renews it when it is pinged."""

    def __init__(
        self,
        identity: str,
        release: Release,
        client: CandidateClient,
        informer: Informer[LeaseCandidate],
        clock: Clock,
    ) -> None:
        """``informer`` watches the candidate with this identity, as ``watch_candidate`` does."""
        self._identity = identity
        self._release = release
        self._client = client
        self._informer = informer
        self._clock = clock
        informer.subscribe(self._on_change)
        self._is_pinged = asyncio.Event()
        self._backoff = Backoff()

    async def run(self) -> None:
        """Keep the candidate until cancelled."""
        watching = asyncio.ensure_future(self._informer.run())
        try:
            await self._informer.wait_synced()
            while True:
                await self._wait_for_ping(await self._ensure())
        finally:
            watching.cancel()

    async def _ensure(self) -> float:
        """Create or renew the candidate; return how many seconds to wait for a ping."""
        self._is_pinged.clear()
        known = self._informer.get(f"{NAMESPACE}/{self._identity}")
        try:
            if known is None:
                log.v(2, "Creating lease candidate")
                await self._client.create_candidate(self._new())
            else:
                log.v(2, "Lease candidate exists. Renewing.")
                await self._client.update_candidate(self._renewed(known))
        except PodiumError as error:
            log.warning("Ensuring lease failed", candidate=self._identity, err=str(error))
            return self._backoff.next()
        self._backoff.reset()
        return RENEW_SECONDS

    async def _wait_for_ping(self, seconds: float) -> None:
        try:
            async with Deadline(self._clock, seconds):
                await self._is_pinged.wait()
        except TimeoutError:
            pass

    def _on_change(self, old: LeaseCandidate | None, new: LeaseCandidate | None) -> None:
        if old is not None and new is not None and _awaits_answer(new.spec):
            self._is_pinged.set()

    def _new(self) -> LeaseCandidate:
        spec = LeaseCandidateSpec(
            lease_name=LEASE_NAME,
            renew_time=self._now(),
            binary_version=f"{LATEST}.0",
            emulation_version=f"{self._release}.0",
            strategy=STRATEGY,
        )
        return LeaseCandidate(ObjectMeta(namespace=NAMESPACE, name=self._identity), spec)

    def _renewed(self, known: LeaseCandidate) -> LeaseCandidate:
        spec = msgspec.structs.replace(known.spec, renew_time=self._now())
        return msgspec.structs.replace(known, spec=spec)

    def _now(self) -> str:
        return micro_time_text(self._clock.now())


def watch_candidate(connection: Connection, identity: str) -> Informer[LeaseCandidate]:
    only = replace(
        LEASE_CANDIDATES, namespace=NAMESPACE, field_selector=f"metadata.name={identity}"
    )
    return Informer(connection, only)


def _awaits_answer(spec: LeaseCandidateSpec) -> bool:
    """Return whether the candidate was pinged after it was last renewed."""
    try:
        return bool(spec.ping_time) and parse_time(spec.ping_time) > parse_time(spec.renew_time)
    except InvalidTime:
        return True
