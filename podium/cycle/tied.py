"""The nodes that share the highest total, and the choice among them.

A tie is broken by a hash of (seed, pod uid, attempt, node name): random over pods, the same in
every shell, and independent of row order and of what was kept from earlier pods.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.state.node_table import NodeTable, stable_hash

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Tied:
    """``rows`` ascend; with each stands the hash of its node's name."""

    __slots__ = ("_hashes", "rows")

    def __init__(self, rows: NDArray[np.intp], hashes: NDArray[np.uint64]) -> None:
        self.rows = rows
        self._hashes = hashes

    @classmethod
    def of(cls, table: NodeTable, rows: NDArray[np.intp]) -> Tied:
        return cls(rows, table.name_hash.take(rows))

    def __len__(self) -> int:
        return len(self.rows)

    def choose(self, key: str) -> int:
        """One of the rows, by a hash of the key and each row's name."""
        if len(self.rows) == 1:
            return self.rows.item(0)
        mixed = self._hashes ^ np.uint64(stable_hash(key))
        mixed *= _MIX  # brings every bit of the name to the top, where the maximum looks
        return self.rows.item(mixed.argmax())

    def without(self, row: int) -> Tied | None:
        """Those but this row, if it is among them; ``None`` when nobody is left."""
        place = int(self.rows.searchsorted(row))
        if place == len(self.rows) or self.rows.item(place) != row:
            return self
        if len(self.rows) == 1:
            return None
        rest = slice(place), slice(place + 1, None)
        return Tied(
            np.concatenate([self.rows[part] for part in rest]),
            np.concatenate([self._hashes[part] for part in rest]),
        )
