"""What replaying a case came to: its differences, and what could not be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as recorded. ``node`` is empty for what is about the pod."""

    case: str
    node: str
    field: str
    expected: Any
    got: Any


@dataclass(frozen=True, slots=True, order=True)
class LeftOut:
    """A field that was not compared, and what it waits for."""

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
        """Compared in everything, without a difference."""
        return not self.differences and not self.left_out


class Comparison:
    """Writes one case's outcome; ``where`` goes before each field, such as the step."""

    def __init__(self, outcome: Outcome, where: str = "") -> None:
        self.outcome = outcome
        self._where = where

    def at(self, where: str) -> Comparison:
        return Comparison(self.outcome, f"{self._where}{where} ")

    def equal(self, what: str, expected: Any, got: Any, *, node: str = "") -> bool:
        """Note a difference unless both are equal."""
        if expected == got:
            return True
        self.differ(what, expected, got, node=node)
        return False

    def differ(self, what: str, expected: Any, got: Any, *, node: str = "") -> None:
        found = Difference(self.outcome.case, node, self._where + what, expected, got)
        self.outcome.differences.append(found)

    def leave_out(self, fields: Iterable[str], reason: str) -> None:
        self.outcome.left_out |= {LeftOut(name, reason) for name in fields}

    def wait_for(self, fields: Collection[str], plugins: Iterable[str]) -> None:
        """Leave fields out because these plugins are not built yet."""
        for plugin in plugins:
            self.leave_out(fields, f"{plugin} is not built yet")
