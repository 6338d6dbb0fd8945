"""What has changed in the cluster since a reader last caught up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.state.aspects import Aspect, Changes

if TYPE_CHECKING:
    from podium.state.cluster import ClusterState

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
        changes = journal.changes_since(self._mark) if structure == self._structure else None
        self._mark, self._structure = journal.end, structure
        return FRESH if changes is None else changes
