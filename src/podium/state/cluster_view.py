"""ClusterView: the cluster as a plugin may read it. It has no method that changes anything.

Arrays that it returns are read-only, or copies where the docstring says so. Every plugin has its
own view (``handle.cluster``), which raises when the plugin reads a kind of object that it has not
declared. Such a kind may not be watched, and the plugin would silently see no objects at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.api.csi_migration import VolumeId
from podium.api.disks import Disk
from podium.api.meta import ApiObject
from podium.api.objects import (
    CSINode,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodGroup,
    StorageClass,
    Volume,
    VolumeAttachment,
)
from podium.errors import UndeclaredKind
from podium.state.affinity_index import StandingTerm
from podium.state.aspects import Changes, Reader
from podium.state.assumed import Assumed
from podium.state.column import read_only
from podium.state.group_members import GroupMembers
from podium.state.group_trees import GroupTrees
from podium.state.image_columns import HeldImage
from podium.state.label_columns import LabelColumn
from podium.state.objects import ObjectStore, VolumeStore
from podium.state.overlay import Overlay
from podium.state.pod_columns import PlacedPods
from podium.state.pod_groups import PodQuery
from podium.state.pod_info import PodInfo
from podium.state.resource_columns import PODS
from podium.state.row_counts import RowCounts
from podium.state.rows import Moment, NodeInfo, Rows

if TYPE_CHECKING:
    from podium.state.cluster import ClusterState

T = TypeVar("T", bound=ApiObject)
Counts = NDArray[np.int64]


class Objects(Generic[T]):
    """The objects of one kind. ``version`` changes whenever one of them does."""

    __slots__ = ("_store", "get", "in_namespace")

    def __init__(self, store: ObjectStore[T]) -> None:
        self._store = store
        self.get: Callable[[str], T | None] = store.get  # by namespace/name, or by name
        self.in_namespace: Callable[[str], Iterable[T]] = store.in_namespace

    @property
    def version(self) -> int:
        return self._store.version

    def __iter__(self) -> Iterator[T]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)


class Volumes(Objects[PersistentVolume]):
    """Persistent volumes, which can also be looked up by their class or claim."""

    __slots__ = ("claimed_by", "unclaimed")

    def __init__(self, store: VolumeStore) -> None:
        super().__init__(store)
        self.unclaimed = store.unclaimed  # takes the name of a storage class
        self.claimed_by = store.claimed_by  # takes the key of a claim


class AffinityTerms(Protocol):
    """The affinity terms of placed pods, by kind: ``required``, ``preferred_anti`` and so on."""

    def keys(self, kind: str) -> Collection[str]: ...
    def any_of(self, kinds: Iterable[str]) -> bool: ...
    def standing(self, kind: str) -> Collection[StandingTerm]: ...
    def matching(
        self,
        kind: str,
        namespace: str,
        namespace_labels: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> Iterator[StandingTerm]: ...


class DiskUsers(Protocol):
    """The rows whose pods name a disk in their spec."""

    def alike(self, disk: Disk) -> Iterable[tuple[Disk, RowCounts]]: ...


class ClaimUsers(Protocol):
    """The rows whose pods use a claim."""

    def users(self, key: str) -> RowCounts: ...


class VolumesOnNodes(Protocol):
    """The CSI volumes on each node: those that pods there use, and those attached to it."""

    def counts(self, driver: str) -> Counts: ...
    def users(self, volume: VolumeId) -> RowCounts: ...
    def is_used(self, volume: VolumeId) -> bool: ...
    def is_attached(self, volume: VolumeId, row: int) -> bool: ...


class StorageView:
    """Storage by row. Each method checks that the plugin has declared the kinds it is made from."""

    def __init__(self, cluster: ClusterView, state: ClusterState) -> None:
        self._cluster = cluster
        self._storage = state.storage
        self.disks: DiskUsers = state.storage.disks  # read from pod specs, so no kind is required

    @property
    def claims(self) -> ClaimUsers:
        self._cluster.require(PersistentVolumeClaim)
        return self._storage.claims

    @property
    def attached(self) -> VolumesOnNodes:
        self._cluster.require(
            PersistentVolumeClaim, PersistentVolume, StorageClass, VolumeAttachment
        )
        return self._storage.attached

    def limits(self, driver: str) -> Counts:
        """Return how many of the driver's volumes each row may hold."""
        self._cluster.require(CSINode)
        return self._storage.limits(driver)

    def lacks_driver(self, driver: str, *, without_csi_node: bool) -> NDArray[np.bool_]:
        """Return the rows whose CSINode does not list the driver.

        ``without_csi_node`` says whether rows without a CSINode are among them.
        """
        self._cluster.require(CSINode)
        return self._storage.lacks_driver(driver, without_csi_node=without_csi_node)

    def volumes_of(self, pod: Pod, volumes: Iterable[Volume]) -> list[VolumeId]:
        """Return the CSI volumes of a pod, without those that cannot be found."""
        self._cluster.require(PersistentVolumeClaim, PersistentVolume, StorageClass)
        return self._storage.claims.volumes_of(pod, volumes)


class ClusterView:
    """The cluster as one plugin may read it.

    A node keeps its row as long as it exists. Arrays by row have ``size`` elements; ``nodes()`` has
    the rows that are nodes. While a plugin is being constructed, the kinds that it declares are not
    known yet: the kinds that it reads until then are remembered, and ``declare`` checks them.
    """

    def __init__(self, state: ClusterState, plugin: str = "") -> None:
        self._state = state
        self._plugin = plugin
        self._declared: set[str] | None = None
        self._read_early: set[str] = set()
        self._allowed: set[tuple[type[ApiObject], ...]] = set()  # what passed ``require``
        self._objects: dict[type[ApiObject], Objects[Any]] = {}
        self._table = state.table
        self.pods: Mapping[str, PodInfo] = MappingProxyType(state.pods)  # all placed pods, by uid
        self.affinity: AffinityTerms = state.affinity
        self.request_rule = state.request_rule
        self.storage = StorageView(self, state)

    def for_plugin(self, name: str) -> ClusterView:
        """Return a view of the same cluster for a plugin, which declares the kinds it reads."""
        return ClusterView(self._state, name)

    @property
    def moment(self) -> Moment:
        """The current cycle, through which views of nodes read."""
        return self._state.moment

    # --- nodes -----------------------------------------------------------------------------------

    def nodes(self) -> Rows:
        """Return a view of all nodes."""
        return Rows(self, self._table.live_rows())

    def rows_at(self, rows: NDArray[np.intp], overlay: Overlay | None = None) -> Rows:
        """Return a view of the nodes on these rows, which must be in ascending order."""
        return Rows(self, rows, overlay)

    def node(self, name: str) -> NodeInfo | None:
        row = self._table.live_row(name)
        return None if row is None else NodeInfo(self, row)

    def node_object(self, row: int) -> Node | None:
        """Return the node of this row; ``None`` if the row has no node."""
        return self._table.nodes[row]

    @property
    def size(self) -> int:
        """Return how many rows there are; some of them may have no node."""
        return self._table.size

    @property
    def node_count(self) -> int:
        return len(self._table.live_rows())

    @property
    def names(self) -> Sequence[str]:
        """Return the names of nodes by row."""
        return self._table.names

    def row_of(self, name: str) -> int | None:
        """Return the row of this node name. The node may be gone while pods are left on it."""
        return self._table.row_of(name)

    def are_nodes(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a copy: whether there is a node on each of these rows."""
        there: NDArray[np.bool_] = self._table.live[rows]
        return there

    def rows_in_order(self) -> NDArray[np.intp]:
        """Return the rows of nodes in the order in which kube-scheduler lists them."""
        return self._table.rows_in_order()

    def label_column(self, key: str) -> LabelColumn:
        """Return a label over all rows."""
        return self._table.label_column(key)

    def image(self, name: str) -> HeldImage | None:
        """Return the image of this name, if any node holds it."""
        return self._table.images.find(name)

    # --- pods ------------------------------------------------------------------------------------

    def members(self, group_key: str) -> GroupMembers:
        """Return the pods of a PodGroup by state; empty unless GenericWorkload is on."""
        return self._state.members(group_key)

    @property
    def trees(self) -> GroupTrees:
        """Return how pod groups belong to one another; empty unless GenericWorkload is on."""
        self.require(PodGroup)
        return self._state.trees

    def matching_pods(self, query: PodQuery) -> list[PodInfo]:
        """Return the placed pods that match."""
        return [info for info in self.pods.values() if query.matches_pod(info)]

    def pods_on(self, row: int) -> Collection[PodInfo]:
        return self._table.pods[row].values()

    def pod_counts(self, query: PodQuery) -> Counts:
        """Return how many pods match on each row."""
        shown = self._state.counts(query)[: self._table.size]  # slicing makes a view already
        shown.setflags(write=False)
        return shown

    def domain_counts(self, query: PodQuery, key: str) -> Counts:
        """Return a copy: how many pods match in each domain of a label.

        A domain's index is the number of its value in ``label_column(key)``; the last element is
        for the rows without the label.
        """
        return self._state.domain_counts(query, self._table.label_column(key)).copy()

    def counts_below(self, priority: int) -> Counts:
        """Return how many pods of a lower priority are on each row."""
        return read_only(self._table.resources.requested_below(priority)[PODS])

    def pods_below(self, priority: int, rows: NDArray[np.intp]) -> PlacedPods:
        """Return the pods of a lower priority on these rows, as columns.

        The pods of a row are in the order in which they were placed there.
        """
        return self._table.resources.placed.below(priority, rows, self._table.size)

    def placed(self, pods: Iterable[PodInfo]) -> PlacedPods:
        """Return these placed pods as columns, in this order."""
        slots = np.fromiter((info.slot for info in pods), np.intp)
        return PlacedPods(self._table.resources.placed, slots)

    def overlay(self, rows: NDArray[np.intp]) -> Overlay:
        """Return an overlay for a dry run on these rows, which must be in ascending order."""
        return self._state.overlay(rows)

    # --- other objects ---------------------------------------------------------------------------

    def objects(self, kind: type[T]) -> Objects[T]:
        """Return the objects of a kind that the plugin has declared."""
        found = self._objects.get(kind)
        if found is None:
            self.require(kind)
            found = self._objects[kind] = Objects(self._state.objects(kind))
        return found

    @property
    def volumes(self) -> Volumes:
        self.require(PersistentVolume)
        return Volumes(self._state.volumes)

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        found = self.objects(Namespace).get(name)
        return found.labels if found is not None else {}

    def assumed(self, kind: type[T]) -> Assumed[T]:
        """Return the assumed volumes or claims; Reserve assumes what it takes here."""
        self.require(kind)
        return self._state.assumed(kind)

    def learn(self, obj: ApiObject) -> bool:
        """Store an object as a write has returned it, before the watch shows it.

        Returns false if the object is not known, as it may have been deleted meanwhile.
        """
        self.require(type(obj))
        return self._state.learn(obj)

    # --- changes ---------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """A number that grows with every change that a plugin can notice."""
        return self._state.journal.end

    @property
    def structure(self) -> int:
        """A number that grows when a node joins or leaves."""
        return self._table.structure

    def changes(self) -> Callable[[], Changes]:
        """Return a function that returns, on each call, what changed since the previous call."""
        return Reader(self._state).catch_up

    # --- which kinds may be read -----------------------------------------------------------------

    def declare(self, kinds: set[str]) -> None:
        """Allow these kinds; raise ``UndeclaredKind`` if another one was read before."""
        self._declared = kinds
        self._objects.clear()  # what is in these two is not checked again
        self._allowed.clear()
        for kind in sorted(self._read_early - kinds):
            raise UndeclaredKind(self._plugin, kind)

    def require(self, *kinds: type[ApiObject]) -> None:
        """Raise ``UndeclaredKind`` unless the plugin has declared these kinds."""
        if kinds in self._allowed or not self._plugin:
            return
        for kind in kinds:
            if self._declared is None:
                self._read_early.add(kind.__name__)
            elif kind.__name__ not in self._declared:
                raise UndeclaredKind(self._plugin, kind.__name__)
        self._allowed.add(kinds)
