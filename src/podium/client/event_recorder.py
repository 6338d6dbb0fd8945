"""Kubernetes events, events.k8s.io/v1: recorded at once, written in the background.

One `EventSender` serves a process; each profile records through an `ApiEventRecorder` of its own,
under its own name.
"""

from __future__ import annotations

import asyncio
import random
import socket
from typing import Any, Final

from podium.api.objects import Pod
from podium.api.times import micro_time_text
from podium.client.api_client import ApiClient
from podium.client.event_series import IDLE_SECONDS, EventSeries, Occurrence
from podium.clock import Clock, Deadline, sleep
from podium.errors import ApiError, Conflict, Forbidden, NotFound, Unreachable
from podium.framework.handle import EventNote
from podium.logs import get_logger

Json = dict[str, Any]

MOST_WAITING: Final = 10_000
WRITERS: Final = 16
TRIES: Final = 12
RETRY_SECONDS: Final = 10.0
REFRESH_SECONDS: Final = 1800.0
NOTE_BYTES: Final = 1024
_CUT: Final = " ..."

log = get_logger(__name__)


class EventSender:
    """A bounded queue of events, and writers that empty it while ``run`` runs."""

    def __init__(self, client: ApiClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._series = EventSeries(clock)
        self._waiting: asyncio.Queue[Occurrence] = asyncio.Queue(MOST_WAITING)
        self._unwritten = 0  # waiting, or on their way
        self._nanoseconds = 0
        self._is_forbidden = False
        self.dropped = 0

    def stamp(self) -> tuple[str, str]:
        """A moment for a new event: its time, and a hexadecimal number that no other one has."""
        now = self._clock.now()
        self._nanoseconds = max(self._nanoseconds + 1, int(now * 1e9))
        return micro_time_text(now), f"{self._nanoseconds:x}"

    def send(self, key: tuple[object, ...], namespace: str, body: Json) -> None:
        """Never waits: when the API is too slow for too long, events are lost."""
        if occurrence := self._series.see(key, namespace, body):
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
                log.warning("events are being dropped", waiting=MOST_WAITING)
            self.dropped += 1

    async def run(self) -> None:
        """Write events until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(self._write_all())
            group.create_task(self._keep_series())

    async def flush(self, seconds: float) -> None:
        """Wait until everything is written, but no longer than this; for the end of a process."""
        try:
            async with Deadline(self._clock, seconds):
                await self._waiting.join()
        except TimeoutError:
            log.warning("events not written", count=self._unwritten)

    async def _write_all(self) -> None:
        while True:
            occurrence = await self._waiting.get()
            try:
                await self._deliver(occurrence)
            except Exception:  # a task boundary: one event must not end the writer
                log.error("event not written", name=occurrence.name)
            finally:
                self._done(occurrence)

    def _done(self, occurrence: Occurrence) -> None:
        occurrence.is_waiting = False
        self._unwritten -= 1
        if occurrence.written == 1 < occurrence.count:  # repeated while it was being written
            self._enqueue(occurrence)
        self._waiting.task_done()

    async def _deliver(self, occurrence: Occurrence) -> None:
        """Only a failing connection is a reason to try again; a refusal is final."""
        seconds = RETRY_SECONDS * random.random()  # at first, so that not all come back at once
        for left in reversed(range(TRIES)):
            try:
                await self._write(occurrence)
            except Unreachable as error:
                if not left:
                    log.warning("event given up", name=occurrence.name, why=str(error))
                    return
                await sleep(self._clock, seconds)
                seconds = RETRY_SECONDS
            except ApiError as refusal:
                self._on_refusal(occurrence, refusal)
                return
            else:
                return

    def _on_refusal(self, occurrence: Occurrence, refusal: ApiError) -> None:
        """A missing right is told once: it will be missing for the next event as well."""
        if isinstance(refusal, Forbidden) and not self._is_forbidden:
            self._is_forbidden = True
            log.warning("no right to write events", why=str(refusal), without="reasons in events")
        else:
            log.debug("event refused", name=occurrence.name, why=str(refusal))

    async def _write(self, occurrence: Occurrence) -> None:
        count = occurrence.count
        if not occurrence.written:
            await self._create(occurrence)
        elif count > occurrence.written:
            await self._count(occurrence)
        occurrence.written = max(occurrence.written, count)

    async def _create(self, occurrence: Occurrence) -> None:
        series = {"series": occurrence.series} if occurrence.count > 1 else {}
        try:
            await self._client.create_event(occurrence.namespace, occurrence.body | series)
        except Conflict:  # by an attempt whose answer was lost
            log.debug("event is there already", name=occurrence.name)

    async def _count(self, occurrence: Occurrence) -> None:
        patch = {"series": occurrence.series}
        try:
            await self._client.patch_event(occurrence.namespace, occurrence.name, patch)
        except NotFound:  # events do not live long
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
        """As v1.36 writes them, without ``related``: there the field cannot be filled."""
        about = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": regarding.name,
            "namespace": regarding.namespace,
            "resourceVersion": regarding.metadata.resource_version,
            "uid": regarding.uid,
        }
        namespace = regarding.namespace or "default"
        kind = (event.type, event.action, event.reason, self._instance, *about.values())
        self._sender.send(kind, namespace, self._body(about, namespace, event))

    def _body(self, about: Json, namespace: str, event: EventNote) -> Json:
        time, number = self._sender.stamp()
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{about['name']}.{number}", "namespace": namespace},
            "eventTime": time,
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "action": event.action,
            "reason": event.reason,
            "regarding": about,
            "note": cut(event.note),
            "type": event.type,
        }


def cut(note: str) -> str:
    """A note that the API takes: 1024 bytes at most."""
    data = note.encode()
    if len(data) <= NOTE_BYTES:
        return note
    return data[: NOTE_BYTES - len(_CUT)].decode(errors="ignore") + _CUT
