"""What the CSINode of each row says about a CSI driver: its limit, and whether it is installed.

A column is built when a plugin first asks for its driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import CSINode
from podium.state.column import grown, read_only

UNLIMITED: Final = int(np.iinfo(np.int64).max)

# Whether a driver is installed: in this order, so that ``>=`` tells where it is not.
INSTALLED, NO_CSI_NODE, NOT_INSTALLED = range(3)

ValueOf = Callable[[CSINode | None, str], int]


class DriverColumns:
    """A column for each driver in use; ``value_of`` reads it from a CSINode, if there is one."""

    def __init__(self, value_of: ValueOf) -> None:
        self._value_of = value_of
        self._absent = value_of(None, "")
        self._columns: dict[str, NDArray[np.int64]] = {}
        self._shown: dict[str, NDArray[np.int64]] = {}  # read-only views of them
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for driver, column in self._columns.items():
            self._columns[driver] = grown(column, capacity, self._absent)
        self._shown.clear()

    def set(self, row: int, csi_node: CSINode | None) -> None:
        """Set the values of a row from its CSINode; ``None`` if it has none."""
        for driver, column in self._columns.items():
            column[row] = self._value_of(csi_node, driver)

    def column(self, driver: str, csi_nodes: Iterable[tuple[int, CSINode]]) -> NDArray[np.int64]:
        """Return the value of each row, read-only.

        For a new driver the column is made from ``csi_nodes`` by row.
        """
        shown = self._shown.get(driver)
        if shown is None:
            if driver not in self._columns:
                column = self._columns[driver] = np.full(self._capacity, self._absent, np.int64)
                for row, csi_node in csi_nodes:
                    column[row] = self._value_of(csi_node, driver)
            shown = self._shown[driver] = read_only(self._columns[driver])
        return shown

    def check(self, csi_nodes: dict[int, CSINode]) -> None:
        """Raise ``AssertionError`` when a column differs from the CSINodes."""
        for driver, column in self._columns.items():
            expected = [self._value_of(csi_nodes.get(row), driver) for row in range(len(column))]
            name = self._value_of.__name__
            assert column.tolist() == expected, f"{name} of {driver} is wrong"


def limit(csi_node: CSINode | None, driver: str) -> int:
    """Return how many volumes of the driver the node may hold."""
    for each in csi_node.spec.drivers if csi_node is not None else ():
        if each.name == driver and each.allocatable and each.allocatable.count is not None:
            return each.allocatable.count
    return UNLIMITED


def installation(csi_node: CSINode | None, driver: str) -> int:
    """Return whether the CSINode lists the driver, or that there is no CSINode."""
    if csi_node is None:
        return NO_CSI_NODE
    is_listed = any(each.name == driver for each in csi_node.spec.drivers)
    return INSTALLED if is_listed else NOT_INSTALLED
