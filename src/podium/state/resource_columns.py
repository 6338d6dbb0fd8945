"""Allocatable and requested amounts, a row of int64 per resource, a place per node.

cpu (milli), memory, ephemeral-storage and pods always have their place; another resource gets one
when a pod first requests it, and until then stands in the node objects only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.state.column import grown
from podium.state.pod_info import PodInfo

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2
PODS: Final = 3
_NATIVE: Final = ("cpu", "memory", "ephemeral-storage", "pods")


class ResourceColumns:
    """The numbers behind NodeResourcesFit. A pod counts as one of ``pods``."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {name: place for place, name in enumerate(_NATIVE)}
        self.allocatable: NDArray[np.int64] = np.zeros((len(_NATIVE), 0), np.int64)
        self.requested: NDArray[np.int64] = np.zeros((len(_NATIVE), 0), np.int64)
        self.non_zero: NDArray[np.int64] = np.zeros((2, 0), np.int64)
        self._holders = [0] * len(_NATIVE)  # how many rows have any of each
        self._below: dict[int, NDArray[np.int64]] = {}  # requested by pods below a priority

    def grow(self, capacity: int) -> None:
        self.allocatable = grown(self.allocatable, capacity, 0)
        self.requested = grown(self.requested, capacity, 0)
        self.non_zero = grown(self.non_zero, capacity, 0)
        self._below = {least: grown(sums, capacity, 0) for least, sums in self._below.items()}

    def set_allocatable(self, row: int, amounts: dict[str, int]) -> None:
        for name, place in self.index.items():
            amount = amounts.get(name, 0)
            self._holders[place] += (amount != 0) - (self.allocatable.item(place, row) != 0)
            self.allocatable[place, row] = amount

    def is_on(self, rows: int, place: int) -> bool:
        """Whether as many rows as there are nodes have any of this resource."""
        return self._holders[place] == rows

    def add_resource(self, name: str, allocatable: dict[int, int]) -> None:
        """Make room for a resource; ``allocatable`` holds its amount on each row that has it."""
        self.index[name] = len(self.index)
        capacity = self.requested.shape[1]
        row = np.zeros((1, capacity), np.int64)
        self.requested = np.vstack((self.requested, row))
        self._below = {least: np.vstack((sums, row)) for least, sums in self._below.items()}
        for place, amount in allocatable.items():
            row[0, place] = amount
        self._holders.append(int(np.count_nonzero(row)))
        self.allocatable = np.vstack((self.allocatable, row))

    def amounts(self, info: PodInfo) -> list[tuple[int, int]]:
        """What the pod adds, as (place, amount); computed once per pod."""
        if not info.columns:
            index = self.index
            info.columns = [(index[name], n) for name, n in info.requests.items() if n]
            info.columns.append((PODS, 1))
        return info.columns

    def add(self, info: PodInfo, row: int, sign: int) -> None:
        """Count a pod in (+1) or out (-1)."""
        amounts = self.amounts(info)
        for place, amount in amounts:
            _shift(self.requested, place, row, sign * amount)
        cpu, memory = info.non_zero
        _shift(self.non_zero, 0, row, sign * cpu)
        _shift(self.non_zero, 1, row, sign * memory)
        for least, sums in self._below.items():
            if info.priority < least:
                for place, amount in amounts:
                    _shift(sums, place, row, sign * amount)

    def check_holders(self) -> None:
        """Raise ``AssertionError`` when it is not known how many rows have each resource."""
        holders = np.count_nonzero(self.allocatable, axis=1).tolist()
        assert self._holders == holders, f"{holders} rows have the resources"

    def check_below(self, pods: Iterable[PodInfo]) -> None:
        """Raise ``AssertionError`` when the kept sums are not what the pods add up to."""
        placed = list(pods)
        for least, kept in self._below.items():
            assert np.array_equal(kept, self._sum_below(least, placed)), f"sums below {least}"

    def requested_below(self, priority: int, pods: Iterable[PodInfo]) -> NDArray[np.int64]:
        """What pods of lower priority request, by resource and row; kept for the last few asked."""
        sums = self._below.pop(priority, None)
        if sums is None:
            sums = self._sum_below(priority, pods)
            while len(self._below) >= _KEPT_PRIORITIES:
                del self._below[next(iter(self._below))]
        self._below[priority] = sums
        return sums

    def _sum_below(self, priority: int, pods: Iterable[PodInfo]) -> NDArray[np.int64]:
        sums = np.zeros_like(self.requested)
        for info in pods:
            if info.priority < priority:
                for place, amount in self.amounts(info):
                    _shift(sums, place, info.row, amount)
        return sums


_KEPT_PRIORITIES: Final = 4


def int64(number: int) -> int:
    """The number as columns have it: absurd sums wrap around as upstream's do."""
    return number if -_HALF <= number < _HALF else (number + _HALF) % (2 * _HALF) - _HALF


def _shift(column: NDArray[np.int64], place: int, row: int, amount: int) -> None:
    column[place, row] = int64(column.item(place, row) + amount)


_HALF: Final = 1 << 63
