"""Rows: the candidate nodes as plugins see them, all at once; NodeInfo: one of them.

Accessors are public and stable; the columns behind them are not. With an overlay, resources, ports
and the pods of a node are those of the dry run's world; counts of pods and what scoring assumes are
the live cluster's, and follow a dry run through ``add_pods`` and ``remove_pods`` only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from podium.api import resources
from podium.api.objects import Node, Pod, Taints
from podium.api.resources import HostPort
from podium.api.selectors import NodeTerm, RequiredNodeAffinity, Requirement
from podium.state.column import Column
from podium.state.image_columns import HeldImage
from podium.state.node_matching import matching, term_mask
from podium.state.node_table import NodeTable
from podium.state.overlay import Overlay
from podium.state.pod_groups import PodQuery
from podium.state.pod_info import PodInfo
from podium.state.resource_columns import int64
from podium.state.used_ports import port_holders

if TYPE_CHECKING:
    from podium.state.cluster import ClusterState

_NON_ZERO = {"cpu": 0, "memory": 1}


@dataclass(frozen=True, slots=True)
class LabelView:
    """One label over the rows of a view: a number per row, -1 where the label is missing."""

    numbers: NDArray[np.intp]
    values: Sequence[str]
    number_of: Mapping[str, int]

    @property
    def present(self) -> NDArray[np.bool_]:
        return self.numbers >= 0


class NodeInfo:
    """One candidate node: its object, its pods and what is left of it."""

    __slots__ = ("cluster", "overlay", "row")

    def __init__(self, cluster: ClusterState, row: int, overlay: Overlay | None = None) -> None:
        self.cluster = cluster
        self.row = row
        self.overlay = overlay

    @property
    def node(self) -> Node:
        node = self.cluster.table.nodes[self.row]
        if node is None:
            raise LookupError(f"row {self.row} has no node")
        return node

    @property
    def name(self) -> str:
        return self.cluster.table.names[self.row]

    @property
    def labels(self) -> Mapping[str, str]:
        return self.node.labels

    @property
    def taints(self) -> Taints:
        return self.node.spec.taints

    @property
    def pods(self) -> list[PodInfo]:
        if self.overlay is not None:
            return list(self.overlay.pods_on(self.row))
        return list(self.cluster.table.pods[self.row].values())

    @property
    def used_ports(self) -> Collection[HostPort]:
        """The host ports in use, as (address, protocol, number)."""
        changed = self.overlay.ports if self.overlay is not None else {}
        return changed.get(self.row, self.cluster.table.ports.on(self.row))

    def allocatable(self, resource: str) -> int:
        columns = self.cluster.table.resources
        place = columns.index.get(resource)
        if place is None:
            return resources.allocatable(self.node).get(resource, 0)
        return columns.allocatable.item(place, self.row)

    def all_have(self, resource: str) -> bool:
        return self.allocatable(resource) != 0

    def requested(self, resource: str) -> int:
        columns = self.cluster.table.resources
        place = columns.index.get(resource)
        if place is None:
            return 0
        amount = columns.requested.item(place, self.row)
        if self.overlay is not None and place < len(self.overlay.requested):
            position = np.searchsorted(self.overlay.rows, self.row)
            amount = int64(amount + int(self.overlay.requested[place, position]))
        return amount

    def non_zero_requested(self, resource: str) -> int:
        """What scoring assumes of cpu and memory: a container that names none counts a default."""
        return self.cluster.table.resources.non_zero.item(_NON_ZERO[resource], self.row)

    def free(self, resource: str) -> int:
        return int64(self.allocatable(resource) - self.requested(resource))

    def count(self, query: PodQuery) -> int:
        """How many pods of the live cluster on this node match."""
        return int(self.cluster.counts(query)[self.row])

    def alone(self) -> Rows:
        """Return a view of this node and no other."""
        return Rows(self.cluster, np.array([self.row], np.intp), self.overlay)

    def __repr__(self) -> str:
        return f"NodeInfo({self.name})"


class Rows:
    """A view of candidate nodes; every array it gives has one place per node of the view.

    ``index`` holds their rows, ascending: a view of all rows reads columns in place.
    """

    __slots__ = ("_whole", "cluster", "index", "overlay")

    def __init__(
        self, cluster: ClusterState, index: NDArray[np.intp], overlay: Overlay | None = None
    ) -> None:
        self.cluster = cluster
        self.index = index
        self.overlay = overlay
        # Without holes in the table a view of all nodes reads columns in place.
        self._whole = len(index) == cluster.table.size

    @classmethod
    def of(cls, *nodes: Node, pods: Sequence[Pod] = ()) -> Rows:
        """All nodes of a small cluster made for the occasion; for tests."""
        from podium.state.cluster import ClusterState

        cluster = ClusterState()
        for node in nodes:
            cluster.set_node(node)
        for pod in pods:
            cluster.add_pod(pod)
        return cluster.rows()

    @property
    def table(self) -> NodeTable:
        return self.cluster.table

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[NodeInfo]:
        return (NodeInfo(self.cluster, row, self.overlay) for row in self.index.tolist())

    def at(self, position: int) -> NodeInfo:
        return NodeInfo(self.cluster, int(self.index[position]), self.overlay)

    @property
    def names(self) -> list[str]:
        names = self.table.names
        return [names[row] for row in self.index.tolist()]

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """The column's places of this view; its last axis is the table's rows. Read only."""
        if self._whole:
            if column.shape[-1] == len(self.index) and not column.flags.writeable:
                return column  # the same again: who compares answers can tell by that
            whole = column[..., : len(self.index)]
            whole.setflags(write=False)
            return whole
        return column.take(self.index, axis=-1)

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        table = self.cluster.table
        place = table.resource_place(resource)  # may make room for it, and so comes first
        return self.take(table.resources.allocatable[place])

    def all_have(self, resource: str) -> bool:
        """Whether each node of the cluster has any of the resource."""
        table = self.cluster.table
        return table.resources.is_on(len(table.live_rows()), table.resource_place(resource))

    def requested(self, resource: str) -> NDArray[np.int64]:
        table = self.cluster.table
        place = table.resource_place(resource)
        amounts: NDArray[np.int64] = self.take(table.resources.requested[place])
        if self.overlay is None:
            return amounts
        if place >= len(self.overlay.requested):  # nobody in the dry run asks for it
            return amounts
        total: NDArray[np.int64] = (
            amounts + self.overlay.requested[place, self.overlay.position(self.index)]
        )
        return total

    def free(self, resource: str) -> NDArray[np.int64]:
        return self.allocatable(resource) - self.requested(resource)

    def non_zero_requested(self, resource: str) -> NDArray[np.int64]:
        """As ``NodeInfo.non_zero_requested``. A dry run does not score: overlays play no part."""
        return self.take(self.cluster.table.resources.non_zero[_NON_ZERO[resource]])

    @property
    def taints(self) -> Column[Taints]:
        return Column(self.table.taints.values, self.take(self.table.taints.numbers))

    @property
    def unschedulable(self) -> NDArray[np.bool_]:
        return self.take(self.table.unschedulable)

    @property
    def declared_features(self) -> Column[tuple[str, ...]]:
        return Column(self.table.features.values, self.take(self.table.features.numbers))

    def port_holders(self, protocol: str, number: int) -> dict[str, NDArray[np.bool_]]:
        """The nodes that use this host port, by the address they use it on."""
        return port_holders(self, protocol, number)

    def label(self, key: str) -> LabelView:
        column = self.table.label_column(key)
        return LabelView(self.take(column.numbers), column.values, column.number_of)

    def annotation(self, key: str) -> LabelView:
        column = self.table.annotation_column(key)
        return LabelView(self.take(column.numbers), column.values, column.number_of)

    @property
    def zones(self) -> Column[str]:
        """Region and zone of each node in one text; empty for a node that has neither."""
        return Column(self.table.zones.values, self.take(self.table.zones.numbers))

    def holding(self, image: HeldImage) -> NDArray[np.bool_]:
        """The nodes that hold the image."""
        return self.take(image.column(self.table.size))

    def count(self, query: PodQuery) -> NDArray[np.int64]:
        """How many pods on each node match."""
        return self.take(self.cluster.counts(query))

    def satisfying(self, requirement: Requirement) -> NDArray[np.bool_]:
        """The nodes whose labels satisfy the requirement."""
        column = self.table.label_column(requirement.key)
        answers = column.holding(requirement)
        mask: NDArray[np.bool_] = answers[self.take(column.numbers)]
        return mask

    def matching(self, affinity: RequiredNodeAffinity) -> NDArray[np.bool_]:
        """The nodes that match a pod's node selector and required node affinity."""
        return matching(self, affinity)

    def matching_term(self, term: NodeTerm) -> NDArray[np.bool_]:
        """The nodes that match one term of a node affinity."""
        return term_mask(self, term)


class PodsOnRows:
    """Pods and the row of each: what a dry run adds or removes, each in the world of its row."""

    __slots__ = ("cluster", "infos", "overlay", "rows")

    def __init__(self, nodes: Rows, infos: Sequence[PodInfo], rows: NDArray[np.intp]) -> None:
        self.cluster = nodes.cluster
        self.overlay = nodes.overlay
        self.infos = infos
        self.rows = rows

    @classmethod
    def alone(cls, info: PodInfo, node: NodeInfo) -> PodsOnRows:
        """One pod on one node, for plugins whose rule is the form for many."""
        row = np.array([node.row])
        return cls(Rows(node.cluster, row, node.overlay), [info], row)

    def __len__(self) -> int:
        return len(self.infos)

    def __iter__(self) -> Iterator[tuple[PodInfo, NodeInfo]]:
        for info, row in zip(self.infos, self.rows.tolist(), strict=True):
            yield info, NodeInfo(self.cluster, row, self.overlay)
