"""The nodes that share the highest total, and the choice among them.

A tie is broken by a hash of (seed, pod uid, attempt), which points at one of the tied nodes in the
order of their hashed names: random over pods, the same in every shell, and independent of row order
and of what was kept from earlier pods.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.state.node_table import HashOrder, stable_hash
from podium.state.rows import Rows, table_of


class Tied:
    """Kept as positions in the order of hashed names, ascending."""

    __slots__ = ("_order", "_positions")

    def __init__(self, order: HashOrder, positions: NDArray[np.intp]) -> None:
        self._order = order
        self._positions = positions

    @classmethod
    def of(cls, nodes: Rows, is_tied: NDArray[np.bool_]) -> Tied:
        """Return the nodes that the mask marks."""
        table = table_of(nodes)
        if len(nodes) < table.size:
            by_row = np.zeros(table.size, np.bool_)
            by_row[nodes.index] = is_tied
            is_tied = by_row
        order = table.hash_order()
        return cls(order, is_tied.take(order.rows).nonzero()[0])

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def rows(self) -> NDArray[np.intp]:
        return self._order.rows.take(self._positions)

    def choose(self, key: str) -> int:
        """Return the row that a hash of the key points at."""
        number = stable_hash(key) % len(self._positions)
        return self._order.rows.item(self._positions.item(number))

    def discard(self, row: int) -> None:
        """Leave this row out, if it is among them."""
        positions, position = self._positions, self._order.position_of.item(row)
        number = int(positions.searchsorted(position))
        if number < len(positions) and positions.item(number) == position:
            positions[number:-1] = positions[number + 1 :]
            self._positions = positions[:-1]
