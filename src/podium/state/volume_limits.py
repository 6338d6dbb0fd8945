"""How many volumes of a driver each row may hold, according to its CSINode.

A column is built when a plugin first asks for its driver.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import CSINode
from podium.state.column import grown, read_only

UNLIMITED: Final = int(np.iinfo(np.int64).max)


class VolumeLimits:
    """A column of limits for each driver in use; ``UNLIMITED`` where no CSINode sets a limit."""

    def __init__(self) -> None:
        self._columns: dict[str, NDArray[np.int64]] = {}
        self._shown: dict[str, NDArray[np.int64]] = {}  # read-only views of them
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for driver, column in self._columns.items():
            self._columns[driver] = grown(column, capacity, UNLIMITED)
        self._shown.clear()

    def set(self, row: int, csi_node: CSINode | None) -> None:
        """Set the limits of a row from its CSINode; ``None`` if it has none."""
        for driver, column in self._columns.items():
            column[row] = limit(csi_node, driver)

    def column(self, driver: str, csi_nodes: Iterable[tuple[int, CSINode]]) -> NDArray[np.int64]:
        """Return the limit of each row, read-only.

        For a new driver the column is made from ``csi_nodes`` by row.
        """
        shown = self._shown.get(driver)
        if shown is None:
            if driver not in self._columns:
                column = self._columns[driver] = np.full(self._capacity, UNLIMITED, np.int64)
                for row, csi_node in csi_nodes:
                    column[row] = limit(csi_node, driver)
            shown = self._shown[driver] = read_only(self._columns[driver])
        return shown

    def check(self, csi_nodes: dict[int, CSINode]) -> None:
        """Raise ``AssertionError`` when a column differs from the CSINodes."""
        for driver, column in self._columns.items():
            expected = [limit(csi_nodes.get(row), driver) for row in range(len(column))]
            assert column.tolist() == expected, f"limits of {driver} are wrong"


def limit(csi_node: CSINode | None, driver: str) -> int:
    for each in csi_node.spec.drivers if csi_node is not None else ():
        if each.name == driver and each.allocatable and each.allocatable.count is not None:
            return each.allocatable.count
    return UNLIMITED
