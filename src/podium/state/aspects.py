"""What can change in the cluster, as bits, and the journal of what did change.

The cycle and plugins read the journal to refresh only what is out of date.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from podium.state.cluster import ClusterState


class Aspect:
    """Bits that say what changed. Plain integers, since every cycle combines them (faster than an
    enum)."""

    RESOURCES: Final = 1 << 0  # allocatable, requested, number of pods
    LABELS: Final = 1 << 1
    TAINTS: Final = 1 << 2  # taints and the unschedulable flag
    PODS: Final = 1 << 3  # which pods run there, their labels, whether they terminate
    AFFINITY: Final = 1 << 4  # pods with affinity or anti-affinity terms
    PORTS: Final = 1 << 5  # pods with host ports
    VOLUMES: Final = 1 << 6  # pods with volumes
    IMAGES: Final = 1 << 7
    FEATURES: Final = 1 << 8
    NODE: Final = 1 << 9  # anything else in the node object except its heartbeat
    POD_OBJECTS: Final = 1 << 10  # anything else in the pods there, such as their status
    # These do not belong to one node: the journal records them with row NOWHERE.
    NAMESPACES: Final = 1 << 11
    WORKLOADS: Final = 1 << 12  # services and the owners of pods
    STORAGE: Final = 1 << 13  # volumes, claims, classes, CSI objects
    DEVICES: Final = 1 << 14  # device classes, resource claims and slices, rules that taint devices
    ALL: Final = (1 << 15) - 1


NOWHERE: Final = -1
_KEPT: Final = 4096


@dataclass(slots=True)
class Changes:
    """The changes since a moment: ``aspects`` are those of any row, ``rows`` has them by row.

    ``fresh`` means that the changes are not known, so that the reader must start from scratch.
    """

    aspects: int = 0
    rows: dict[int, int] = field(default_factory=dict)
    fresh: bool = False

    def followed_by(self, later: Changes) -> Changes:
        """Return these changes and the later ones combined."""
        rows = dict(self.rows)
        for row, aspects in later.rows.items():
            rows[row] = rows.get(row, 0) | aspects
        return Changes(self.aspects | later.aspects, rows, self.fresh or later.fresh)


class Journal:
    """A list of (row, aspects) entries, of which only the last few thousand are kept.

    A reader remembers ``end`` as its mark and asks for the changes since then. If entries after its
    mark have been dropped, it gets ``None`` and must start from scratch.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[int, int]] = []
        self._first = 0
        self.end = 0  # how many entries there have been: ``_first + len(_entries)``
        self._last_read: tuple[int, int] = (-1, -1)
        self._last_changes = Changes()

    def record(self, row: int, aspects: int) -> None:
        self._entries.append((row, aspects))
        self.end += 1
        if len(self._entries) > 2 * _KEPT:
            del self._entries[:_KEPT]
            self._first += _KEPT

    def since(self, mark: int) -> list[tuple[int, int]] | None:
        """Return the entries from ``mark`` on, or ``None`` when some of them have been dropped."""
        if mark < self._first:
            return None
        return self._entries[mark - self._first :]

    def changes_since(self, mark: int) -> Changes | None:
        """Return the entries from ``mark`` on, combined; ``None`` when some have been dropped.

        Readers with the same mark share the result: do not change it.
        """
        key = mark, self.end
        if key != self._last_read:
            entries = self.since(mark)
            if entries is None:
                return None
            self._last_read, self._last_changes = key, _combined(entries)
        return self._last_changes


def _combined(entries: list[tuple[int, int]]) -> Changes:
    changes = Changes()
    for row, aspects in entries:
        changes.aspects |= aspects
        if row != NOWHERE:
            changes.rows[row] = changes.rows.get(row, 0) | aspects
    return changes


FRESH: Final = Changes(aspects=Aspect.ALL, fresh=True)


class Reader:
    """Reads the journal from where it last stopped.

    It also remembers for which set of nodes it did so: when a node joins or leaves, row numbers may
    mean other nodes, so it reports ``FRESH``.
    """

    __slots__ = ("_cluster", "_mark", "_structure")

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._mark = -1
        self._structure = -1

    def copy(self) -> Reader:
        """Return a reader that goes on from here."""
        other = Reader(self._cluster)
        other._mark, other._structure = self._mark, self._structure
        return other

    def catch_up(self) -> Changes:
        """Return the changes since the last call; ``FRESH`` if they are not known."""
        journal, structure = self._cluster.journal, self._cluster.table.structure
        changes = journal.changes_since(self._mark) if structure == self._structure else None
        self._mark, self._structure = journal.end, structure
        return FRESH if changes is None else changes
