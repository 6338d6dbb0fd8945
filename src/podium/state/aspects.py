"""The aspects of the cluster that can change, as bits, and the journal of what did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


class Aspect:
    """Bits, not an enum: they are combined in the hot path of every cycle."""

    RESOURCES: Final = 1 << 0  # allocatable, requested, number of pods
    LABELS: Final = 1 << 1
    TAINTS: Final = 1 << 2  # taints and the unschedulable flag
    PODS: Final = 1 << 3  # which pods run there, their labels and their end
    AFFINITY: Final = 1 << 4  # pods with affinity or anti-affinity terms
    PORTS: Final = 1 << 5  # pods with host ports
    VOLUMES: Final = 1 << 6  # pods with volumes
    IMAGES: Final = 1 << 7
    FEATURES: Final = 1 << 8
    NODE: Final = 1 << 9  # anything else of the node object but its heartbeat
    POD_OBJECTS: Final = 1 << 10  # anything else of the pods there: what kubelets write
    # Not of one node: these stand in the journal with row NOWHERE.
    NAMESPACES: Final = 1 << 11
    WORKLOADS: Final = 1 << 12  # services and the owners of pods
    STORAGE: Final = 1 << 13  # volumes, claims, classes, CSI objects
    ALL: Final = (1 << 14) - 1


NOWHERE: Final = -1
_KEPT: Final = 4096


@dataclass(slots=True)
class Changes:
    """``aspects`` that changed anywhere, and by row; ``fresh``: there is nothing to build on."""

    aspects: int = 0
    rows: dict[int, int] = field(default_factory=dict)
    fresh: bool = False

    def followed_by(self, later: Changes) -> Changes:
        """Return these changes and later ones as one."""
        rows = dict(self.rows)
        for row, aspects in later.rows.items():
            rows[row] = rows.get(row, 0) | aspects
        return Changes(self.aspects | later.aspects, rows, self.fresh or later.fresh)


class Journal:
    """What changed since a reader last looked; a reader that is too far behind starts over."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int]] = []
        self._first = 0
        self._last_read: tuple[int, int] = (-1, -1)
        self._last_changes = Changes()

    @property
    def end(self) -> int:
        return self._first + len(self._entries)

    def record(self, row: int, aspects: int) -> None:
        self._entries.append((row, aspects))
        if len(self._entries) > 2 * _KEPT:
            del self._entries[:_KEPT]
            self._first += _KEPT

    def since(self, mark: int) -> list[tuple[int, int]] | None:
        """The entries from ``mark`` on, or ``None`` when some of them are gone."""
        if mark < self._first:
            return None
        return self._entries[mark - self._first :]

    def changes_since(self, mark: int) -> Changes | None:
        """The same, summed up; shared by all who ask from the same mark: do not change it."""
        key = mark, self.end
        if key != self._last_read:
            entries = self.since(mark)
            if entries is None:
                return None
            self._last_read, self._last_changes = key, _summed_up(entries)
        return self._last_changes


def _summed_up(entries: list[tuple[int, int]]) -> Changes:
    changes = Changes()
    for row, aspects in entries:
        changes.aspects |= aspects
        if row != NOWHERE:
            changes.rows[row] = changes.rows.get(row, 0) | aspects
    return changes
