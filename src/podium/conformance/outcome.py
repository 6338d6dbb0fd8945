"""The outcome of replaying a case: its differences, and what could not be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that is not as recorded. ``node`` is empty if it is about the pod."""

    case: str
    node: str
    field: str
    expected: Any
    got: Any


@dataclass(frozen=True, slots=True, order=True)
class LeftOut:
    """A field that was not compared, and why."""

    field: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """The comparison of one case, filled in while it is replayed."""

    case: str
    family: str
    differences: list[Difference] = field(default_factory=list)
    left_out: set[LeftOut] = field(default_factory=set)

    @property
    def failed(self) -> bool:
        return bool(self.differences)

    @property
    def passed(self) -> bool:
        """Whether everything was compared and nothing differs."""
        return not self.differences and not self.left_out


class Comparison:
    """Records the outcome of one case; ``where``, such as the step, precedes each field."""

    def __init__(self, outcome: Outcome, where: str = "") -> None:
        self.outcome = outcome
        self._where = where

    def at(self, where: str) -> Comparison:
        return Comparison(self.outcome, f"{self._where}{where} ")

    def equal(self, what: str, expected: Any, got: Any, *, node: str = "") -> bool:
        """Whether both are equal; if not, record a difference."""
        if expected == got:
            return True
        self.differ(what, expected, got, node=node)
        return False

    def differ(self, what: str, expected: Any, got: Any, *, node: str = "") -> None:
        found = Difference(self.outcome.case, node, self._where + what, expected, got)
        self.outcome.differences.append(found)

    def leave_out(self, fields: Iterable[str], reason: str) -> None:
        self.outcome.left_out |= {LeftOut(name, reason) for name in fields}

    def needs(self, fields: Collection[str], plugins: Iterable[str]) -> None:
        """Leave fields out because these plugins are absent."""
        for plugin in plugins:
            self.leave_out(fields, f"{plugin} is not implemented")
