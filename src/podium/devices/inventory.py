"""The devices of all nodes, kept up to date from resource slices and nodes.

Nodes are known by row, as elsewhere in podium. Nodes that see the same pools share one
``NodeDevices``, and each of these has a number; ``numbers`` has the number of each row.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from podium.api.devices import ResourceSlice
from podium.api.objects import Node
from podium.devices.candidates import Candidate, candidates_in
from podium.devices.contents import Contents
from podium.devices.pools import KnownSlice, Pool, build_pool, members_of, targets_of
from podium.devices.rules import DeviceRules
from podium.devices.taken import PoolKey
from podium.errors import AllocationError

K = TypeVar("K")
Numbers = NDArray[np.intp]

NO_NODE: Final = -1


class Pattern:
    """Stands for the devices of nodes that differ only in names; compared by identity."""

    __slots__ = ("__weakref__",)


class NodeDevices:
    """The pools that a node sees, in the order in which the search tries them.

    ``error`` says why they cannot be determined, if so. Devices with a number also have their
    pattern, and ``rows`` is how many rows have them.
    """

    __slots__ = ("_candidates", "error", "number", "pattern", "pools", "rows")

    def __init__(self, pools: tuple[Pool, ...], error: str = "") -> None:
        self.pools = pools
        self.error = error
        self.pattern = _NO_PATTERN
        self.number = NO_NODE
        self.rows = 0
        self._candidates: tuple[Candidate, ...] | None = None

    @property
    def identity(self) -> object:
        """Equal for devices with the same pools.

        Pools are compared by identity; this object keeps them alive.
        """
        return self.error or tuple(map(id, self.pools))

    @property
    def content_key(self) -> object:
        """Equal for devices that differ only in names."""
        return self.error or tuple(pool.content_key for pool in self.pools)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The devices of all usable pools, in the order of the search."""
        if self._candidates is None:
            self._candidates = candidates_in(self.pools)
        return self._candidates

    @property
    def has_invalid_pool(self) -> bool:
        return any(pool.invalid_reason for pool in self.pools)


_NO_PATTERN: Final = Pattern()


class _Slices:
    """The slices, by name, by pool, and by the node that they name.

    Each slice is in ``by_name`` and ``by_pool``, and either in ``of_node`` or in ``of_many``.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, KnownSlice] = {}
        self.by_pool: dict[PoolKey, dict[str, KnownSlice]] = {}
        self.of_node: dict[str, dict[str, KnownSlice]] = {}
        self.of_many: dict[str, KnownSlice] = {}  # for all nodes, or for selected ones

    def add(self, given: KnownSlice, node_name: str) -> None:
        self.by_name[given.name] = given
        self.by_pool.setdefault(given.pool, {})[given.name] = given
        group = self.of_node.setdefault(node_name, {}) if node_name else self.of_many
        group[given.name] = given

    def remove(self, given: KnownSlice, node_name: str) -> None:
        del self.by_name[given.name]
        _discard(self.by_pool, given.pool, given.name)
        if node_name:
            _discard(self.of_node, node_name, given.name)
        else:
            del self.of_many[given.name]

    def possible_for(self, node_name: str) -> Iterator[KnownSlice]:
        """Yield the slices that could be for a node."""
        yield from self.of_node.get(node_name, {}).values()
        yield from self.of_many.values()


def _discard(groups: dict[K, dict[str, KnownSlice]], key: K, name: str) -> None:
    group = groups[key]
    del group[name]
    if not group:
        del groups[key]


class DeviceInventory:
    """The devices that each node can use.

    Invariants: after ``refresh``, ``numbers[row]`` is the number of the devices of the node on that
    row, NO_NODE without a node; ``devices_by_number`` has an object exactly for the numbers that
    rows have; ``numbers_by_pool`` has these numbers for each pool. ``changed`` collects the
    numbers that were given to other devices; ``Groups.refresh`` empties it. ``version`` grows when
    rows are determined anew, and ``versions[row]`` is the one at which that row last was.
    """

    def __init__(self, rules: DeviceRules) -> None:
        self.rules = rules
        self._contents = Contents(rules)
        self._slices = _Slices()
        self._nodes: list[Node | None] = []
        self._rows: dict[str, int] = {}
        self._pools: WeakValueDictionary[object, Pool] = WeakValueDictionary()
        self._patterns: WeakValueDictionary[object, Pattern] = WeakValueDictionary()
        self._known: dict[object, NodeDevices] = {}
        self._next: Callable[[], int] = itertools.count().__next__
        self._outdated: set[int] = set()
        self._is_all_outdated = False
        self._free_numbers: list[int] = []
        self._numbers: Numbers = np.empty(0, np.intp)
        self.devices_by_number: list[NodeDevices | None] = []
        self.numbers_by_pool: dict[PoolKey, set[int]] = {}
        self.changed: set[int] = set()
        self.version = 0
        self.versions: NDArray[np.int64] = np.empty(0, np.int64)

    # --- what changes ----------------------------------------------------------------------------

    def set_slice(self, given: ResourceSlice) -> None:
        """Add a slice, or replace the one with its name."""
        old = self._slices.by_name.get(given.name)
        if old is not None:
            if old.spec == given.spec:
                return
            self._drop(old)
        known = KnownSlice(self._next(), given.name, given.spec, self._contents.of(given.spec))
        self._slices.add(known, known.only_node(self.rules))
        self._outdate(known)

    def remove_slice(self, name: str) -> None:
        """Remove a slice; nothing happens if it is not known."""
        old = self._slices.by_name.get(name)
        if old is not None:
            self._drop(old)

    def note_reads(self, attributes: frozenset[str] | None) -> None:
        """Say that searches read these attributes; ``None`` means all.

        It must be said before a search: devices that differ in other attributes may be taken for
        equal. If it is new, all contents are determined again.
        """
        if not self._contents.note_reads(attributes):
            return
        old, self._slices = self._slices, _Slices()
        for each in old.by_name.values():
            known = KnownSlice(self._next(), each.name, each.spec, self._contents.of(each.spec))
            self._slices.add(known, known.only_node(self.rules))
        self._is_all_outdated = True

    def set_node(self, row: int, node: Node | None) -> None:
        """Say which node is on a row; None if there is none any more."""
        if row >= len(self._nodes):
            self._nodes.extend([None] * (row + 1 - len(self._nodes)))
        old = self._nodes[row]
        self._nodes[row] = node
        if old is not None and self._rows.get(old.name) == row:
            del self._rows[old.name]
        if node is not None:
            self._rows[node.name] = row
            if old is not None and (old.name, old.labels) == (node.name, node.labels):
                return
        self._outdated.add(row)

    # --- what is asked ---------------------------------------------------------------------------

    def node(self, row: int) -> Node | None:
        return self._nodes[row] if row < len(self._nodes) else None

    @property
    def numbers(self) -> Numbers:
        """Return the number of the devices of each row, up to date."""
        self.refresh()
        return self._numbers

    def devices_on(self, row: int) -> NodeDevices:
        """Return the devices of the node on a row."""
        found = self.devices_by_number[int(self.numbers[row])]
        assert found is not None, f"row {row} has no node"
        return found

    def devices_of(self, node: Node) -> NodeDevices:
        """Return the devices of a node, whether it has a row or not."""
        try:
            pools = tuple(sorted(self._pools_of(node), key=_order))
        except AllocationError as error:
            return NodeDevices((), str(error))
        return NodeDevices(pools)

    def slices_possible_for(self, node_name: str) -> Iterable[KnownSlice]:
        """Return the slices that may be for a node; the caller checks each."""
        return self._slices.possible_for(node_name)

    def rows_of(self, pool: PoolKey) -> Iterable[int]:
        """Return the rows of the nodes that could use a pool: all rows if it is for many."""
        names = {each.only_node(self.rules) for each in self._slices.by_pool.get(pool, {}).values()}
        if "" in names:
            return range(len(self._nodes))
        return [self._rows[name] for name in names if name in self._rows]

    def refresh(self) -> None:
        """Determine the devices of the rows that are outdated."""
        if self._is_all_outdated:
            rows: Sequence[int] = range(len(self._nodes))
        elif self._outdated:
            rows = sorted(self._outdated)
        else:
            return
        self.version += 1
        self._outdated.clear()
        self._is_all_outdated = False
        if len(self._nodes) > len(self._numbers):
            more = max(len(self._nodes), 2 * len(self._numbers)) - len(self._numbers)
            self._numbers = np.concatenate([self._numbers, np.full(more, NO_NODE, np.intp)])
            self.versions = np.concatenate([self.versions, np.zeros(more, np.int64)])
        for row in rows:
            self._assign(row)
            self.versions[row] = self.version

    # --- inside ----------------------------------------------------------------------------------

    def _drop(self, old: KnownSlice) -> None:
        self._slices.remove(old, old.only_node(self.rules))
        self._outdate(old)

    def _outdate(self, changed: KnownSlice) -> None:
        """Whether a pool is complete depends on all its slices, so all their nodes are outdated."""
        if self._is_all_outdated:
            return
        for each in (changed, *self._slices.by_pool.get(changed.pool, {}).values()):
            name = each.only_node(self.rules)
            if not name:
                self._is_all_outdated = True
                return
            row = self._rows.get(name)
            if row is not None:
                self._outdated.add(row)

    def _pools_of(self, node: Node) -> Iterator[Pool]:
        for key, targets in targets_of(
            node, self._slices.possible_for(node.name), self.rules
        ).items():
            members = members_of(targets, self._slices.by_pool[key].values(), self.rules)
            if members is None:
                continue
            identity = key, members.key
            pool = self._pools.get(identity)
            if pool is None:
                pool = self._pools[identity] = build_pool(key, members, self.rules)
            yield pool

    def _assign(self, row: int) -> None:
        node = self._nodes[row]
        old = int(self._numbers[row])
        new = NO_NODE if node is None else self._number(self.devices_of(node))
        self._numbers[row] = new
        if old != NO_NODE:
            self._release(old)

    def _number(self, devices: NodeDevices) -> int:
        known = self._known.setdefault(devices.identity, devices)
        if not known.rows:
            if not self._free_numbers:
                self._free_numbers.append(len(self.devices_by_number))
                self.devices_by_number.append(None)
            known.number = self._free_numbers.pop()
            known.pattern = self._patterns.setdefault(known.content_key, Pattern())
            self.devices_by_number[known.number] = known
            self.changed.add(known.number)
            for pool in known.pools:
                self.numbers_by_pool.setdefault(pool.key, set()).add(known.number)
        known.rows += 1
        return known.number

    def _release(self, number: int) -> None:
        known = self.devices_by_number[number]
        assert known is not None, f"number {number} is not in use"
        known.rows -= 1
        if known.rows:
            return
        del self._known[known.identity]
        self.devices_by_number[number] = None
        self._free_numbers.append(number)
        for pool in known.pools:
            numbers = self.numbers_by_pool[pool.key]
            numbers.discard(number)
            if not numbers:
                del self.numbers_by_pool[pool.key]


def _order(pool: Pool) -> tuple[bool, PoolKey]:
    """Pools in which a device has binding conditions come last."""
    return pool.has_conditions, pool.key
