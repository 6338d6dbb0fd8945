"""Views of nodes for plugins: Rows for all candidates at once, NodeInfo for one of them.

Their methods are public and stable; the columns behind them are not. In a dry run (with an
overlay), resources, ports and the pods of a node include the changes of the dry run. Counts of pods
and the non-zero requests do not: plugins follow those changes in ``add_pods`` and ``remove_pods``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.api import resources
from podium.api.objects import Node, Pod, Taints
from podium.api.resources import HostPort
from podium.api.selectors import NodeTerm, RequiredNodeAffinity, Requirement
from podium.errors import StaleView
from podium.state.column import Column
from podium.state.image_columns import HeldImage
from podium.state.label_columns import LabelViews
from podium.state.node_matching import matching, term_mask
from podium.state.node_table import NodeTable
from podium.state.overlay import Overlay
from podium.state.pod_groups import PodQuery, as_query
from podium.state.pod_info import PodInfo
from podium.state.resource_columns import int64
from podium.state.used_ports import port_holders

if TYPE_CHECKING:
    from podium.state.cluster import ClusterState
    from podium.state.cluster_view import ClusterView

T = TypeVar("T")

_NON_ZERO = {"cpu": 0, "memory": 1}


class Moment:
    """The cluster during one cycle; views of nodes read through it.

    When the next cycle begins it is closed. From then on views that a plugin has kept raise
    ``StaleView``, since their rows may belong to other nodes by then.
    """

    __slots__ = ("state", "table", "view")

    def __init__(self, state: ClusterState, view: ClusterView) -> None:
        self.state = state
        self.table: NodeTable = state.table
        self.view = view

    @property
    def moment(self) -> Moment:
        return self

    def close(self) -> None:
        del self.state, self.table, self.view
        self.__class__ = _ClosedMoment


class _ClosedMoment(Moment):
    """A moment without attributes. A class of its own: ``__getattr__`` slows down every read."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        if name in Moment.__slots__:
            raise StaleView
        raise AttributeError(name)


class HasMoment(Protocol):
    """Anything that views can be made from: the state, a ClusterView, or a view's moment."""

    @property
    def moment(self) -> Moment: ...


class NodeInfo:
    """One candidate node: its object, its pods and its resources."""

    __slots__ = ("_moment", "overlay", "row")

    def __init__(self, cluster: HasMoment, row: int, overlay: Overlay | None = None) -> None:
        self._moment = cluster.moment
        self.row = row
        self.overlay = overlay

    @property
    def cluster(self) -> ClusterView:
        return self._moment.view

    @property
    def node(self) -> Node:
        node = self._moment.table.nodes[self.row]
        if node is None:
            raise LookupError(f"row {self.row} has no node")
        return node

    @property
    def name(self) -> str:
        return self._moment.table.names[self.row]

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
        return list(self._moment.table.pods[self.row].values())

    @property
    def used_ports(self) -> Collection[HostPort]:
        """The host ports in use, as (address, protocol, number)."""
        changed = self.overlay.ports if self.overlay is not None else {}
        return changed.get(self.row, self._moment.table.ports.on(self.row))

    def allocatable(self, resource: str) -> int:
        columns = self._moment.table.resources
        index = columns.index.get(resource)
        if index is None:
            return resources.allocatable(self.node).get(resource, 0)
        return columns.allocatable.item(index, self.row)

    def all_have(self, resource: str) -> bool:
        return self.allocatable(resource) != 0

    def requested(self, resource: str) -> int:
        columns = self._moment.table.resources
        index = columns.index.get(resource)
        if index is None:
            return 0
        amount = columns.requested.item(index, self.row)
        if self.overlay is not None and index < len(self.overlay.requested):
            position = np.searchsorted(self.overlay.rows, self.row)
            amount = int64(amount + int(self.overlay.requested[index, position]))
        return amount

    def non_zero_requested(self, resource: str) -> int:
        """Return requested cpu or memory with a default for containers that request none."""
        return self._moment.table.resources.non_zero.item(_NON_ZERO[resource], self.row)

    def free(self, resource: str) -> int:
        columns = self._moment.table.resources
        index = columns.index.get(resource)
        if index is None or self.overlay is not None:
            return int64(self.allocatable(resource) - self.requested(resource))
        row = self.row  # the usual case without further calls: Filter and Score ask for each node
        return int64(columns.allocatable.item(index, row) - columns.requested.item(index, row))

    def count_pods(self, pods: PodQuery | str, *, namespace: str | None = None) -> int:
        """Return how many pods of the live cluster on this node match."""
        return int(self._moment.state.counts(as_query(pods, namespace))[self.row])

    def alone(self) -> Rows:
        """Return a view of only this node."""
        return Rows(self._moment, np.array([self.row], np.intp), self.overlay)

    def __repr__(self) -> str:
        return f"NodeInfo({self.name})"


class Rows:
    """A view of candidate nodes. Every array that it returns has one element per node of the view.

    ``index`` has their rows in ascending order.
    """

    __slots__ = ("_moment", "_whole", "index", "overlay")

    def __init__(
        self, cluster: HasMoment, index: NDArray[np.intp], overlay: Overlay | None = None
    ) -> None:
        self._moment = moment = cluster.moment
        index.setflags(write=False)  # twice as fast as through ``flags``
        self.index = index
        self.overlay = overlay
        # If each row of the table is in the view, columns are read without copying.
        self._whole = len(index) == moment.table.size

    @property
    def cluster(self) -> ClusterView:
        return self._moment.view

    @classmethod
    def of(cls, *nodes: Node, pods: Sequence[Pod] = ()) -> Rows:
        """Return a view of all nodes of a new small cluster, for tests."""
        from podium.state.cluster import ClusterState

        cluster = ClusterState()
        for node in nodes:
            cluster.set_node(node)
        for pod in pods:
            cluster.add_pod(pod)
        return cluster.rows()

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[NodeInfo]:
        return (NodeInfo(self._moment, row, self.overlay) for row in self.index.tolist())

    def at(self, position: int) -> NodeInfo:
        return NodeInfo(self._moment, int(self.index[position]), self.overlay)

    def where(self, mask: NDArray[np.bool_]) -> Rows:
        """Return a view of the nodes that the mask marks."""
        return Rows(self._moment, self.index[mask], self.overlay)

    @property
    def names(self) -> list[str]:
        names = self._moment.table.names
        return [names[row] for row in self.index.tolist()]

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the elements of a column (by row, on its last axis) for this view. Read-only."""
        if self._whole:
            if column.shape[-1] == len(self.index) and not column.flags.writeable:
                return column  # the same object, so that callers can compare results with ``is``
            whole = column[..., : len(self.index)]
            whole.setflags(write=False)
            return whole
        return column.take(self.index, axis=-1)

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        table = self._moment.table
        index = table.resource_index(resource)  # first, as it may replace the arrays
        return self.take(table.resources.allocatable[index])

    def all_have(self, resource: str) -> bool:
        """Return whether every node of the cluster has the resource."""
        table = self._moment.table
        return table.resources.is_on(len(table.live_rows()), table.resource_index(resource))

    def requested(self, resource: str) -> NDArray[np.int64]:
        table = self._moment.table
        index = table.resource_index(resource)
        amounts: NDArray[np.int64] = self.take(table.resources.requested[index])
        if self.overlay is None:
            return amounts
        if index >= len(self.overlay.requested):  # no pod of the dry run requests it
            return amounts
        total: NDArray[np.int64] = (
            amounts + self.overlay.requested[index, self.overlay.position(self.index)]
        )
        return total

    def free(self, resource: str) -> NDArray[np.int64]:
        return self.allocatable(resource) - self.requested(resource)

    def non_zero_requested(self, resource: str) -> NDArray[np.int64]:
        """Return requested cpu or memory with a default for containers that request none.

        Overlays are not applied, as a dry run does not score.
        """
        return self.take(self._moment.table.resources.non_zero[_NON_ZERO[resource]])

    @property
    def taints(self) -> Column[Taints]:
        taints = self._moment.table.taints
        return Column(taints.values, self.take(taints.numbers))

    @property
    def unschedulable(self) -> NDArray[np.bool_]:
        return self.take(self._moment.table.unschedulable)

    @property
    def declared_features(self) -> Column[tuple[str, ...]]:
        features = self._moment.table.features
        return Column(features.values, self.take(features.numbers))

    def port_holders(self, protocol: str, number: int) -> dict[str, NDArray[np.bool_]]:
        """Return masks of the nodes that use this host port, by the address they use it on."""
        return port_holders(self, self._moment.table, protocol, number)

    @property
    def labels(self) -> LabelViews:
        return LabelViews(self, self._moment.table.label_column)

    @property
    def annotations(self) -> LabelViews:
        return LabelViews(self, self._moment.table.annotation_column)

    @property
    def zones(self) -> Column[str]:
        """Region and zone of each node in one string; empty for a node that has neither."""
        zones = self._moment.table.zones
        return Column(zones.values, self.take(zones.numbers))

    def holding(self, image: HeldImage) -> NDArray[np.bool_]:
        """Return a mask of the nodes that hold the image."""
        return self.take(image.column(self._moment.table.size))

    def count_pods(
        self, pods: PodQuery | str, *, namespace: str | None = None
    ) -> NDArray[np.int64]:
        """Return how many pods on each node match: ``nodes.count_pods("app=web")``.

        Pods of all namespaces count unless ``namespace`` says otherwise.
        """
        return self.take(self._moment.state.counts(as_query(pods, namespace)))

    def domain_counts(
        self, key: str, pods: PodQuery | str, *, namespace: str | None = None
    ) -> NDArray[np.int64]:
        """Return how many matching pods there are in each node's domain of a topology key.

        0 where the node has no such label: ``nodes.domain_counts("zone", "app=web")``.
        """
        state, label = self._moment.state, self._moment.table.label_column(key)
        sums = state.domain_counts(as_query(pods, namespace), label).copy()
        sums[-1] = 0
        counts: NDArray[np.int64] = sums[self.take(label.numbers)]
        return counts

    def satisfying(self, requirement: Requirement) -> NDArray[np.bool_]:
        """Return a mask of the nodes whose labels satisfy the requirement."""
        column = self._moment.table.label_column(requirement.key)
        answers = column.holding(requirement)
        mask: NDArray[np.bool_] = answers[self.take(column.numbers)]
        return mask

    def matching(self, affinity: RequiredNodeAffinity) -> NDArray[np.bool_]:
        """Return a mask of the nodes that match a pod's node selector and required affinity."""
        return matching(self, affinity)

    def matching_term(self, term: NodeTerm) -> NDArray[np.bool_]:
        """Return a mask of the nodes that match one term of a node affinity."""
        return term_mask(self, term)


class PodsOnRows:
    """Pods that a dry run adds or removes, with the row of each. Rows do not affect each other."""

    __slots__ = ("_moment", "infos", "overlay", "rows")

    def __init__(self, nodes: Rows, infos: Sequence[PodInfo], rows: NDArray[np.intp]) -> None:
        self._moment = nodes._moment
        self.overlay = nodes.overlay
        self.infos = infos
        self.rows = rows

    @property
    def cluster(self) -> ClusterView:
        return self._moment.view

    @classmethod
    def alone(cls, info: PodInfo, node: NodeInfo) -> PodsOnRows:
        """Return one pod on one node, for plugins that implement only the form for many."""
        row = np.array([node.row])
        return cls(node.alone(), [info], row)

    def __len__(self) -> int:
        return len(self.infos)

    def __iter__(self) -> Iterator[tuple[PodInfo, NodeInfo]]:
        for info, row in zip(self.infos, self.rows.tolist(), strict=True):
            yield info, NodeInfo(self._moment, row, self.overlay)


def table_of(nodes: Rows) -> NodeTable:
    """Return the table behind a view. For podium's core only: plugins use the view."""
    return nodes._moment.table
