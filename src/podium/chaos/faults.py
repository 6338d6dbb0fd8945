"""The faults that are active now, and how often each of them has struck."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from podium.chaos.script import Step


@dataclass(slots=True)
class Active:
    """A fault from the script that lasts for a while, for some hosts."""

    what: str
    hosts: frozenset[str]
    percent: int
    chance: Random

    @classmethod
    def of(cls, step: Step, hosts: frozenset[str]) -> Active:
        return cls(step.what, hosts, step.amount, Random(step.seed))


@dataclass(slots=True)
class Faults:
    """Asked by everything that can fail: whether it fails now, and how.

    ``misinformed`` are the hosts whose watch of pods has lost an event without a trace, which no
    real API server does. Until such a host lists all pods again, it may give away room twice.
    """

    active: list[Active] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)
    misinformed: set[str] = field(default_factory=set)

    def strike(self, what: str, host: str) -> Random | None:
        """Return what decides the details if this fault strikes now, else None."""
        for one in self.active:
            if one.what == what and host in one.hosts and one.chance.random() * 100 < one.percent:
                self.struck[what] += 1
                return one.chance
        return None

    def note(self, what: str) -> None:
        """Count a fault of a whole host."""
        self.struck[what] += 1
