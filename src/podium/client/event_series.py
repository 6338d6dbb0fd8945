"""Which events are new and which repeat one told before: repeats are counted in a series.

The second occurrence is written at once, later ones now and then. No I/O; time from the Clock.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

from podium.api.times import micro_time_text
from podium.clock import Clock

Json = dict[str, Any]

IDLE_SECONDS: Final = 360.0  # after which a repeat is an event of its own
MOST_REMEMBERED: Final = 20_000


@dataclass(slots=True)
class Occurrence:
    """An event and how often it was seen."""

    namespace: str
    body: Json  # as it is created
    seen_at: float
    count: int = 1
    written: int = 0  # how many of them the API has been told of
    is_waiting: bool = False  # to be written, or being written

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def series(self) -> Json:
        return {"count": self.count, "lastObservedTime": micro_time_text(self.seen_at)}


class EventSeries:
    """The events of the last minutes, by all that makes two of them the same."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._recent: dict[Hashable, Occurrence] = {}

    def __len__(self) -> int:
        return len(self._recent)

    def see(self, key: Hashable, namespace: str, body: Json) -> Occurrence | None:
        """What is to be written now; None when a repeat is only counted."""
        known = self._recent.get(key)
        if known is None:
            known = self._recent[key] = Occurrence(namespace, body, self._clock.now())
            if len(self._recent) > MOST_REMEMBERED:
                del self._recent[next(iter(self._recent))]
            return known
        known.count += 1
        known.seen_at = self._clock.now()
        return known if known.count == 2 else None

    def counted(self) -> list[Occurrence]:
        """Those that went on since they were last written."""
        return [one for one in self._recent.values() if one.count > max(one.written, 1)]

    def end_idle(self) -> list[Occurrence]:
        """Forget what has not been seen for a while; returns what is still to be written of it."""
        since = self._clock.now() - IDLE_SECONDS
        idle = [key for key, one in self._recent.items() if one.seen_at <= since]
        ended = [self._recent.pop(key) for key in idle]
        return [one for one in ended if one.count > max(one.written, 1)]
