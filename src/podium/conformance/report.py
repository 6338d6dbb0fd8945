"""The result of a run, as text or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from podium.conformance.outcome import Difference, Outcome

_COLUMNS = ("LEFT OUT", "CASES", "WHY", "NOT COMPARED")


@dataclass(frozen=True, slots=True)
class Gap:
    """The cases of one family that are left out for one reason, and the fields not compared."""

    family: str
    reason: str
    fields: tuple[str, ...]
    cases: int


@dataclass(frozen=True, slots=True)
class Report:
    """``left_out`` counts the cases that were compared only in part, without a difference."""

    passed: int
    failed: int
    left_out: int
    differences: tuple[Difference, ...]
    gaps: tuple[Gap, ...]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Report:
        done = list(outcomes)
        partial = [o for o in done if o.left_out and not o.failed]
        return cls(
            passed=sum(outcome.passed for outcome in done),
            failed=sum(outcome.failed for outcome in done),
            left_out=len(partial),
            differences=tuple(found for outcome in done for found in outcome.differences),
            gaps=_gaps(partial),
        )

    @property
    def ok(self) -> bool:
        """Whether nothing differs and at least one case was compared in full."""
        return not self.failed and self.passed > 0

    def text(self) -> str:
        """Return the differences, what was left out and why, and the totals as the last line."""
        blocks = ["\n".join(map(_line, self.differences)), "\n".join(_table(self.gaps))]
        total = f"{self.passed} passed, {self.failed} failed, {self.left_out} left out"
        return "\n\n".join([block for block in blocks if block] + [total])

    def json(self) -> str:
        """Return the fields of this class as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode()


def _gaps(outcomes: Iterable[Outcome]) -> tuple[Gap, ...]:
    """Group by family and reason; a case with several reasons counts for each."""
    fields: dict[tuple[str, str], set[str]] = {}
    cases: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        for gap in outcome.left_out:
            fields.setdefault((outcome.family, gap.reason), set()).add(gap.field)
        cases.update({(outcome.family, gap.reason) for gap in outcome.left_out})
    return tuple(
        Gap(*group, tuple(sorted(names)), cases[group]) for group, names in sorted(fields.items())
    )


def _line(found: Difference) -> str:
    where = f"{found.case}: node {found.node}: " if found.node else f"{found.case}: "
    return f"{where}{found.field}: expected {_value(found.expected)}, got {_value(found.got)}"


def _value(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _table(gaps: Sequence[Gap]) -> Iterator[str]:
    if not gaps:
        return
    rows = [(gap.family, str(gap.cases), gap.reason, ", ".join(gap.fields)) for gap in gaps]
    widths = [max(len(row[at]) for row in (_COLUMNS, *rows)) for at in range(len(_COLUMNS))]
    for row in (_COLUMNS, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
