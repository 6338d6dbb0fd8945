"""The cluster as a table: a row per node, a column per property that plugins read.

A node keeps its row as long as it exists. A row that has pods but no node object is a ghost: its
pods were seen before their node, or are left after it was deleted. No view of candidates contains a
ghost.
"""

from __future__ import annotations

from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.api import resources
from podium.api.nodes import HOSTNAME, ZONE
from podium.api.objects import Node, Taints, validate
from podium.errors import InvalidQuantity, StaleRow
from podium.state.aspects import Aspect
from podium.state.column import Interned, grown
from podium.state.image_columns import ImageColumns, Images
from podium.state.label_columns import LabelColumn, LabelColumns
from podium.state.node_order import NodeOrder, zone_of
from podium.state.pod_info import PodInfo
from podium.state.resource_columns import ResourceColumns
from podium.state.used_ports import UsedPorts

_FIRST_CAPACITY = 64
_USUAL_LABELS = (HOSTNAME, ZONE)  # of spreading by default


class NodeRef(NamedTuple):
    """A reference to a node's row. ``resolve`` raises ``StaleRow`` once the node is gone."""

    row: int
    epoch: int
    name: str


class HashOrder(NamedTuple):
    """The nodes ordered by a hash of their names, which does not depend on when they joined."""

    rows: NDArray[np.intp]
    position_of: NDArray[np.intp]  # by row; -1 where there is no node


class NodeTable:
    """The columns by row. Only ``ClusterState`` writes here.

    Invariants:

    - ``live[row]`` is true if and only if ``nodes[row]`` is a node. On all
      other rows the node's properties are empty: no labels, no taints, nothing allocatable.
    - ``_row_of[names[row]] == row`` for live rows and ghosts. A row that is neither (no node, no
      pods) is in ``_retired`` or ``_reusable``, and its name is empty.
    - ``_epochs[row]`` grows when the row loses its node, which makes a ``NodeRef`` to it stale.
    - ``structure`` grows whenever the set of live rows changes. ``_live_rows``, ``_hash_order``
      and ``_names_by_row`` are caches for the current set, or ``None``.
    - All arrays have ``capacity`` elements, of which the first ``size`` are used.
    """

    def __init__(self) -> None:
        self.size = 0  # rows used so far, including ghosts and retired rows
        self.names: list[str] = []
        self.nodes: list[Node | None] = []
        self.pods: list[dict[str, PodInfo]] = []  # by uid
        self.live: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.unschedulable: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.name_hash: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self.taints: Interned[Taints] = Interned(())
        self.features: Interned[tuple[str, ...]] = Interned(())
        self.zones: Interned[str] = Interned("")
        self.resources = ResourceColumns()
        self.labels = LabelColumns()
        for key in _USUAL_LABELS:  # filling a column while nodes are added delays no cycle
            self.label_column(key)
        self.ports = UsedPorts()
        self.port_users: dict[str, PodInfo] = {}  # the placed pods with host ports, by uid
        self.annotations = LabelColumns(attrgetter("annotations"))
        self.images = ImageColumns()
        self.order = NodeOrder()
        self.structure = 0  # grows when the set of live rows changes
        self._row_of: dict[str, int] = {}
        self._epochs: list[int] = []
        self._retired: list[int] = []
        self._reusable: list[int] = []
        self._live_rows: NDArray[np.intp] | None = None
        self._hash_order: HashOrder | None = None
        self._names_by_row: tuple[str, ...] | None = None

    @property
    def capacity(self) -> int:
        return len(self.live)

    def row_of(self, name: str) -> int | None:
        """Return the row of this node name, which may be a ghost."""
        return self._row_of.get(name)

    def live_row(self, name: str) -> int | None:
        row = self._row_of.get(name)
        return row if row is not None and self.live[row] else None

    def live_rows(self) -> NDArray[np.intp]:
        """Return the rows of existing nodes in ascending order."""
        if self._live_rows is None:
            self._live_rows = np.flatnonzero(self.live[: self.size])
            self._live_rows.flags.writeable = False  # views share it
        return self._live_rows

    def names_by_row(self) -> tuple[str, ...]:
        """Return the names of all rows as of now; the same tuple until a node comes or goes."""
        if self._names_by_row is None:
            self._names_by_row = tuple(self.names)
        return self._names_by_row

    def rows_in_order(self) -> NDArray[np.intp]:
        """Return the rows of existing nodes in kube-scheduler's order."""
        names = self.order.names()
        return np.fromiter(map(self._row_of.__getitem__, names), np.intp, len(names))

    def hash_order(self) -> HashOrder:
        if self._hash_order is None:
            live = self.live_rows()
            rows = live.take(self.name_hash.take(live).argsort())
            position_of = np.full(self.size, -1, np.intp)
            position_of[rows] = np.arange(len(rows))
            self._hash_order = HashOrder(rows, position_of)
        return self._hash_order

    def ref(self, row: int) -> NodeRef:
        return NodeRef(row, self._epochs[row], self.names[row])

    def resolve(self, ref: NodeRef) -> int:
        if self._epochs[ref.row] != ref.epoch:
            raise StaleRow(ref.name)
        return ref.row

    def label_column(self, key: str) -> LabelColumn:
        return self.labels.column(key, self.nodes)

    def annotation_column(self, key: str) -> LabelColumn:
        return self.annotations.column(key, self.nodes)

    def resource_index(self, name: str) -> int:
        """Return the index of a resource in the columns, which are extended if it is new."""
        index = self.resources.index.get(name)
        if index is None:
            pairs = ((row, node) for row, node in enumerate(self.nodes) if node is not None)
            held = {row: resources.allocatable(node).get(name, 0) for row, node in pairs}
            self.resources.add_resource(name, held)
            index = self.resources.index[name]
        return index

    def ensure_row(self, name: str) -> int:
        """Return the row of this node name; a new row is a ghost until ``set_node``."""
        row = self._row_of.get(name)
        if row is None:
            row = self._row_of[name] = self._new_row()
            self.names[row] = name
            self.name_hash[row] = stable_hash(name)
        return row

    def set_node(self, row: int, node: Node) -> int:
        """Write the node's columns; return the aspects that changed."""
        old = self.nodes[row]
        changed = _difference(old, node)
        self.nodes[row] = node
        if old is None:
            self.order.add(node)
            self.live[row] = True
            self._structure_changed()
        elif changed & Aspect.LABELS:
            self.order.update(node)
        if changed & Aspect.RESOURCES:
            self.resources.set_allocatable(row, resources.allocatable(node))
        if changed & Aspect.LABELS:
            self.labels.set(row, node.labels)
            self.zones.set(row, zone_of(node))
        if changed & Aspect.TAINTS:
            self.taints.set(row, node.spec.taints)
            self.unschedulable[row] = node.spec.unschedulable
        if changed & Aspect.FEATURES:
            self.features.set(row, node.status.declared_features)
        if changed & Aspect.IMAGES:
            self.images.set(row, _images(old), node.status.images)
        if changed & Aspect.NODE:
            self.annotations.set(row, node.annotations)
        return changed

    def clear_node(self, row: int) -> None:
        """Empty the columns of a deleted node. With pods left the row becomes a ghost."""
        self.images.set(row, _images(self.nodes[row]), ())
        self.nodes[row] = None
        self.live[row] = False
        self.order.remove(self.names[row])
        self.resources.set_allocatable(row, {})
        self.labels.set(row, {})
        self.annotations.set(row, {})
        self.zones.set(row, "")
        self.taints.set(row, ())
        self.unschedulable[row] = False
        self.features.set(row, ())
        self._epochs[row] += 1
        self._structure_changed()
        self.retire_if_empty(row)

    def retire_if_empty(self, row: int) -> None:
        """Free a row without node and pods.

        Retired rows become reusable in batches, so that a row does not change its node at once.
        """
        if self.live[row] or self.pods[row]:
            return
        del self._row_of[self.names[row]]
        self.names[row] = ""
        self._retired.append(row)
        if len(self._retired) > max(_FIRST_CAPACITY, self.size // 4):
            self._reusable += self._retired
            self._retired = []

    def _new_row(self) -> int:
        if self._reusable:
            return self._reusable.pop()
        row = self.size
        if row == self.capacity:
            self._grow(max(_FIRST_CAPACITY, 2 * row))
        self.size += 1
        self._hash_order = None  # it has no element for this row
        self.names.append("")
        self.nodes.append(None)
        self.pods.append({})
        self._epochs.append(0)
        return row

    def _grow(self, capacity: int) -> None:
        self.live = grown(self.live, capacity, False)
        self.unschedulable = grown(self.unschedulable, capacity, False)
        self.name_hash = grown(self.name_hash, capacity, 0)
        self.taints.grow(capacity)
        self.features.grow(capacity)
        self.zones.grow(capacity)
        self.resources.grow(capacity)
        self.labels.grow(capacity)
        self.annotations.grow(capacity)

    def _structure_changed(self) -> None:
        self.structure += 1
        self._live_rows = None
        self._hash_order = None
        self._names_by_row = None


def stable_hash(text: str) -> int:
    """Return a 64-bit hash that is the same in every process."""
    data = text.encode(errors="surrogatepass")  # JSON strings may hold lone surrogates
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def check_allocatable(node: Node) -> None:
    """Raise if the node's allocatable amounts are invalid; call it before anything is written."""
    try:
        allocatable = resources.allocatable(node)
    except InvalidQuantity:
        validate(node)  # its error names the field and all other problems
        raise
    if min(allocatable.values(), default=0) < 0:
        validate(node)


def _difference(old: Node | None, new: Node) -> int:
    """Return the aspects in which two versions of a node differ; 0 for a heartbeat."""
    if old is None:
        return Aspect.ALL
    before, after = old.status, new.status
    return (
        (Aspect.RESOURCES if before.allocatable != after.allocatable else 0)
        | (Aspect.LABELS if old.labels != new.labels else 0)
        | (Aspect.TAINTS if _taints(old) != _taints(new) else 0)
        | (Aspect.IMAGES if before.images != after.images else 0)
        | (Aspect.FEATURES if before.declared_features != after.declared_features else 0)
        | (Aspect.NODE if old.annotations != new.annotations or _status(old) != _status(new) else 0)
    )


def _images(node: Node | None) -> Images:
    return () if node is None else node.status.images


def _taints(node: Node) -> object:
    return (node.spec.taints, node.spec.unschedulable)


def _status(node: Node) -> object:
    return [(condition.type, condition.status) for condition in node.status.conditions]
