"""The bounded history of one kind, and watches as positions in it.

A watch has no queue: it remembers a version and reads the history from there. A watcher that is too
slow gets a 410 when its version is gone, so that slow watchers cost no memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from podium.apiserver import statuses
from podium.apiserver.statuses import Json

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"


# Of the history of one kind: large objects that change often are kept for a shorter time.
MAX_BYTES = 64 * 1024 * 1024


class Meta(msgspec.Struct, gc=False):
    """The part of the metadata that the store itself reads."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None


class _Partial(msgspec.Struct, gc=False):
    metadata: Meta = msgspec.field(default_factory=Meta)


_PARTIAL = msgspec.json.Decoder(_Partial)


class Item:
    """One version of one object, kept as JSON.

    That takes a quarter of the memory of dicts, and nobody can change it by accident. ``decode``
    returns a new dict each time.
    """

    __slots__ = ("encoded", "key", "version")

    def __init__(self, key: tuple[str, str], version: int, encoded: bytes) -> None:
        self.key = key
        self.version = version
        self.encoded = encoded

    def decode(self) -> Json:
        obj: Json = msgspec.json.decode(self.encoded)
        return obj

    @property
    def meta(self) -> Meta:
        return _PARTIAL.decode(self.encoded).metadata

    @property
    def labels(self) -> dict[str, str]:
        return self.meta.labels or {}


@dataclass(slots=True)
class Event:
    """One change: the object before and after.

    For a deletion ``new`` is the last state, with the version of the deletion.
    """

    version: int
    type: str
    old: Item | None
    new: Item

    @property
    def key(self) -> tuple[str, str]:
        return self.new.key


@dataclass(slots=True)
class History:
    """The latest changes of one kind.

    Invariants: ``events`` are ordered by version, all later than ``start``; every event after
    ``start`` is there. ``size`` is the sum of the encoded sizes of the events' new objects. At most
    ``2 * limit`` events are kept.
    """

    limit: int
    start: int = 0
    events: list[Event] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    size: int = 0  # bytes of the events' new objects

    def append(self, event: Event) -> None:
        self.events.append(event)
        self.size += len(event.new.encoded)
        if len(self.events) > 2 * self.limit or self.size > MAX_BYTES:
            self._forget()
        for watch in list(self.watches):
            watch.notify()

    def _forget(self) -> None:
        """Drop the older half, so that an append takes constant time on average."""
        cut = max(0, len(self.events) - self.limit)
        left = self.size - sum(len(event.new.encoded) for event in self.events[:cut])
        while left > MAX_BYTES // 2 and cut < len(self.events) - 1:
            left -= len(self.events[cut].new.encoded)
            cut += 1
        if cut:
            self.start = self.events[cut - 1].version
            del self.events[:cut]
            self.size = left

    def since(self, version: int) -> list[Event]:
        """Return all events after a version; raise 410 if some of them are gone."""
        if version < self.start:
            raise statuses.too_old(version, self.start)
        if not self.events or self.events[-1].version <= version:
            return []
        return self.events[bisect_right(self.events, version, key=lambda e: e.version) :]


class Watch:
    """A position in the history of a kind; ``notify`` is called inside each write."""

    def __init__(self, history: History, version: int, notify: Callable[[], None]) -> None:
        self._history = history
        self.version = version
        self.notify = notify
        history.since(version)  # raises 410 at once if the version is too old
        history.watches.append(self)

    def poll(self, limit: int = 1000) -> list[Event]:
        """Return the next events, at most ``limit``; raise 410 if the history has moved on."""
        events = self._history.since(self.version)[:limit]
        if events:
            self.version = events[-1].version
        return events

    @property
    def has_more(self) -> bool:
        events = self._history.events
        return bool(events) and events[-1].version > self.version

    def close(self) -> None:
        if self in self._history.watches:
            self._history.watches.remove(self)
