"""What has changed in the cluster since a reader last caught up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from podium.state.aspects import NOWHERE, Aspect
from podium.state.cluster import ClusterState


@dataclass(slots=True)
class Changes:
    """``aspects`` that changed anywhere, and by row; ``fresh``: there is nothing to build on."""

    aspects: int = 0
    rows: dict[int, int] = field(default_factory=dict)
    fresh: bool = False


class FeasibleVersion(NamedTuple):
    """Which set of feasible rows this is, among those of one kind of pod; and since when rows have
    only left it. A negative number is a set that nobody keeps track of."""

    number: int
    grown_at: int


UNTRACKED = FeasibleVersion(-1, -1)

FRESH = Changes(aspects=Aspect.ALL, fresh=True)


class Reader:
    """Remembers how far it has read the journal, and the set of nodes it read it for."""

    __slots__ = ("_cluster", "_mark", "_structure")

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._mark = -1
        self._structure = -1

    def catch_up(self) -> Changes:
        """The changes since the last call; ``FRESH`` at first and when nodes came or went."""
        journal, structure = self._cluster.journal, self._cluster.table.structure
        entries = None
        if structure == self._structure:
            entries = journal.since(self._mark)
        self._mark, self._structure = journal.end, structure
        if entries is None:
            return FRESH
        changes = Changes()
        for row, aspects in entries:
            changes.aspects |= aspects
            if row != NOWHERE:
                changes.rows[row] = changes.rows.get(row, 0) | aspects
        return changes
