"""Host ports in use: the ports of each row, and for each port the addresses and rows that use it.

They are sets, as in kube-scheduler: if two pods on a node hold the same port, it counts as free as
soon as one of them is removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from podium.api.resources import HostPort
from podium.state.row_counts import RowCounts

if TYPE_CHECKING:
    from podium.state.node_table import NodeTable
    from podium.state.rows import Rows

Mask = NDArray[np.bool_]
_NO_HOLDERS: Mapping[str, RowCounts] = {}


class UsedPorts:
    """The ports in use in the live cluster. Only ``ClusterState`` writes here.

    Invariant: ``by_row`` and ``_holders`` contain the same ports; neither has empty entries.
    """

    def __init__(self) -> None:
        self.by_row: dict[int, set[HostPort]] = {}
        self._holders: dict[tuple[str, int], dict[str, RowCounts]] = {}

    def on(self, row: int) -> Collection[HostPort]:
        return self.by_row.get(row, ())

    def holders(self, protocol: str, number: int) -> Mapping[str, RowCounts]:
        """Return the rows where this port is used, by the address it is used on."""
        return self._holders.get((protocol, number), _NO_HOLDERS)

    def add(self, ports: Iterable[HostPort], row: int) -> None:
        used = self.by_row.setdefault(row, set())
        for port in ports:
            if port not in used:
                used.add(port)
                self._count(port, row, 1)

    def remove(self, ports: Iterable[HostPort], row: int) -> None:
        used = self.by_row.get(row, set())
        for port in ports:
            if port in used:
                used.remove(port)
                self._count(port, row, -1)
        if not used:
            self.by_row.pop(row, None)

    def _count(self, port: HostPort, row: int, amount: int) -> None:
        address, protocol, number = port
        holders = self._holders.setdefault((protocol, number), {})
        rows = holders.setdefault(address, RowCounts())
        rows.add(row, amount)
        if not rows.total:
            del holders[address]
            if not holders:
                del self._holders[protocol, number]

    def check(self) -> None:
        """Raise ``AssertionError`` when ``by_row`` and ``_holders`` differ."""
        held = {
            (row, (address, *port))
            for port, holders in self._holders.items()
            for address, rows in holders.items()
            for row in rows.items()
        }
        assert held == {(row, port) for row, ports in self.by_row.items() for port in ports}


class ChangedPorts:
    """The ports in use on the rows where a dry run changes them."""

    def __init__(self, live: UsedPorts) -> None:
        self._live = live
        self.by_row: dict[int, set[HostPort]] = {}

    def add(self, ports: Iterable[HostPort], row: int) -> None:
        self._on(row).update(ports)

    def remove(self, ports: Iterable[HostPort], row: int) -> None:
        self._on(row).difference_update(ports)

    def _on(self, row: int) -> set[HostPort]:
        used = self.by_row.get(row)
        if used is None:
            used = self.by_row[row] = set(self._live.on(row))
        return used


def port_holders(nodes: Rows, table: NodeTable, protocol: str, number: int) -> dict[str, Mask]:
    """Return masks of the nodes of a view that use this port, by the address they use it on."""
    size = table.size
    flags: dict[str, Mask] = defaultdict(lambda: np.zeros(size, np.bool_))
    for address, rows in table.ports.holders(protocol, number).items():
        flags[address][rows.rows()] = True
    if nodes.overlay is not None:
        for row, ports in nodes.overlay.ports.items():
            for flag in flags.values():
                flag[row] = False
            for address, *port in ports:
                if port == [protocol, number]:
                    flags[address][row] = True
    return {address: nodes.take(flag) for address, flag in flags.items()}
