"""Allocatable and requested amounts: int64 arrays by resource and row.

cpu (milli), memory, ephemeral-storage and pods are always there. Another resource is added when a
pod first requests it; until then its amounts are in the node objects only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.state.column import grown
from podium.state.pod_columns import PodColumns
from podium.state.pod_info import PodInfo

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2
PODS: Final = 3
_POD: Final = "pods"
_NATIVE: Final = ("cpu", "memory", "ephemeral-storage", _POD)

# Below this, a hundred times an amount is a whole number that float64 has exactly (below 2**53).
# Of two such numbers the quotient of floats, truncated, is the quotient of integers: one that is
# not whole is further from the next whole number than rounding moves it.
EXACT_BELOW: Final = 1 << 46

Floats = NDArray[np.float64]


class FloatColumns(NamedTuple):
    """Amounts of cpu (0) and memory (1) by row, as float64: it divides five times as fast.

    ``spare`` is a hundred times what ``non_zero`` leaves of ``allocatable``.
    """

    allocatable: Floats
    requested: Floats
    spare: Floats


class ResourceColumns:
    """What NodeResourcesFit reads. Each pod counts as 1 of the resource ``pods``.

    Invariants:

    - ``index[name]`` is the first index into ``allocatable``, ``requested`` and the arrays of
      ``_below``; these all have the same shape. ``non_zero`` has only cpu (0) and memory (1).
    - ``requested`` and ``non_zero`` are sums over the pods of each row; ``_below[p]`` is the same
      for pods with a priority below ``p``. ``add`` changes all of them together.
    - ``placed`` has the same amounts for each pod.
    - ``_holders[i]`` is the number of rows where ``allocatable[i]`` is not 0.
    - ``_floats`` has the same amounts, except for the rows in ``_changed_rows``, for as long as
      ``_are_floats_exact``: until an amount of cpu or memory reaches ``EXACT_BELOW``.
    """

    def __init__(self) -> None:
        self.index: dict[str, int] = {name: number for number, name in enumerate(_NATIVE)}
        self.allocatable: NDArray[np.int64] = np.zeros((len(_NATIVE), 0), np.int64)
        self.requested: NDArray[np.int64] = np.zeros((len(_NATIVE), 0), np.int64)
        self.non_zero: NDArray[np.int64] = np.zeros((2, 0), np.int64)
        self.placed = PodColumns(len(_NATIVE))
        self._floats = FloatColumns(np.zeros((2, 0)), np.zeros((2, 0)), np.zeros((2, 0)))
        self._changed_rows: set[int] = set()
        self._are_floats_exact = True
        self._holders = [0] * len(_NATIVE)  # how many rows have each resource
        self._below: dict[int, NDArray[np.int64]] = {}  # requested by pods below a priority
        # By the id of the requests, which are kept with them so that no other object gets it.
        self._amounts: dict[int, tuple[dict[str, int], list[tuple[int, int]]]] = {}

    def grow(self, capacity: int) -> None:
        self.allocatable = grown(self.allocatable, capacity, 0)
        self.requested = grown(self.requested, capacity, 0)
        self.non_zero = grown(self.non_zero, capacity, 0)
        self._floats = FloatColumns(*[grown(floats, capacity, 0.0) for floats in self._floats])
        self._below = {least: grown(sums, capacity, 0) for least, sums in self._below.items()}

    def set_allocatable(self, row: int, amounts: dict[str, int]) -> None:
        for name, resource in self.index.items():
            amount = amounts.get(name, 0)
            self._holders[resource] += (amount != 0) - (self.allocatable.item(resource, row) != 0)
            self.allocatable[resource, row] = amount
        self._changed_rows.add(row)

    def is_on(self, rows: int, resource: int) -> bool:
        """Return whether exactly this many rows have the resource."""
        return self._holders[resource] == rows

    def add_resource(self, name: str, allocatable: dict[int, int]) -> None:
        """Add a resource; ``allocatable`` has its amount by row, for rows that have any."""
        self.index[name] = len(self.index)
        capacity = self.requested.shape[1]
        amounts = np.zeros((1, capacity), np.int64)
        self.requested = np.vstack((self.requested, amounts))
        self._below = {least: np.vstack((sums, amounts)) for least, sums in self._below.items()}
        self.placed.add_resource()
        for row, amount in allocatable.items():
            amounts[0, row] = amount
        self._holders.append(int(np.count_nonzero(amounts)))
        self.allocatable = np.vstack((self.allocatable, amounts))

    def amounts(self, info: PodInfo) -> list[tuple[int, int]]:
        """Return what the pod adds as (resource index, amount), computed once per pod.

        No resource is named twice: a pod that requests ``pods`` counts as one more than that.
        """
        if not info.columns:
            requests = info.requests
            kept = self._amounts.get(id(requests))
            if kept is None or kept[0] is not requests:
                kept = self._worked_out(requests)
            info.columns = kept[1]
        return info.columns

    def _worked_out(self, requests: dict[str, int]) -> tuple[dict[str, int], list[tuple[int, int]]]:
        """Keep the amounts of these requests: equal pods share both."""
        index = self.index
        amounts = [(index[name], n) for name, n in requests.items() if n and name != _POD]
        if len(self._amounts) >= _KEPT_AMOUNTS:
            self._amounts.clear()
        kept = self._amounts[id(requests)] = (
            requests,
            [*amounts, (PODS, int64(1 + requests.get(_POD, 0)))],
        )
        return kept

    def add(self, info: PodInfo, row: int, sign: int) -> None:
        """Add (+1) or subtract (-1) a pod."""
        amounts = self.amounts(info)
        if sign > 0:
            self.placed.add(info, row, amounts)
        else:
            self.placed.remove(info)
        self._changed_rows.add(row)
        for resource, amount in amounts:
            _shift(self.requested, resource, row, sign * amount)
        cpu, memory = info.non_zero
        _shift(self.non_zero, 0, row, sign * cpu)
        _shift(self.non_zero, 1, row, sign * memory)
        for least, sums in self._below.items():
            if info.priority < least:
                for resource, amount in amounts:
                    _shift(sums, resource, row, sign * amount)

    def add_all(self, infos: Sequence[PodInfo]) -> None:
        """Add pods that have their rows, as ``add`` does one by one."""
        rows = np.fromiter((info.row for info in infos), np.intp, len(infos))
        amounts = self._amounts_of_all(infos)
        self.placed.add_all(infos, rows, amounts)
        self._changed_rows.update(rows.tolist())
        for column, added in zip(self.requested, amounts, strict=True):
            np.add.at(column, rows, added)  # sums wrap around, as ``int64`` does
        non_zero = np.array([info.non_zero for info in infos], np.int64).reshape(-1, 2)
        for column, added in zip(self.non_zero, non_zero.T, strict=True):
            np.add.at(column, rows, added)
        self._below.clear()

    def _amounts_of_all(self, infos: Sequence[PodInfo]) -> NDArray[np.int64]:
        """Return what the pods add, by resource and pod. Equal pods share their amounts."""
        distinct: dict[int, int] = {}  # by the id of the amounts
        lists: list[list[tuple[int, int]]] = []
        which = np.zeros(len(infos), np.intp)
        for position, info in enumerate(infos):
            found = self.amounts(info)
            number = distinct.setdefault(id(found), len(lists))
            if number == len(lists):
                lists.append(found)
            which[position] = number
        columns = np.zeros((len(self.index), len(lists)), np.int64)
        for number, found in enumerate(lists):
            for resource, amount in found:
                columns[resource, number] = amount
        return columns[:, which]

    def floats(self) -> FloatColumns | None:
        """Return cpu and memory as floats; ``None`` when these are not exact."""
        if len(self._changed_rows) > _MANY_ROWS:
            self._update_all_floats()
            self._changed_rows.clear()
        elif self._changed_rows:
            for row in self._changed_rows:
                self._update_floats(row)
            self._changed_rows.clear()
        return self._floats if self._are_floats_exact else None

    def _update_floats(self, row: int) -> None:
        allocatable, requested, spare = self._floats
        for resource in (CPU, MEMORY):
            has, uses = self.allocatable.item(resource, row), self.requested.item(resource, row)
            non_zero = self.non_zero.item(resource, row)
            allocatable[resource, row] = has
            requested[resource, row] = uses
            spare[resource, row] = 100 * (has - non_zero)
            # What has wrapped around is negative.
            if has >= EXACT_BELOW or not (0 <= uses < EXACT_BELOW and 0 <= non_zero < EXACT_BELOW):
                self._are_floats_exact = False

    def _update_all_floats(self) -> None:
        """Do the same for all rows: after the first list row by row takes 40 ms."""
        has, uses, non_zero = self.allocatable[:2], self.requested[:2], self.non_zero
        self._floats.allocatable[:] = has
        self._floats.requested[:] = uses
        self._floats.spare[:] = 100 * (has - non_zero)
        if max(has.max(), uses.max(), non_zero.max()) >= EXACT_BELOW:
            self._are_floats_exact = False
        if min(uses.min(), non_zero.min()) < 0:
            self._are_floats_exact = False

    def check_floats(self) -> None:
        """Raise ``AssertionError`` when floats differ from the amounts they stand for."""
        if self.floats() is None:
            return
        allocatable, requested = self.allocatable[:2], self.requested[:2]
        amounts = allocatable, requested, 100 * (allocatable - self.non_zero)
        for name, floats, exact in zip(FloatColumns._fields, self._floats, amounts, strict=True):
            assert np.array_equal(floats, exact), f"{name} as floats is not the same"

    def check_holders(self) -> None:
        """Raise ``AssertionError`` when ``_holders`` differs from ``allocatable``."""
        holders = np.count_nonzero(self.allocatable, axis=1).tolist()
        assert self._holders == holders, f"resources are on {holders} rows, not {self._holders}"

    def check_pods(self, pods: Collection[PodInfo]) -> None:
        """Raise ``AssertionError`` when ``placed`` or ``_below`` differs from the pods."""
        self.placed.check(pods)
        for info in pods:
            amounts = dict.fromkeys(range(len(self.index)), 0)
            for resource, amount in self.amounts(info):
                amounts[resource] += amount
            assert self.placed.amounts[:, info.slot].tolist() == [*amounts.values()], info.key
        for least, kept in self._below.items():
            sums = self.placed.sum_below(least, kept.shape)
            assert np.array_equal(kept, sums), f"sums below {least}"

    def requested_below(self, priority: int) -> NDArray[np.int64]:
        """Return what pods of lower priority request, by resource and row.

        The sums of the last few priorities are kept up to date, as preemption asks for them again.
        """
        sums = self._below.pop(priority, None)
        if sums is None:
            sums = self.placed.sum_below(priority, self.requested.shape)
            while len(self._below) >= _KEPT_PRIORITIES:
                del self._below[next(iter(self._below))]
        self._below[priority] = sums
        return sums


_KEPT_PRIORITIES: Final = 4
_KEPT_AMOUNTS: Final = 4096
_MANY_ROWS: Final = 100


def int64(number: int) -> int:
    """Wrap a number around to 64 bits, as kube-scheduler's sums do."""
    return number if -_HALF <= number < _HALF else (number + _HALF) % (2 * _HALF) - _HALF


def _shift(column: NDArray[np.int64], resource: int, row: int, amount: int) -> None:
    column[resource, row] = int64(column.item(resource, row) + amount)


_HALF: Final = 1 << 63
