"""How many devices of a class a node has, and how many of them are taken.

NodeResourcesFit and NodeResourcesBalancedAllocation score extended resources with it. Unlike the
allocator, it looks neither at generations nor at whether pools are complete, as upstream.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from podium.api.devices import DeviceClass
from podium.api.objects import Node
from podium.devices.contents import KnownDevice
from podium.devices.inventory import DeviceInventory
from podium.devices.node_selection import node_matches
from podium.devices.pools import KnownSlice
from podium.devices.rules import DeviceRules
from podium.devices.selectors import Selectors
from podium.devices.taken import TakenDevices
from podium.errors import AllocationError


class DeviceTotals:
    """Counts the devices of classes on nodes, and keeps the counts until something changes."""

    def __init__(self, inventory: DeviceInventory, taken: TakenDevices, rules: DeviceRules) -> None:
        self._inventory = inventory
        self._taken = taken
        self._selectors = Selectors(rules)
        self._changed_pools = taken.changes()
        self._kept: dict[str, _Counts] = {}
        self._noted: DeviceClass | None = None  # the last class whose reads the inventory knows

    def on_rows(
        self, device_class: DeviceClass, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each of these rows what ``on_node`` returns for its node.

        That is how many devices of the class it has, and how many of them are taken.
        """
        self._note_reads(device_class)
        self._follow()
        counts = self._kept.get(device_class.name)
        if counts is None or counts.device_class is not device_class:
            counts = self._kept[device_class.name] = _Counts(device_class)
        counts.grow(len(self._inventory.versions))
        outdated = rows[counts.versions[rows] != self._inventory.versions[rows]]
        for row in outdated.tolist():
            node = self._inventory.node(row)
            found = (0, 0) if node is None else self.on_node(device_class, node)
            counts.total[row], counts.taken[row] = found
        counts.versions[outdated] = self._inventory.versions[outdated]
        return counts.total[rows], counts.taken[rows]

    def on_node(self, device_class: DeviceClass, node: Node) -> tuple[int, int]:
        """Return how many devices of the class the node has, and how many of them are taken.

        Both are 0 if a selector fails.
        """
        self._note_reads(device_class)
        total = taken = 0
        try:
            for given in self._inventory.slices_possible_for(node.name):
                for index, known in _devices_for(given, node):
                    if self._matches(device_class, given, index):
                        total += 1
                        taken += self._taken.is_taken(given.pool, known.name)
        except AllocationError:
            return 0, 0
        return total, taken

    def _note_reads(self, device_class: DeviceClass) -> None:
        if device_class is not self._noted:
            self._noted = device_class
            for text in _expressions(device_class):
                self._inventory.note_reads(self._selectors.attributes_read(text))

    def _follow(self) -> None:
        """Forget the counts of rows whose devices changed."""
        self._inventory.refresh()
        for pool in self._changed_pools:
            rows = np.fromiter(self._inventory.rows_of(pool), np.intp)
            for counts in self._kept.values():
                counts.versions[rows[rows < len(counts.versions)]] = -1
        self._changed_pools.clear()

    def _matches(self, device_class: DeviceClass, given: KnownSlice, index: int) -> bool:
        for text in _expressions(device_class):
            answer = self._selectors.answer_unshared(text, given.content, index)
            if answer is False:
                return False
            if answer is not True:
                raise AllocationError(answer)
        return True


def _expressions(device_class: DeviceClass) -> Iterator[str]:
    return (each.cel.expression for each in device_class.spec.selectors if each.cel is not None)


class _Counts:
    """The counts of one class by row.

    Invariant: ``versions[row]`` is the inventory's version at which the row was counted, -1 if
    something was taken of one of its pools, or given back, since then.
    """

    __slots__ = ("device_class", "taken", "total", "versions")

    def __init__(self, device_class: DeviceClass) -> None:
        self.device_class = device_class
        self.total = np.empty(0, np.int64)
        self.taken = np.empty(0, np.int64)
        self.versions = np.empty(0, np.int64)

    def grow(self, size: int) -> None:
        more = size - len(self.versions)
        if more > 0:
            self.total = np.concatenate([self.total, np.zeros(more, np.int64)])
            self.taken = np.concatenate([self.taken, np.zeros(more, np.int64)])
            self.versions = np.concatenate([self.versions, np.full(more, -1, np.int64)])


def _devices_for(given: KnownSlice, node: Node) -> Iterator[tuple[int, KnownDevice]]:
    spec = given.spec
    devices = enumerate(given.content.devices)
    if spec.per_device_node_selection:
        for index, known in devices:
            device = known.device
            if device.all_nodes or node_matches(
                node, device.node_name, device.all_nodes, device.node_selector
            ):
                yield index, known
    elif _is_for_node(given, node):
        yield from devices


def _is_for_node(given: KnownSlice, node: Node) -> bool:
    """Whether the slice is for a node; one that names no nodes at all is for every node."""
    spec = given.spec
    is_open = not spec.node_name and not spec.all_nodes and spec.node_selector is None
    return is_open or node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector)
