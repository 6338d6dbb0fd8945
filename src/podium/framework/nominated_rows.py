"""Nominated pods by row of the node table, with what they request as columns.

They are kept up to date as nominations come and go, so that an attempt does not gather them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.state.node_table import NodeTable
from podium.state.pod_info import PodInfo
from podium.state.resource_columns import PODS

PodsByNode = Mapping[str, Mapping[str, PodInfo]]  # by name of the node, then by uid

_KEPT_PRIORITIES: Final = 4


class _Sums:
    """The requests of nominated pods of priority ``least`` or more, by resource and row."""

    def __init__(self, table: NodeTable, least: int) -> None:
        self.requested: NDArray[np.int64] = np.zeros(table.resources.requested.shape, np.int64)
        self._least = least

    def add(self, amounts: list[tuple[int, int]], info: PodInfo, row: int, sign: int) -> None:
        """Add (+1) or subtract (-1) a pod, if its priority is high enough."""
        if info.priority < self._least:
            return
        for resource, amount in amounts:
            # A slice, as arrays wrap around silently where a single element warns.
            self.requested[resource : resource + 1, row] += sign * amount
        self.__dict__.pop("rows", None)

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Return the rows with such pods, in ascending order."""
        return np.flatnonzero(self.requested[PODS])


@dataclass(frozen=True, slots=True)
class NominatedPods:
    """The nominated pods that one pod must leave room for, by row.

    ``own`` is the row of the pod's own nomination with what it requests there, if the columns
    have it: it is left out of everything.
    """

    by_row: Mapping[int, Mapping[str, PodInfo]]
    sums: _Sums
    pod: Pod
    own: tuple[int, list[tuple[int, int]]] | None

    @property
    def rows(self) -> NDArray[np.intp]:
        """Return the rows that have such pods, in ascending order."""
        rows, own_row = self.sums.rows, self._row_without_others
        if own_row is None:
            return rows
        others: NDArray[np.intp] = rows[rows != own_row]
        return others

    def are_on(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the rows that have such pods."""
        has_some: NDArray[np.bool_] = self.sums.requested[PODS].take(rows) != 0
        own_row = self._row_without_others
        if own_row is not None:
            has_some &= rows != own_row
        return has_some

    @property
    def _row_without_others(self) -> int | None:
        """Return the row of the pod's own nomination, if no other pod is nominated to it."""
        if self.own is None:
            return None
        row, amounts = self.own
        # A pod that requests ``pods`` counts as more than one.
        return row if self.sums.requested[PODS, row] == dict(amounts)[PODS] else None

    def requested(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return what these pods request, by resource and row."""
        requested: NDArray[np.int64] = self.sums.requested[:, rows]
        if self.own is not None:
            row, amounts = self.own
            for resource, amount in amounts:
                requested[resource, rows == row] -= amount
        return requested

    def requested_of(self, resources: list[int], size: int) -> NDArray[np.int64]:
        """Return what these pods request of some resources, by resource and row up to ``size``."""
        requested: NDArray[np.int64] = self.sums.requested[resources, :size]
        if self.own is not None:
            row, amounts = self.own
            for resource, amount in amounts:
                if resource in resources:
                    requested[resources.index(resource), row] -= amount
        return requested

    def on(self, rows: NDArray[np.intp]) -> tuple[list[PodInfo], NDArray[np.intp]]:
        """Return these pods on some rows, and the row of each.

        The pods of a row are in the order in which they were nominated.
        """
        priority, uid = self.pod.priority, self.pod.uid
        pairs = [
            (info, row)
            for row in rows.tolist()
            for info in self.by_row.get(row, {}).values()
            if info.priority >= priority and info.uid != uid
        ]
        return [info for info, _ in pairs], np.array([row for _, row in pairs], np.intp)


class NominatedRows:
    """The nominated pods of one cluster.

    Invariants, as long as the table has the ``structure``, the capacity and the resources that it
    had when everything was gathered:

    - ``_by_row[row]`` are the pods nominated to the node of this row, by uid. Nominations to nodes
      that do not exist are nowhere.
    - ``_sums[priority]`` has the sums over those pods whose priority is at least that.

    When the table differs in one of these, everything is gathered again before the next answer.
    """

    def __init__(self, table: NodeTable) -> None:
        self.table = table
        self._by_row: dict[int, dict[str, PodInfo]] = {}
        self._sums: dict[int, _Sums] = {}
        self._gathered_for: tuple[int, ...] | None = None

    def change(self, node: str, info: PodInfo, sign: int) -> None:
        """Add (+1) or remove (-1) a nomination."""
        if self._gathered_for != self._shape():
            return
        row = self.table.live_row(node)
        if row is None:
            return
        if sign > 0:
            self._by_row.setdefault(row, {})[info.uid] = info
        else:
            del self._by_row[row][info.uid]
        amounts = self._amounts(info)
        if self._gathered_for == self._shape():  # the pod may be the first to request a resource
            for sums in self._sums.values():
                sums.add(amounts, info, row, sign)

    def ahead_of(self, pod: Pod, pods: PodsByNode, own_node: str | None) -> NominatedPods | None:
        """Return the pods that this one must leave room for; ``None`` if there are none.

        ``pods`` are all nominated pods, and ``own_node`` is the node of this pod's own nomination.
        """
        if self._gathered_for != self._shape():
            self._gather(pods)
        sums = self._sums.pop(pod.priority, None)
        if sums is None:
            sums = self._sum_up(pod.priority)
            while len(self._sums) >= _KEPT_PRIORITIES:
                del self._sums[next(iter(self._sums))]
        self._sums[pod.priority] = sums
        ahead = NominatedPods(self._by_row, sums, pod, self._own(pod, own_node))
        return ahead if len(ahead.rows) else None

    def _own(self, pod: Pod, node: str | None) -> tuple[int, list[tuple[int, int]]] | None:
        row = None if node is None else self.table.live_row(node)
        if row is None:
            return None
        info = self._by_row[row][pod.uid]
        return (row, self._amounts(info)) if info.priority >= pod.priority else None

    def _gather(self, pods: PodsByNode) -> None:
        self._by_row, self._sums = {}, {}
        for node, by_uid in pods.items():
            row = self.table.live_row(node)
            if row is not None:
                self._by_row[row] = dict(by_uid)
                for info in by_uid.values():
                    self._amounts(info)
        self._gathered_for = self._shape()

    def _sum_up(self, priority: int) -> _Sums:
        sums = _Sums(self.table, priority)
        for row, by_uid in self._by_row.items():
            for info in by_uid.values():
                sums.add(self._amounts(info), info, row, 1)
        return sums

    def _amounts(self, info: PodInfo) -> list[tuple[int, int]]:
        for name in info.requests:
            self.table.resource_index(name)
        return self.table.resources.amounts(info)

    def _shape(self) -> tuple[int, ...]:
        return (self.table.structure, *self.table.resources.requested.shape)
