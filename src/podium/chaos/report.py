"""What a trial has shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from podium.chaos.invariants import Violation
from podium.chaos.script import Script

_SHORTEST_STALL: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one trial; ``digest`` is the same for the same script."""

    script: Script
    struck: Counter[str]
    bindings: int
    excused: int  # over-commitments after a watch had lost events without a trace
    leaders: int
    requests: int
    recoveries: int
    longest_recovery: float
    longest_wait: float  # of a single pod for which there was room all the time
    violations: tuple[Violation, ...]
    digest: str

    @property
    def faults(self) -> int:
        return self.struck.total()


class Recoveries:
    """Counts the times in which a pod could be bound and none was, and finds the longest."""

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0.0
        self._since: float | None = None
        self._bindings = 0

    def look(self, now: float, is_waiting: bool, bindings: int) -> None:
        is_stalled = is_waiting and bindings == self._bindings
        self._bindings = bindings
        if is_stalled:
            self._since = now if self._since is None else self._since
        elif self._since is not None:
            lasted = now - self._since
            self._since = None
            if lasted >= _SHORTEST_STALL:
                self.count += 1
                self.longest = max(self.longest, lasted)


class Waits:
    """Measures for how long each of some things has lasted; ``longest`` is of all there were."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.lasted: dict[str, float] = {}  # of those that last now
        self._since: dict[str, float] = {}

    def look(self, now: float, names: Iterable[str]) -> dict[str, float]:
        self._since = {name: self._since.get(name, now) for name in names}
        self.lasted = {name: now - since for name, since in self._since.items()}
        self.longest = max(self.longest, *self.lasted.values(), 0.0)
        return self.lasted
