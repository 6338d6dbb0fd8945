"""Events as they are written, events.k8s.io/v1, and how often each was seen; no I/O.

None of it is tracked by the garbage collector: the events of the last minutes are many, and were
a good part of what each collection had to look at.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import msgspec

from podium.api.times import micro_time_text
from podium.clock import Clock

IDLE_SECONDS: Final = 360.0  # after this time a repeat is a new event
MOST_REMEMBERED: Final = 20_000


class _Part(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A part of an event; every field is written, also an empty one."""


class Regarding(_Part, frozen=True, gc=False):
    """The object that an event is about, usually a pod."""

    name: str
    namespace: str
    resource_version: str
    uid: str
    api_version: str = "v1"
    kind: str = "Pod"


class EventMeta(_Part, frozen=True, gc=False):
    name: str
    namespace: str


class Series(_Part, frozen=True, gc=False):
    count: int
    last_observed_time: str


class Event(_Part, frozen=True, gc=False):
    metadata: EventMeta
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: Regarding
    note: str
    type: str
    series: Series | msgspec.UnsetType = msgspec.UNSET
    api_version: str = "events.k8s.io/v1"
    kind: str = "Event"


class Occurrence(msgspec.Struct, gc=False, eq=False):
    """An event and how often it was seen."""

    namespace: str
    event: Event  # as it is created
    seen_at: float
    count: int = 1
    written: int = 0  # the count that the API has
    tried: int = 0  # the count of the last try to write it
    is_waiting: bool = False  # to be written, or being written

    @property
    def name(self) -> str:
        return self.event.metadata.name

    @property
    def series(self) -> Series:
        return Series(self.count, micro_time_text(self.seen_at))


class EventSeries:
    """The events of the last minutes, by the fields that make two events the same."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._recent: dict[Hashable, Occurrence] = {}

    def __len__(self) -> int:
        return len(self._recent)

    def see(self, key: Hashable, namespace: str, event: Event) -> Occurrence | None:
        """Count the event; return it if it is to be written now, None if it is only counted."""
        known = self._recent.get(key)
        if known is None:
            known = self._recent[key] = Occurrence(namespace, event, self._clock.now())
            if len(self._recent) > MOST_REMEMBERED:
                del self._recent[next(iter(self._recent))]
            return known
        known.count += 1
        known.seen_at = self._clock.now()
        return known if known.count == 2 else None

    def counted(self) -> list[Occurrence]:
        """Return the events that were repeated since they were last written."""
        return [one for one in self._recent.values() if one.count > max(one.written, 1)]

    def end_idle(self) -> list[Occurrence]:
        """Forget events not seen for a while; return those whose last count is not written."""
        since = self._clock.now() - IDLE_SECONDS
        idle = [key for key, one in self._recent.items() if one.seen_at <= since]
        ended = [self._recent.pop(key) for key in idle]
        return [one for one in ended if one.count > max(one.written, 1)]
