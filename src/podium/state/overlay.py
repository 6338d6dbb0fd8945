"""What a dry run changes on a few rows, without touching the columns.

Each row is a world of its own: its changes are seen when that row is judged, and only then.
Rolling back is dropping the overlay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.api.resources import HostPort
from podium.state.node_table import NodeTable
from podium.state.pod_info import PodInfo
from podium.state.used_ports import ChangedPorts

Amounts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Change:
    infos: Sequence[PodInfo]
    rows: NDArray[np.intp]
    comes: bool


class Overlay:
    """Pods added to and taken from some rows, with their effect on the resource columns."""

    def __init__(self, table: NodeTable, rows: NDArray[np.intp]) -> None:
        self.table = table
        self.rows = rows  # ascending
        places = len(table.resources.index)
        self.requested: NDArray[np.int64] = np.zeros((places, len(rows)), np.int64)
        self._without_below: int | None = None
        self._log: list[_Change] = []  # worked out per row when somebody looks at its pods
        self._ports: ChangedPorts | None = None
        self._ports_follow = 0  # so many entries of the log

    @classmethod
    def over(cls, table: NodeTable, rows: NDArray[np.intp], below: Overlay | None) -> Overlay:
        """A new overlay on these rows that starts with what ``below`` says of them."""
        overlay = cls(table, rows)
        if below is not None:
            overlay.requested = below.requested[:, below.position(rows)].copy()
            overlay._without_below = below._without_below
            overlay._log = list(below._log)
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
        self._ports = None

    def add(
        self, infos: Sequence[PodInfo], rows: NDArray[np.intp], amounts: Amounts | None = None
    ) -> None:
        """Put each pod on its row; ``amounts`` as ``amounts_of`` gave them, if it was asked."""
        self._log.append(_Change(infos, rows, comes=True))
        amounts = self.amounts_of(infos) if amounts is None else amounts
        np.add.at(self.requested.T, self.position(rows), amounts.T)

    def remove(
        self, infos: Sequence[PodInfo], rows: NDArray[np.intp], amounts: Amounts | None = None
    ) -> None:
        """Take each pod off its row."""
        self._log.append(_Change(infos, rows, comes=False))
        amounts = self.amounts_of(infos) if amounts is None else amounts
        np.subtract.at(self.requested.T, self.position(rows), amounts.T)

    def amounts_of(self, infos: Sequence[PodInfo]) -> Amounts:
        """What these pods request, by resource and pod."""
        # Pods that request the same share it: look at one of each kind.
        kinds = {id(info.requests): info for info in infos}
        for info in kinds.values():
            for name in info.requests:
                self.table.resource_place(name)  # a nominated pod may be the first to ask for it
        self._widen()
        amounts = np.zeros((len(self.requested), len(kinds)), np.int64)
        for column, info in enumerate(kinds.values()):
            for place, amount in self.table.resources.amounts(info):
                amounts[place, column] = amount
        columns = {kind: column for column, kind in enumerate(kinds)}
        return amounts.take([columns[id(info.requests)] for info in infos], axis=1)

    def _widen(self) -> None:
        """Make room for the resources that became known since this overlay was made."""
        missing = len(self.table.resources.index) - len(self.requested)
        if missing:
            nothing = np.zeros((missing, len(self.rows)), np.int64)
            self.requested = np.vstack((self.requested, nothing))

    def pods_on(self, row: int) -> Iterator[PodInfo]:
        """The pods of this row's world."""
        below = self._without_below
        pods = {
            uid: info
            for uid, info in self.table.pods[row].items()
            if below is None or info.priority >= below
        }
        for change in self._log:
            for place in np.flatnonzero(change.rows == row).tolist():
                info = change.infos[place]
                if change.comes:
                    pods[info.uid] = info
                else:
                    pods.pop(info.uid, None)
        return iter(pods.values())

    @property
    def ports(self) -> Mapping[int, Collection[HostPort]]:
        """The host ports in use on the rows whose ports this dry run changes."""
        if self._ports is None:
            self._ports, self._ports_follow = self._without_lower_ports(), 0
        for change in self._log[self._ports_follow :]:
            move = self._ports.add if change.comes else self._ports.remove
            for info, row in zip(change.infos, change.rows.tolist(), strict=True):
                if info.ports:
                    move(info.ports, row)
        self._ports_follow = len(self._log)
        return self._ports.by_row

    def _without_lower_ports(self) -> ChangedPorts:
        live, below = self.table.ports, self._without_below
        changed = ChangedPorts(live)
        if below is None or not live.by_row:
            return changed
        for row in self.rows.tolist():
            for info in self.table.pods[row].values() if row in live.by_row else ():
                if info.ports and info.priority < below:
                    changed.remove(info.ports, row)
        return changed
