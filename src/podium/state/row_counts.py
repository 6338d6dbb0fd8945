"""RowCounts: how many of something there are on each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.state.column import grown

_FEW = 16  # up to this many rows are added faster one by one
_MANY = 64
# An array of so many rows takes as much memory as the dict of one row. A cluster of 50,000 nodes
# has thousands of groups of a hundred pods: as arrays they would take gigabytes.
_ROWS_PER_ENTRY = 32

_NOTHING: NDArray[np.int64] = np.zeros(0, np.int64)  # never written to


class RowCounts:
    """Counts by row, in a dict for few rows and in an array for many.

    Invariants: ``total`` is the sum of all counts. While ``_sparse`` is a dict, it has exactly the
    rows with a count; once it is ``None`` ``_dense`` has the counts. It becomes an array with more
    than ``_MANY`` rows that are not few among all rows; ``_limit`` is the size of the dict at which
    to look at that again.
    """

    __slots__ = ("_dense", "_limit", "_sparse", "total")

    def __init__(self) -> None:
        self._sparse: dict[int, int] | None = {}
        self._dense = _NOTHING
        self._limit = _MANY
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
        if len(self._sparse) > self._limit:
            self._densify(self._sparse)

    def add_all(self, other: RowCounts, sign: int) -> None:
        """Add (+1) or subtract (-1) all counts of another one."""
        if other._sparse is None:
            self._add_dense(other._dense, sign)
        elif self._sparse == {} and sign > 0:  # the usual case, and a copy is faster
            self._sparse, self._limit = other._sparse.copy(), other._limit
        else:
            for row, count in other._sparse.items():
                self.add(row, sign * count)
            return
        self.total += sign * other.total

    def _add_dense(self, counts: NDArray[np.int64], sign: int) -> None:
        if self._sparse is not None:
            self._store_in_array(self._sparse, max(self._sparse, default=-1) + 1)
        if len(self._dense) < len(counts):
            self._dense = grown(self._dense, len(counts), 0)
        self._dense[: len(counts)] += sign * counts

    def _densify(self, sparse: dict[int, int]) -> None:
        """Store the counts in an array, unless that would be nearly empty."""
        size = max(sparse) + 1
        if size > _ROWS_PER_ENTRY * len(sparse):
            self._limit = 2 * len(sparse)
            return
        self._store_in_array(sparse, size)

    def _store_in_array(self, sparse: dict[int, int], size: int) -> None:
        self._dense = np.zeros(size, np.int64)
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
        elif len(self._sparse) > _FEW:
            out[self.rows()] += np.fromiter(self._sparse.values(), np.int64, len(self._sparse))
        else:
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
