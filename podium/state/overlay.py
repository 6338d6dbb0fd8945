"""What a dry run changes on a few rows, without touching the columns.

Each row is a world of its own: its changes are seen when that row is judged, and only then.
Rolling back is dropping the overlay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from podium.state.node_table import NodeTable
from podium.state.pod_info import PodInfo


class Overlay:
    """Pods added to and taken from some rows, with their effect on the resource columns."""

    def __init__(self, table: NodeTable, rows: NDArray[np.intp]) -> None:
        self.table = table
        self.rows = rows  # ascending
        places = len(table.resources.index)
        self.requested: NDArray[np.int64] = np.zeros((places, len(rows)), np.int64)
        self._without_below: int | None = None
        self._added: dict[int, dict[str, PodInfo]] = {}
        self._removed: dict[int, set[str]] = {}

    @classmethod
    def over(cls, table: NodeTable, rows: NDArray[np.intp], below: Overlay | None) -> Overlay:
        """A new overlay on these rows that starts with what ``below`` says of them."""
        overlay = cls(table, rows)
        if below is not None:
            overlay.requested = below.requested[:, below.position(rows)].copy()
            overlay._without_below = below._without_below
            overlay._added = {row: dict(pods) for row, pods in below._added.items()}
            overlay._removed = {row: set(uids) for row, uids in below._removed.items()}
        return overlay

    def position(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where these rows stand in the overlay; they must be in it."""
        if rows is self.rows:
            return np.arange(len(rows))
        return np.searchsorted(self.rows, rows)

    def remove_below(self, priority: int, pods: Iterable[PodInfo]) -> None:
        """Take all pods of lower priority off every row, at the cost of one subtraction."""
        sums = self.table.resources.requested_below(priority, pods)
        self._widen()
        self.requested -= sums[:, self.rows]
        self._without_below = priority

    def add(self, infos: Sequence[PodInfo], rows: NDArray[np.intp]) -> None:
        """Put each pod on its row; one that was removed there is back."""
        for info, row in zip(infos, rows.tolist(), strict=True):
            gone = self._removed.get(row)
            if gone is not None and info.uid in gone:
                gone.discard(info.uid)
            else:
                self._added.setdefault(row, {})[info.uid] = info
        self._count(infos, rows, 1)

    def remove(self, infos: Sequence[PodInfo], rows: NDArray[np.intp]) -> None:
        """Take each pod off its row."""
        for info, row in zip(infos, rows.tolist(), strict=True):
            if self._added.get(row, {}).pop(info.uid, None) is None:
                self._removed.setdefault(row, set()).add(info.uid)
        self._count(infos, rows, -1)

    def _count(self, infos: Sequence[PodInfo], rows: NDArray[np.intp], sign: int) -> None:
        for name in {name for info in infos for name in info.requests}:
            self.table.resource_place(name)  # a nominated pod may be the first to ask for it
        self._widen()
        amounts = self.table.resources.amounts
        positions = self.position(rows).tolist()
        for info, position in zip(infos, positions, strict=True):
            for place, amount in amounts(info):
                self.requested[place, position] += sign * amount

    def _widen(self) -> None:
        """Make room for the resources that became known since this overlay was made."""
        missing = len(self.table.resources.index) - len(self.requested)
        if missing:
            nothing = np.zeros((missing, len(self.rows)), np.int64)
            self.requested = np.vstack((self.requested, nothing))

    def pods_on(self, row: int) -> Iterator[PodInfo]:
        """The pods of this row's world."""
        below, gone = self._without_below, self._removed.get(row, ())
        for info in self.table.pods[row].values():
            if (below is None or info.priority >= below) and info.uid not in gone:
                yield info
        yield from self._added.get(row, {}).values()
