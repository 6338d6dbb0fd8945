"""What replaying a case came to: its differences, and why something was not compared."""

from __future__ import annotations

from collections.abc import Iterable
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


@dataclass(slots=True)
class Outcome:
    """The comparison of one case, filled in while it is replayed.

    ``left_out`` are reasons: without one, everything was compared.
    """

    case: str
    family: str
    differences: list[Difference] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

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

    def leave_out(self, reasons: Iterable[str]) -> None:
        """Compare nothing of this attempt, hint or list of events."""
        self.outcome.left_out.update(reasons)
