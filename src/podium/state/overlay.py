"""Pods that a dry run adds to and removes from some rows, without changing the columns.

Rows do not affect each other: what is changed on a row counts only when that row is evaluated. To
undo a dry run, drop its overlay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from podium.api.resources import HostPort
from podium.state.node_table import NodeTable
from podium.state.pod_info import PodInfo
from podium.state.used_ports import ChangedPorts

Amounts = NDArray[np.int64]


PodsAndRows = tuple[Sequence[PodInfo], NDArray[np.intp]]
"""Pods, each on the row at the same position."""


class _Change:
    """Pods that were added (``comes``) or removed.

    They are read when a filter looks at pods or ports: most filters look at resources only.
    """

    def __init__(self, read: Callable[[], PodsAndRows], *, comes: bool) -> None:
        self._read = read
        self.comes = comes

    @cached_property
    def pods(self) -> PodsAndRows:
        return self._read()


class Overlay:
    """Pods added to and removed from some rows, with their effect on the resource columns.

    Invariants:

    - ``requested[i, j]`` is what is added on row ``rows[j]`` to the table's requested amount of
      resource ``i``. It may have fewer resources than the table; the rest is unchanged.
    - The pods of a row are those of the table, without those of priority below ``_without_below``
      (if set), then changed by the entries of ``_log`` in order.
    - ``_ports``, if set, has the first ``_ports_applied`` entries of ``_log`` applied to it;
      ``remove_below`` resets it, and ``ports`` applies the remaining entries.
    """

    def __init__(self, table: NodeTable, rows: NDArray[np.intp]) -> None:
        self.table = table
        self.rows = rows  # ascending
        resources = len(table.resources.index)
        self.requested: NDArray[np.int64] = np.zeros((resources, len(rows)), np.int64)
        self._without_below: int | None = None
        self._log: list[_Change] = []  # applied by row when its pods are read
        self._ports: ChangedPorts | None = None
        self._ports_applied = 0  # how many entries of the log are applied to _ports

    @classmethod
    def over(cls, table: NodeTable, rows: NDArray[np.intp], below: Overlay | None) -> Overlay:
        """Return a new overlay on these rows that starts with the changes of ``below``."""
        overlay = cls(table, rows)
        if below is not None:
            overlay.requested = below.requested[:, below.position(rows)].copy()
            overlay._without_below = below._without_below
            overlay._log = list(below._log)
        return overlay

    def position(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of these rows in ``self.rows``, which must contain them."""
        if rows is self.rows:
            return np.arange(len(rows))
        return np.searchsorted(self.rows, rows)

    def remove_below(self, priority: int, pods: Iterable[PodInfo] = ()) -> None:
        """Remove all pods of lower priority from every row, in one subtraction.

        ``pods`` is not used: it is there for plugins that were written when it was.
        """
        sums = self.table.resources.requested_below(priority)
        self._widen()
        self.requested -= sums[:, self.rows]
        self._without_below = priority
        self._ports = None

    def add(
        self, infos: Sequence[PodInfo], rows: NDArray[np.intp], amounts: Amounts | None = None
    ) -> None:
        """Add each pod to its row. ``amounts`` is the result of ``amounts_of``, if known."""
        self._log.append(_Change(lambda: (infos, rows), comes=True))
        amounts = self.amounts_of(infos) if amounts is None else amounts
        np.add.at(self.requested.T, self.position(rows), amounts.T)

    def add_summed(self, requested: Amounts, read: Callable[[], PodsAndRows]) -> None:
        """Add pods that request this much, by resource and position in ``rows``.

        ``read`` returns the pods themselves; it is called only if a filter looks at them.
        """
        self._log.append(_Change(read, comes=True))
        self._widen()
        self.requested[: len(requested)] += requested

    def remove(
        self, infos: Sequence[PodInfo], rows: NDArray[np.intp], amounts: Amounts | None = None
    ) -> None:
        """Remove each pod from its row."""
        self._log.append(_Change(lambda: (infos, rows), comes=False))
        amounts = self.amounts_of(infos) if amounts is None else amounts
        np.subtract.at(self.requested.T, self.position(rows), amounts.T)

    def amounts_of(self, infos: Sequence[PodInfo]) -> Amounts:
        """Return what these pods request, by resource and pod."""
        # Pods with equal requests share one object: look at one pod for each.
        distinct = {id(info.requests): info for info in infos}
        for info in distinct.values():
            for name in info.requests:
                self.table.resource_index(name)  # a nominated pod may be the first to request it
        self._widen()
        amounts = np.zeros((len(self.requested), len(distinct)), np.int64)
        for column, info in enumerate(distinct.values()):
            for resource, amount in self.table.resources.amounts(info):
                amounts[resource, column] = amount
        columns = {identity: column for column, identity in enumerate(distinct)}
        return amounts.take([columns[id(info.requests)] for info in infos], axis=1)

    def _widen(self) -> None:
        """Add the resources that the table has got since this overlay was made."""
        missing = len(self.table.resources.index) - len(self.requested)
        if missing:
            nothing = np.zeros((missing, len(self.rows)), np.int64)
            self.requested = np.vstack((self.requested, nothing))

    def pods_on(self, row: int) -> Iterator[PodInfo]:
        """Return the pods of this row with the changes of the dry run."""
        below = self._without_below
        pods = {
            uid: info
            for uid, info in self.table.pods[row].items()
            if below is None or info.priority >= below
        }
        for change in self._log:
            infos, rows = change.pods
            for position in np.flatnonzero(rows == row).tolist():
                info = infos[position]
                if change.comes:
                    pods[info.uid] = info
                else:
                    pods.pop(info.uid, None)
        return iter(pods.values())

    @property
    def ports(self) -> Mapping[int, Collection[HostPort]]:
        """The host ports in use, for those rows whose ports this dry run changes."""
        if self._ports is None:
            self._ports, self._ports_applied = self._without_lower_ports(), 0
        for change in self._log[self._ports_applied :]:
            move = self._ports.add if change.comes else self._ports.remove
            infos, rows = change.pods
            for info, row in zip(infos, rows.tolist(), strict=True):
                if info.ports:
                    move(info.ports, row)
        self._ports_applied = len(self._log)
        return self._ports.by_row

    def _without_lower_ports(self) -> ChangedPorts:
        live, below = self.table.ports, self._without_below
        changed = ChangedPorts(live)
        if below is None or not live.by_row:
            return changed
        rows = set(self.rows.tolist())
        for info in self.table.port_users.values():
            if info.priority < below and info.row in rows:
                changed.remove(info.ports, info.row)
        return changed
