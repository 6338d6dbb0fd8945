"""Each attempt leaves a compact record; a bounded ring of them is always on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Final, NamedTuple

KEPT_RECORDS: Final = 2048


class ScoredNode(NamedTuple):
    """One of the best nodes: its total, and every plugin's normalized score before the weight."""

    name: str
    total: int
    scores: dict[str, int]


@dataclass(slots=True)
class Record:
    """What was decided about one pod in one attempt, and why."""

    pod: str
    uid: str
    attempt: int
    profile: str
    nodes: int = 0
    feasible: int = 0
    node: str = ""  # the decision; empty when there is none
    message: str = ""
    tied: int = 0  # how many nodes shared the highest total
    best: tuple[ScoredNode, ...] = ()
    rejected: dict[tuple[str, str], int] = field(default_factory=dict)  # (plugin, reason): nodes
    reused: bool = False  # built on an equal pod's judgement
    seconds: dict[str, float] = field(default_factory=dict)  # by stage

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data, for JSON and tables."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["best"] = [scored._asdict() for scored in self.best]
        plain["rejected"] = [
            {"plugin": plugin, "reason": reason, "nodes": nodes}
            for (plugin, reason), nodes in self.rejected.items()
        ]
        plain["seconds"] = dict(self.seconds)
        return plain


class Records:
    """The latest records, oldest first."""

    def __init__(self, most: int = KEPT_RECORDS) -> None:
        self._ring: deque[Record] = deque(maxlen=most)

    def add(self, record: Record) -> None:
        self._ring.append(record)

    def latest(self, uid: str) -> Record | None:
        """The last attempt of this pod that is still remembered."""
        return next((record for record in reversed(self._ring) if record.uid == uid), None)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._ring)

    def __len__(self) -> int:
        return len(self._ring)
