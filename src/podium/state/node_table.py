"""The cluster as a table: a row per node, a column per thing that rules read.

A node keeps its row while it lives. A row without a node object but with pods is a ghost: its
pods were seen before their node, or outlive it; no view of candidates contains it.
"""

from __future__ import annotations

from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.api import resources
from podium.api.objects import Node, Taints
from podium.errors import StaleRow
from podium.state.aspects import Aspect
from podium.state.column import Interned, grown
from podium.state.image_columns import ImageColumns, Images
from podium.state.label_columns import LabelColumn, LabelColumns
from podium.state.node_order import NodeOrder, zone_of
from podium.state.pod_info import PodInfo
from podium.state.resource_columns import ResourceColumns
from podium.state.used_ports import UsedPorts

_FIRST_CAPACITY = 64


class NodeRef(NamedTuple):
    """A row and its epoch: after the node is gone the reference raises instead of misleading."""

    row: int
    epoch: int
    name: str


class HashOrder(NamedTuple):
    """The nodes in the order of their names' hashes: one that no history of the table shows in."""

    rows: NDArray[np.intp]
    place_of: NDArray[np.intp]  # by row; -1 where no node is


class NodeTable:
    """Columns by row. Only ``ClusterState`` writes here."""

    def __init__(self) -> None:
        self.size = 0  # rows in use, ghosts and retired ones included
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
        self.ports = UsedPorts()
        self.annotations = LabelColumns(attrgetter("annotations"))
        self.images = ImageColumns()
        self.order = NodeOrder()
        self.structure = 0  # moves when the set of live rows does
        self._row_of: dict[str, int] = {}
        self._epochs: list[int] = []
        self._retired: list[int] = []
        self._reusable: list[int] = []
        self._live_rows: NDArray[np.intp] | None = None
        self._hash_order: HashOrder | None = None

    @property
    def capacity(self) -> int:
        return len(self.live)

    def row_of(self, name: str) -> int | None:
        """The row of this name, a ghost's too."""
        return self._row_of.get(name)

    def live_row(self, name: str) -> int | None:
        row = self._row_of.get(name)
        return row if row is not None and self.live[row] else None

    def live_rows(self) -> NDArray[np.intp]:
        """The rows of nodes that exist, ascending."""
        if self._live_rows is None:
            self._live_rows = np.flatnonzero(self.live[: self.size])
            self._live_rows.flags.writeable = False  # views share it
        return self._live_rows

    def rows_in_order(self) -> NDArray[np.intp]:
        """The rows of nodes that exist, in upstream's order."""
        names = self.order.names()
        return np.fromiter((self._row_of[name] for name in names), np.intp, len(names))

    def hash_order(self) -> HashOrder:
        if self._hash_order is None:
            live = self.live_rows()
            rows = live.take(self.name_hash.take(live).argsort())
            place_of = np.full(self.size, -1, np.intp)
            place_of[rows] = np.arange(len(rows))
            self._hash_order = HashOrder(rows, place_of)
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

    def resource_place(self, name: str) -> int:
        """The resource's place in the columns, made now if nobody has asked for it before."""
        place = self.resources.index.get(name)
        if place is None:
            pairs = ((row, node) for row, node in enumerate(self.nodes) if node is not None)
            held = {row: resources.allocatable(node).get(name, 0) for row, node in pairs}
            self.resources.add_resource(name, held)
            place = self.resources.index[name]
        return place

    def ensure_row(self, name: str) -> int:
        """The row of this name; a new one is a ghost until its node is set."""
        row = self._row_of.get(name)
        if row is None:
            row = self._row_of[name] = self._allot()
            self.names[row] = name
            self.name_hash[row] = stable_hash(name)
        return row

    def set_node(self, row: int, node: Node) -> int:
        """Write the node's columns; returns the aspects that changed."""
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
        """The node is gone. With pods left the row becomes a ghost, else it is retired."""
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
        if self.live[row] or self.pods[row]:
            return
        del self._row_of[self.names[row]]
        self.names[row] = ""
        self._retired.append(row)
        if len(self._retired) > max(_FIRST_CAPACITY, self.size // 4):
            self._reusable += self._retired
            self._retired = []

    def _allot(self) -> int:
        if self._reusable:
            return self._reusable.pop()
        row = self.size
        if row == self.capacity:
            self._grow(max(_FIRST_CAPACITY, 2 * row))
        self.size += 1
        self._hash_order = None  # has no place for this row
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


def stable_hash(text: str) -> int:
    """A 64-bit hash that is the same in every process."""
    data = text.encode(errors="surrogatepass")  # JSON may hold what is no text
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def _difference(old: Node | None, new: Node) -> int:
    """The aspects in which two versions of a node differ; none for a heartbeat."""
    if old is None:
        return Aspect.ALL
    before, after = old.status, new.status
    return (
        (Aspect.RESOURCES if before.allocatable != after.allocatable else 0)
        | (Aspect.LABELS if old.labels != new.labels else 0)
        | (Aspect.TAINTS if _taints(old) != _taints(new) else 0)
        | (Aspect.IMAGES if before.images != after.images else 0)
        | (Aspect.FEATURES if before.declared_features != after.declared_features else 0)
        | (Aspect.NODE if old.annotations != new.annotations or _rest(old) != _rest(new) else 0)
    )


def _images(node: Node | None) -> Images:
    return () if node is None else node.status.images


def _taints(node: Node) -> object:
    return (node.spec.taints, node.spec.unschedulable)


def _rest(node: Node) -> object:
    return [(condition.type, condition.status) for condition in node.status.conditions]
