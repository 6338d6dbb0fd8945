"""Kubernetes events, events.k8s.io/v1: recorded at once, written in the background.

Repeats of an event are counted in a series: the second occurrence is written at once, later ones
now and then. One `EventSender` serves a process; each profile records through its own
`ApiEventRecorder`, under its own name.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Sequence
from typing import Final

import msgspec

from podium.api.objects import Pod
from podium.api.times import micro_time_text
from podium.client.api_client import ApiClient
from podium.client.event_series import (
    IDLE_SECONDS,
    MOST_REMEMBERED,
    Event,
    EventMeta,
    EventSeries,
    Occurrence,
    Regarding,
)
from podium.client.pacing import TokenBucket
from podium.clock import Clock, Deadline, sleep
from podium.errors import ApiError, Conflict, Forbidden, NotFound, Unreachable
from podium.framework.handle import EventNote
from podium.logs import get_logger

MOST_WAITING: Final = MOST_REMEMBERED  # they are remembered anyway
WRITERS: Final = 4
# New events share a connection and a write to its socket: one by one they cost more than twice.
TOGETHER: Final = 8
# So many writes a second are made of fewer events than that, after a first burst: events that come
# faster wait for one another, up to 33 ms.
SMALL_WRITES: Final = 30.0
SMALL_BURST: Final = 10
TRIES: Final = 12
RETRY_SECONDS: Final = 10.0
REFRESH_SECONDS: Final = 1800.0
NOTE_BYTES: Final = 1024
_CUT: Final = " ..."
_FINAL: Final = (400, 403, 404, 422)  # the event would be refused again

log = get_logger(__name__)


class EventSender:
    """A bounded queue of events, and writers that empty it while ``run`` runs."""

    def __init__(self, client: ApiClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._series = EventSeries(clock)
        self._waiting: asyncio.Queue[Occurrence] = asyncio.Queue(MOST_WAITING)
        self._pace = TokenBucket(SMALL_WRITES, SMALL_BURST, clock)
        self._unwritten = 0  # waiting, or being written
        self._nanoseconds = 0
        self._is_forbidden = False
        self.dropped = 0

    def stamp(self) -> tuple[str, str]:
        """Return the time of a new event, and a unique hexadecimal number for its name."""
        now = self._clock.now()
        self._nanoseconds = max(self._nanoseconds + 1, int(now * 1e9))
        return micro_time_text(now), f"{self._nanoseconds:x}"

    def send(self, key: tuple[str, ...], namespace: str, event: Event) -> None:
        """Queue the event without waiting: while the API is too slow, events are dropped."""
        if occurrence := self._series.see(key, namespace, event):
            self._enqueue(occurrence)

    def _enqueue(self, occurrence: Occurrence) -> None:
        if occurrence.is_waiting:
            return  # its writer sees the new count
        try:
            self._waiting.put_nowait(occurrence)
            occurrence.is_waiting = True
            self._unwritten += 1
        except asyncio.QueueFull:
            if not self.dropped:
                log.warning(f"dropping events: {MOST_WAITING} wait to be written already")
            self.dropped += 1

    async def run(self) -> None:
        """Write events until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(self._write_all())
            group.create_task(self._keep_series())

    async def flush(self, seconds: float) -> None:
        """Wait until all events are written, but no longer than this."""
        try:
            async with Deadline(self._clock, seconds):
                await self._waiting.join()
        except TimeoutError:
            log.warning(f"{self._unwritten} events were not written before the end")

    async def _write_all(self) -> None:
        while True:
            if self._waiting.qsize() < TOGETHER:
                await self._pace.wait()
            batch = [await self._waiting.get()]
            while len(batch) < TOGETHER and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            try:
                await self._deliver_all(batch)
            finally:
                for occurrence in batch:
                    self._done(occurrence)

    async def _deliver_all(self, batch: Sequence[Occurrence]) -> None:
        """Create new events together; write the others, and those that fail for now, one by one."""
        new = [one for one in batch if not one.written and one.count == 1]
        left = [one for one in batch if one not in new]
        try:
            left += await self._create_together(new) if len(new) > 1 else new
        except Exception:  # a task boundary, as below
            log.error("writing events failed", names=[one.name for one in new])
        for occurrence in left:
            try:
                await self._deliver(occurrence)
            except Exception:  # a task boundary: one event must not end the writer
                log.error("writing an event failed", name=occurrence.name)

    async def _create_together(self, new: Sequence[Occurrence]) -> list[Occurrence]:
        """Create events and return those that may succeed when they are sent again."""
        left = []
        errors = await self._client.create_events([(one.namespace, one.event) for one in new])
        for occurrence, error in zip(new, errors, strict=True):
            if error is None:
                occurrence.written = 1
            elif error.code in _FINAL:
                self._on_refusal(occurrence, error)
            else:
                left.append(occurrence)
        return left

    def _done(self, occurrence: Occurrence) -> None:
        occurrence.is_waiting = False
        self._unwritten -= 1
        # Repeated while it was being written. A refusal is no reason to write it again.
        if occurrence.written == 1 and occurrence.count > max(1, occurrence.tried):
            self._enqueue(occurrence)
        self._waiting.task_done()

    async def _deliver(self, occurrence: Occurrence) -> None:
        """Write the event. A connection that fails is tried again; a refusal is final."""
        seconds = RETRY_SECONDS * random.random()  # the first time, so that not all retry at once
        for left in reversed(range(TRIES)):
            try:
                await self._write(occurrence)
            except Unreachable as error:
                if not left:
                    log.warning(
                        f"dropped an event after {TRIES} failed attempts",
                        name=occurrence.name,
                        why=str(error),
                    )
                    return
                await sleep(self._clock, seconds)
                seconds = RETRY_SECONDS
            except ApiError as refusal:
                self._on_refusal(occurrence, refusal)
                return
            else:
                return

    def _on_refusal(self, occurrence: Occurrence, refusal: ApiError) -> None:
        """Log a missing right once: it will be missing for the next event as well."""
        if isinstance(refusal, Forbidden) and not self._is_forbidden:
            self._is_forbidden = True
            reason = "forbidden (grant create and patch on events)"
            what = f"cannot write events: {reason}; continuing without events"
            log.warning(what, server=str(refusal))
        else:
            log.debug("event refused", name=occurrence.name, why=str(refusal))

    async def _write(self, occurrence: Occurrence) -> None:
        count = occurrence.tried = occurrence.count
        if not occurrence.written:
            await self._create(occurrence)
        elif count > occurrence.written:
            await self._count(occurrence)
        occurrence.written = max(occurrence.written, count)

    async def _create(self, occurrence: Occurrence) -> None:
        event = occurrence.event
        if occurrence.count > 1:
            event = msgspec.structs.replace(event, series=occurrence.series)
        try:
            await self._client.create_event(occurrence.namespace, event)
        except Conflict:  # an earlier attempt succeeded and its answer was lost
            log.debug("event is there already", name=occurrence.name)

    async def _count(self, occurrence: Occurrence) -> None:
        patch = {"series": occurrence.series}
        try:
            await self._client.patch_event(occurrence.namespace, occurrence.name, patch)
        except NotFound:  # the API server deletes events after a while
            await self._create(occurrence)

    async def _keep_series(self) -> None:
        refreshed_at = self._clock.now()
        while True:
            await sleep(self._clock, IDLE_SECONDS)
            for occurrence in self._series.end_idle():
                self._enqueue(occurrence)
            if self._clock.now() - refreshed_at >= REFRESH_SECONDS:
                refreshed_at = self._clock.now()
                for occurrence in self._series.counted():
                    self._enqueue(occurrence)


class ApiEventRecorder:
    """Implements ``framework.handle.EventRecorder`` for one profile."""

    def __init__(self, sender: EventSender, profile_name: str, host: str = "") -> None:
        self._sender = sender
        self._controller = profile_name
        self._instance = f"{profile_name}-{host or socket.gethostname()}"

    def record(self, regarding: Pod, related: Pod | None, event: EventNote) -> None:
        """Record an event as kube-scheduler v1.36 writes it: ``related`` stays empty there."""
        meta = regarding.metadata
        self.record_about(
            Regarding(meta.name, meta.namespace, meta.resource_version, meta.uid), event
        )

    def record_about(self, about: Regarding, event: EventNote) -> None:
        """Record an event about an object of any kind."""
        kind = (event.type, event.action, event.reason, self._instance)
        key = (*kind, about.namespace, about.name, about.resource_version, about.uid)
        self._sender.send(key, about.namespace or "default", self._event(about, event))

    def _event(self, about: Regarding, note: EventNote) -> Event:
        time, number = self._sender.stamp()
        return Event(
            metadata=EventMeta(f"{about.name}.{number}", about.namespace or "default"),
            event_time=time,
            reporting_controller=self._controller,
            reporting_instance=self._instance,
            action=note.action,
            reason=note.reason,
            regarding=about,
            note=cut(note.note),
            type=note.type,
        )


def cut(note: str) -> str:
    """Shorten a note to the 1024 bytes that the API accepts."""
    data = note.encode()
    if len(data) <= NOTE_BYTES:
        return note
    return data[: NOTE_BYTES - len(_CUT)].decode(errors="ignore") + _CUT
