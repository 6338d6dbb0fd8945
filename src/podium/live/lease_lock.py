"""Reads and writes the Lease of an election: `Record`s to objects of the API and back."""

from __future__ import annotations

from typing import Any, Final, Protocol

import msgspec

from podium.api.meta import ObjectMeta
from podium.api.objects import Lease, LeaseSpec
from podium.api.times import micro_time_text, parse_time, time_text
from podium.clock import Clock
from podium.errors import ApiError, InvalidTime
from podium.framework.handle import EventNote
from podium.live.election import Record

API_VERSION: Final = "coordination.k8s.io/v1"


class LeaseClient(Protocol):
    """The requests of an election; they raise `ApiError`, such as `NotFound`."""

    async def get_lease(self, key: str) -> Lease: ...

    async def create_lease(self, lease: Lease) -> Lease: ...

    async def update_lease(self, lease: Lease) -> Lease: ...

    async def create_core_event(self, namespace: str, event: dict[str, Any]) -> None: ...


class LeaseLock:
    """One Lease; a write replaces only the version that was last read or written."""

    def __init__(self, client: LeaseClient, namespace: str, name: str) -> None:
        self._client = client
        self._lease = Lease(metadata=ObjectMeta(namespace=namespace, name=name))

    async def get(self) -> Record:
        """Read the Lease; raise ``ApiError`` if a field of it makes no sense.

        Such a lease must not count as free: it may be held.
        """
        lease = await self._client.get_lease(self._lease.key)
        try:
            found = record_of(lease.spec)
        except InvalidTime as error:
            raise ApiError(f"Lease {self._lease.key}: {error}") from error
        if found.duration_seconds < 0:
            why = f"leaseDurationSeconds must not be negative, but is {found.duration_seconds}"
            raise ApiError(f"Lease {self._lease.key}: {why}")
        self._lease = lease
        return found

    async def create(self, record: Record) -> None:
        metadata = ObjectMeta(namespace=self._lease.namespace, name=self._lease.name)
        self._lease = await self._client.create_lease(Lease(metadata, spec_of(record)))

    async def update(self, record: Record) -> None:
        lease = msgspec.structs.replace(self._lease, spec=spec_of(record))
        self._lease = await self._client.update_lease(lease)

    async def record_event(self, note: EventNote, component: str, clock: Clock) -> None:
        """Write a core event about the Lease, as client-go does."""
        now, namespace = clock.now(), self._lease.namespace
        name = f"{self._lease.name}.{round(now * 1e6) * 1000:x}"  # in nanoseconds
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": self._reference(),
            "type": note.type,
            "reason": note.reason,
            "message": note.note,
            "source": {"component": component},
            "reportingComponent": component,
            "reportingInstance": "",
            "firstTimestamp": time_text(now),
            "lastTimestamp": time_text(now),
            "count": 1,
        }
        await self._client.create_core_event(namespace, event)

    def _reference(self) -> dict[str, str]:
        return {
            "apiVersion": API_VERSION,
            "kind": "Lease",
            "namespace": self._lease.namespace,
            "name": self._lease.name,
            "uid": self._lease.uid,
            "resourceVersion": self._lease.metadata.resource_version,
        }


def record_of(spec: LeaseSpec) -> Record:
    return Record(
        holder=spec.holder_identity,
        duration_seconds=spec.lease_duration_seconds,
        acquire_time=_moment(spec.acquire_time),
        renew_time=_moment(spec.renew_time),
        transitions=spec.lease_transitions,
        strategy=spec.strategy,
        preferred_holder=spec.preferred_holder,
    )


def spec_of(record: Record) -> LeaseSpec:
    return LeaseSpec(
        holder_identity=record.holder,
        lease_duration_seconds=record.duration_seconds,
        acquire_time=_text(record.acquire_time),
        renew_time=_text(record.renew_time),
        lease_transitions=record.transitions,
        strategy=record.strategy,
        preferred_holder=record.preferred_holder,
    )


def _moment(text: str) -> float | None:
    # Rounded to microseconds, so that what was read is written back unchanged.
    return parse_time(text) // 1000 / 1e6 if text else None


def _text(moment: float | None) -> str:
    return "" if moment is None else micro_time_text(moment)
