"""RowCounts: how many of something there are on each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.state.column import grown

_MANY = 64


class RowCounts:
    """Counts by row, in a dict for few rows and in an array for many.

    Invariants: ``total`` is the sum of all counts. While ``_sparse`` is a dict, it has exactly the
    rows with a count; once it is ``None`` (after more than ``_MANY`` rows) ``_dense`` has the
    counts.
    """

    __slots__ = ("_dense", "_sparse", "total")

    def __init__(self) -> None:
        self._sparse: dict[int, int] | None = {}
        self._dense: NDArray[np.int64] = np.zeros(0, np.int64)
        self.total = 0

    def add(self, row: int, amount: int) -> None:
        self.total += amount
        if self._sparse is None:
            if row >= len(self._dense):
                self._dense = grown(self._dense, max(row + 1, 2 * len(self._dense)), 0)
            self._dense[row] += amount
            return
        count = self._sparse.get(row, 0) + amount
        if count:
            self._sparse[row] = count
        else:
            del self._sparse[row]
        if len(self._sparse) > _MANY:
            self._densify()

    def _densify(self) -> None:
        sparse = self._sparse or {}
        self._dense = np.zeros(max(sparse) + 1, np.int64)
        for row, count in sparse.items():
            self._dense[row] = count
        self._sparse = None

    def at(self, row: int) -> int:
        if self._sparse is not None:
            return self._sparse.get(row, 0)
        return int(self._dense[row]) if row < len(self._dense) else 0

    def add_to(self, out: NDArray[Any]) -> None:
        """Add every count to ``out``, which has one element per row."""
        if self._sparse is None:
            size = min(len(out), len(self._dense))
            out[:size] += self._dense[:size]
            return
        for row, count in self._sparse.items():
            out[row] += count

    def rows(self) -> NDArray[np.intp]:
        """Return the rows with a count."""
        if self._sparse is None:
            return np.flatnonzero(self._dense)
        return np.fromiter(self._sparse, np.intp, len(self._sparse))

    def items(self) -> dict[int, int]:
        if self._sparse is not None:
            return dict(self._sparse)
        rows = np.flatnonzero(self._dense).tolist()
        return dict(zip(rows, self._dense[rows].tolist(), strict=True))
