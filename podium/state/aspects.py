"""The aspects of the cluster that can change, as bits, and the journal of what did."""

from __future__ import annotations

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
    # Not of one node: these stand in the journal with row NOWHERE.
    NAMESPACES: Final = 1 << 10
    WORKLOADS: Final = 1 << 11  # services and the owners of pods
    STORAGE: Final = 1 << 12  # volumes, claims, classes, CSI objects
    ALL: Final = (1 << 13) - 1


NOWHERE: Final = -1
_KEPT: Final = 4096


class Journal:
    """What changed since a reader last looked; a reader that is too far behind starts over."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int]] = []
        self._first = 0

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
