"""ClusterState: the one owner of everything the scheduler knows about the cluster.

Watches and the binder write through its methods; a cycle reads it without copying it. A write
either succeeds completely, or raises and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import force_setattr
from numpy.typing import NDArray

from podium.api.meta import ApiObject
from podium.api.objects import (
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from podium.api.read_only import make_node_read_only
from podium.api.resources import HELD_IN_SUM, RequestRule
from podium.errors import CacheError
from podium.state.affinity_index import AffinityIndex
from podium.state.aspects import NOWHERE, Aspect, Journal
from podium.state.assumed import Assumed
from podium.state.cluster_view import ClusterView
from podium.state.group_members import NO_MEMBERS, GroupMembers
from podium.state.group_trees import GroupTrees
from podium.state.invariants import check_invariants
from podium.state.kinds import ASPECTS
from podium.state.label_columns import LabelColumn
from podium.state.node_table import NodeTable, check_allocatable
from podium.state.objects import ObjectStore, VolumeStore, differ_only_in_version
from podium.state.overlay import Overlay
from podium.state.pod_groups import PodGroups, PodQuery
from podium.state.pod_info import UNPLACED, PodInfo
from podium.state.rows import Moment, NodeInfo, Rows
from podium.state.shared_parts import SharedParts
from podium.state.storage import Storage

T = TypeVar("T", bound=ApiObject)

# Called with the object before and after a change; ``None`` if there is none.
Follower = Callable[[Any, Any], None]

_ASSUMABLE: tuple[type[ApiObject], ...] = (PersistentVolume, PersistentVolumeClaim)


class ClusterState:
    """The nodes as columns, the placed pods, and the other objects that plugins look up.

    Invariants, which ``check_invariants`` tests:

    - ``pods`` has every placed pod; ``table.pods[row]`` has those of a row in the order of their
      turns, and ``info.row`` is that row. ``_turn`` is the latest turn. ``_assumed`` are the uids
      of placed pods that the API has not confirmed yet.
    - ``table.resources``, ``table.ports``, ``groups``, ``affinity`` and ``storage`` are the sums
      over ``pods``. Only ``_put_on_row``, ``add_pods`` and ``_take_off_row`` change them.
    - Every change that a reader can notice is in ``journal``.
    - ``groups`` and ``storage`` have room for ``_known_capacity`` rows, which is
      ``table.capacity``.
    """

    def __init__(self, request_rule: RequestRule = HELD_IN_SUM) -> None:
        self.request_rule = request_rule  # how pods count that are being resized
        self.table = NodeTable()
        self.groups = PodGroups()
        self.affinity = AffinityIndex()
        self.journal = Journal()
        self.pods: dict[str, PodInfo] = {}  # every placed pod, by uid
        self._turn = 0
        self._assumed: set[str] = set()
        self._known_capacity = 0
        self._protects_nodes = False  # whether the maps of nodes are made read-only
        self._shared_parts = SharedParts()
        self.volumes = VolumeStore()
        self._stores: dict[type[ApiObject], ObjectStore[ApiObject]] = {
            k: ObjectStore() for k in ASPECTS
        }
        self._stores[PersistentVolume] = self.volumes  # type: ignore[assignment]  # see objects()
        self._assumptions: dict[type[ApiObject], Assumed[ApiObject]] = {
            kind: Assumed(self._store(kind), self._announce_assumption) for kind in _ASSUMABLE
        }
        self._followers: dict[type[ApiObject], list[Follower]] = {}
        self.storage = Storage(self.table, self._stores)
        self.trees = GroupTrees()  # only a GroupedClusterState knows any
        self.view = ClusterView(self)
        self.moment = Moment(self, self.view)

    # --- reading -------------------------------------------------------------------------------

    def rows(self, overlay: Overlay | None = None) -> Rows:
        """Return a view of all nodes."""
        return Rows(self, self.table.live_rows(), overlay)

    def rows_at(self, index: NDArray[np.intp], overlay: Overlay | None = None) -> Rows:
        """Return a view of the nodes on these rows."""
        return Rows(self, index, overlay)

    def node(self, name: str) -> NodeInfo | None:
        row = self.table.live_row(name)
        return None if row is None else NodeInfo(self, row)

    def counts(self, query: PodQuery) -> NDArray[np.int64]:
        """Return how many pods match the query on each row of the table."""
        return self.groups.counts(query)

    def domain_counts(self, query: PodQuery, label: LabelColumn) -> NDArray[np.int64]:
        """Return how many pods match in each domain of a label; the last is for rows without it."""
        return self.groups.domain_counts(query, label, self.table.size)

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        found = self.objects(Namespace).get(name)
        return found.labels if found is not None else {}

    def objects(self, kind: type[T]) -> ObjectStore[T]:
        return self._store(kind)  # type: ignore[return-value]  # keyed by what it holds

    def _store(self, kind: type[ApiObject]) -> ObjectStore[ApiObject]:
        store = self._stores.get(kind)
        if store is None:
            known = ", ".join(sorted(each.__name__ for each in self._stores))
            raise CacheError(f"the state keeps no {kind.__name__} objects, only {known}")
        return store

    def assumed(self, kind: type[T]) -> Assumed[T]:
        """Return the assumed volumes or claims: what Reserve has taken and PreBind will write."""
        return self._assumptions[kind]  # type: ignore[return-value]  # keyed by what it holds

    def is_assumed(self, uid: str) -> bool:
        return uid in self._assumed

    def members(self, group_key: str) -> GroupMembers:
        """Return the members of a pod group. Only a ``GroupedClusterState`` knows any."""
        return NO_MEMBERS

    @property
    def assumed_count(self) -> int:
        return len(self._assumed)

    def overlay(self, rows: NDArray[np.intp]) -> Overlay:
        """Return an empty overlay for these rows, which must be in ascending order."""
        return Overlay(self.table, rows)

    def begin_cycle(self) -> None:
        """Begin a cycle. Views of nodes that were made in earlier cycles raise ``StaleView``."""
        self.moment.close()
        self.moment = Moment(self, self.view)

    # --- nodes ---------------------------------------------------------------------------------

    def set_node(self, node: Node) -> None:
        """Add a node, or store its new version."""
        check_allocatable(node)
        if self._protects_nodes:
            make_node_read_only(node)
        row = self.table.ensure_row(node.name)
        if self.table.capacity > self._known_capacity:
            self._grow()
        is_new = not self.table.live[row]
        self._shared_parts.share_node(node)
        if changed := self.table.set_node(row, node):
            self.journal.record(row, changed)
        if is_new:
            self.storage.node_changed(row, node.name)

    def protect_nodes(self, is_wanted: bool) -> None:
        """Make the maps of nodes read-only from now on, if plugins from outside podium see them."""
        self._protects_nodes = is_wanted
        for node in self.table.nodes if is_wanted else ():
            if node is not None:
                make_node_read_only(node)

    def remove_node(self, name: str) -> None:
        row = self.table.live_row(name)
        if row is None:
            raise CacheError(f"node {name} is not found")
        self.table.clear_node(row)
        self.storage.node_changed(row, name)
        self.journal.record(row, Aspect.ALL)

    # --- pods ----------------------------------------------------------------------------------

    def add_pod(self, pod: Pod, turn: int = 0) -> PodInfo:
        """Add a pod that the API shows on a node. This confirms a pod that was assumed.

        With the ``turn`` that it had before, ``remove_pod`` is undone: among pods that are equally
        important, the order in which they were placed decides which are evicted.
        """
        known = self.pods.get(_uid(pod))
        if known is not None and pod.uid not in self._assumed:
            raise _already_added(pod)
        info = self._checked(pod)
        if known is not None:
            self._assumed.discard(pod.uid)
            if self._counts_as(known, info):
                known.pod = pod  # it runs where it was assumed, so no count changes
                self.table.resources.placed.renewed(known)
                return known
            self._take_off_row(known)
        self._place(info, turn)
        self._share(info)
        return info

    def add_pods(self, pods: Iterable[Pod]) -> None:
        """Add many pods that are not there yet: as ``add_pod`` does, but all columns at once.

        Their equal parts are not looked for: ``SharedParts`` is for the one who decodes them.
        """
        infos = [PodInfo(pod, self.request_rule) for pod in pods]
        self._check_new(infos)
        self._require_resources(infos)
        changed: dict[int, int] = {}
        for info in infos:
            row = self._row_for(info)
            self._turn += 1
            self._enter(info, row, self._turn)
            changed[row] = changed.get(row, 0) | info.aspects
        self.table.resources.add_all(infos)
        for row, aspects in changed.items():
            self.journal.record(row, aspects)

    def update_pod(self, pod: Pod) -> PodInfo:
        """Store the new version of a placed pod."""
        known = self.pods.get(_uid(pod))
        if known is None:
            raise CacheError(
                f"pod {pod.uid}({pod.key}) is not added to scheduler cache, so cannot be updated"
            )
        if pod.uid in self._assumed:
            raise CacheError(f"assumed pod {pod.uid}({pod.key}) should not be updated")
        info = self._checked(pod)
        if self._counts_as(known, info):
            if pod.has_raw or not differ_only_in_version(known.pod, pod):
                self.journal.record(known.row, Aspect.POD_OBJECTS)
            known.pod = pod
            self.table.resources.placed.renewed(known)
            self._share(known)
            return known
        self._take_off_row(known)
        self._place(info)
        self._share(info)
        return info

    def remove_pod(self, pod: Pod) -> None:
        known = self.pods.get(_uid(pod))
        if known is None:
            raise CacheError(
                f"pod {pod.uid}({pod.key}) is not found in scheduler cache, "
                "so cannot be removed from it"
            )
        self._take_off_row(known)
        self._assumed.discard(pod.uid)

    def assume(self, info: PodInfo, row: int, turn: int = 0) -> None:
        """Count the pod on this row before the API shows it. ``turn`` is as in ``add_pod``."""
        if not info.uid:
            raise CacheError("cannot get cache key for pod with empty UID")
        if info.uid in self.pods:
            raise CacheError(f"pod {info.uid}({info.key}) is in the cache, so can't be assumed")
        self._require_resources([info])
        self._assumed.add(info.uid)
        self._put_on_row(info, row, turn)

    def forget(self, uid: str) -> None:
        """Undo ``assume`` after a failed binding. Does nothing for a pod that is not known."""
        info = self.pods.get(uid)
        if info is None:
            return
        if uid not in self._assumed:
            raise CacheError(f"pod {uid}({info.key}) wasn't assumed so cannot be forgotten")
        self._take_off_row(info)
        self._assumed.discard(uid)

    # --- everything else -----------------------------------------------------------------------

    def set_object(self, obj: ApiObject) -> None:
        """Store an object that plugins look up, unless a newer version is stored already."""
        kind = type(obj)
        if self._store(kind).is_late(obj):
            return
        old = self._store(kind).set(obj)
        assumptions = self._assumptions.get(kind)
        ended = assumptions is not None and assumptions.check_against(obj, obj.key)
        if ended or old is None or not differ_only_in_version(old, obj):
            self._announce(kind, old, obj)

    def learn(self, obj: ApiObject) -> bool:
        """Store an object as a write has returned it, before the watch shows it.

        Returns false, and does nothing, if the object is not known: it may have been deleted.
        """
        known = self._store(type(obj)).get(obj.key)
        if known is None or known.uid != obj.uid:
            return False
        self.set_object(obj)
        return True

    def follow(self, kind: type[T], follower: Callable[[T | None, T | None], None]) -> None:
        """Call ``follower(old, new)`` for each object of a kind now, and for each later change.

        ``old`` is ``None`` now. A later call comes after the store and the journal have the change,
        so a follower may read the state.
        """
        for obj in self._store(kind):
            follower(None, obj)  # type: ignore[arg-type]  # keyed by what it holds
        self._followers.setdefault(kind, []).append(follower)

    def remove_object(self, kind: type[ApiObject], key: str) -> None:
        old = self._store(kind).remove(key)
        if old is None:
            return
        if kind in self._assumptions:
            self._assumptions[kind].check_against(None, key)
        self._announce(kind, old, None)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` when columns, groups and indexes differ from the pods."""
        check_invariants(self.table, self.groups, self.affinity, self.pods)
        self.storage.check(self.pods.values())
        self.volumes.check()

    # --- inside --------------------------------------------------------------------------------

    def _announce(
        self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None
    ) -> None:
        if aspects := ASPECTS[kind]:
            self.journal.record(NOWHERE, aspects)
        for follower in self._followers.get(kind, ()):
            follower(old, new)
        for row in self.storage.object_changed(kind, old, new):
            self.journal.record(row, Aspect.VOLUMES)

    def _announce_assumption(self) -> None:
        self.journal.record(NOWHERE, Aspect.STORAGE)

    def _counts_as(self, known: PodInfo, info: PodInfo) -> bool:
        """Return whether the new version of a placed pod changes neither row nor counts."""
        return known.row == self.table.row_of(info.pod.node_name) and info.counts_like(known)

    def _checked(self, pod: Pod) -> PodInfo:
        _require_node(pod)
        info = PodInfo(pod, self.request_rule)
        self._require_resources([info])
        return info

    def _check_new(self, infos: Sequence[PodInfo]) -> None:
        seen: set[str] = set()
        for info in infos:
            uid = info.uid
            if not uid or not info.pod.spec.node_name or uid in self.pods or uid in seen:
                _require_node(info.pod)
                raise _already_added(info.pod)
            seen.add(uid)

    def _require_resources(self, infos: Iterable[PodInfo]) -> None:
        for info in infos:
            for name in info.requests:
                self.table.resource_index(name)

    def _place(self, info: PodInfo, turn: int = 0) -> None:
        self._put_on_row(info, self._row_for(info), turn)

    def _row_for(self, info: PodInfo) -> int:
        """Return the row of the pod's node, which may be a new one."""
        row = self.table.ensure_row(info.pod.spec.node_name)
        if self.table.capacity > self._known_capacity:
            self._grow()
        return row

    def _share(self, info: PodInfo) -> None:
        """Store equal parts of placed pods once.

        A pod that was assumed is left alone until its kubelet updates it, so that confirming a
        binding stays cheap.
        """
        self._shared_parts.share_pod(info.pod)
        labels = info.pod.labels
        if info.label_set is not None and type(labels) is type(info.label_set.labels):
            force_setattr(info.pod.metadata, "labels", info.label_set.labels)
        force_setattr(info.pod.spec, "node_name", self.table.names[info.row])

    def _put_on_row(self, info: PodInfo, row: int, turn: int = 0) -> None:
        if not turn:
            self._turn = turn = self._turn + 1
        self._enter(info, row, turn)
        if turn < self._turn:
            in_order = sorted(self.table.pods[row].items(), key=lambda pair: pair[1].turn)
            self.table.pods[row] = dict(in_order)
        self.table.resources.add(info, row, 1)
        self.journal.record(row, info.aspects)

    def _enter(self, info: PodInfo, row: int, turn: int) -> None:
        """Enter the pod everywhere but in the columns of resources and in the journal."""
        info.row = row
        info.turn = turn
        self.pods[info.uid] = info
        self.table.pods[row][info.uid] = info
        self.groups.add(info, row)
        if info.has_affinity:
            self.affinity.add(info, row)
        if info.volumes:
            self.storage.pod_changed(info, row, 1)
        if info.ports:
            self.table.ports.add(info.ports, row)
            self.table.port_users[info.uid] = info

    def _take_off_row(self, info: PodInfo) -> None:
        row = info.row
        del self.pods[info.uid]
        del self.table.pods[row][info.uid]
        self.table.resources.add(info, row, -1)
        self.groups.remove(info, row)
        if info.has_affinity:
            self.affinity.remove(info, row)
        if info.volumes:
            self.storage.pod_changed(info, row, -1)
        if info.ports:
            self.table.ports.remove(info.ports, row)
            del self.table.port_users[info.uid]
        info.row = UNPLACED
        self.journal.record(row, info.aspects)
        self.table.retire_if_empty(row)

    def _grow(self) -> None:
        self._known_capacity = self.table.capacity
        self.groups.grow(self._known_capacity)
        self.storage.grow(self._known_capacity)


def _require_node(pod: Pod) -> None:
    if not pod.node_name:
        raise CacheError(f"pod {pod.uid}({pod.key}) has no node")


def _already_added(pod: Pod) -> CacheError:
    return CacheError(f"pod {_uid(pod)}({pod.key}) was already in added state")


def _uid(pod: Pod) -> str:
    if not pod.uid:
        raise CacheError("cannot get cache key for pod with empty UID")
    return pod.uid


def load(cluster: ClusterState, objects: Iterable[ApiObject]) -> None:
    """Add objects of any kind to the state; pods without a node are left out."""
    for obj in objects:
        if isinstance(obj, Node):
            cluster.set_node(obj)
        elif isinstance(obj, Pod):
            if obj.node_name:
                cluster.add_pod(obj)
        else:
            cluster.set_object(obj)
