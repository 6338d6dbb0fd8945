"""Groups that failed are left alone for a while, each time a little longer.

When a group gives up, its members leave their nodes, and that alone would wake the members that
found no room. Without a pause such a group would be tried over and over, as fast as possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from podium.clock import Clock, Timer

FIRST_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 10.0


@dataclass(slots=True)
class _Hold:
    """``timer`` runs while the group is held; ``is_wanted`` if a member was woken meanwhile."""

    failures: int = 0
    timer: Timer | None = None
    is_wanted: bool = False


class Holds:
    """The groups that failed, by key. ``resume`` is called when a group may be tried again."""

    def __init__(self, clock: Clock, resume: Callable[[str], None]) -> None:
        self._clock = clock
        self._resume = resume
        self._by_key: dict[str, _Hold] = {}

    def start(self, key: str, at_least: float = 0.0) -> None:
        """Hold the group, unless it is held already: several members fail in one attempt."""
        hold = self._by_key.setdefault(key, _Hold())
        if hold.timer is None:
            doubled = FIRST_SECONDS * 2 ** min(hold.failures, 10)
            seconds = max(min(doubled, LONGEST_SECONDS), at_least)
            hold.failures += 1
            hold.timer = self._clock.call_later(seconds, lambda: self._end(key))

    def _end(self, key: str) -> None:
        hold = self._by_key[key]
        was_wanted = hold.is_wanted
        hold.timer, hold.is_wanted = None, False
        if was_wanted:
            self._resume(key)

    def refuses(self, key: str) -> bool:
        """Return whether the group is held; if so, it is tried when that ends."""
        hold = self._by_key.get(key)
        if hold is None or hold.timer is None:
            return False
        hold.is_wanted = True
        return True

    def forget(self, key: str) -> None:
        """The group has started, or is gone: the next failure is its first."""
        hold = self._by_key.pop(key, None)
        if hold is not None and hold.timer is not None:
            hold.timer.cancel()
            if hold.is_wanted:
                self._resume(key)

    def close(self) -> None:
        for hold in self._by_key.values():
            if hold.timer is not None:
                hold.timer.cancel()
        self._by_key.clear()
