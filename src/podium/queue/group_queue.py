"""The scheduling queue with the feature gate GenericWorkload: pod groups wait and are tried whole.

The pods of a group are not queued one by one. Its first waiting pod makes a ``QueuedPodGroup``,
which is active, backing off or gated like a pod; later pods join it. Of a tree of groups the root
is queued, with the pods of all groups below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from podium.api.objects import Pod
from podium.api.pod_groups import SchedulingGroup
from podium.framework.queued_pod import QueuedPod
from podium.framework.queued_pod_group import QueuedPodGroup, entity_key
from podium.framework.status import Status
from podium.logs import get_logger
from podium.queue import labels
from podium.queue.backoff import Backoff
from podium.queue.group_inspection import GroupInspection
from podium.queue.group_moves import GroupMoves
from podium.queue.in_flight import ClusterChange, own_changes
from podium.queue.members import MembersByGroup
from podium.queue.observation import GroupPending
from podium.queue.patient_queue import PatientBackoff, PatientQueue
from podium.queue.requeueing import Strategy
from podium.queue.scheduling_queue import SchedulingQueue
from podium.state.group_trees import GroupTrees

log = get_logger(__name__)


class GroupBackoff(Backoff):
    """Backoff in which a group with many members may wait longer than a pod."""

    def longest(self, queued: QueuedPod) -> float:
        if isinstance(queued, QueuedPodGroup):
            return super().longest(queued) * math.sqrt(len(queued.members))
        return super().longest(queued)


class GroupQueue(GroupMoves, SchedulingQueue):
    """All pending pods, those of a group in one entity.

    A pod of a group is in exactly one of these: the ``QueuedPodGroup`` of the root of its tree, in
    one of the sub-queues; ``_incomplete``, while that root is not known; ``_returning``, from the
    moment it comes back from an attempt until its group does; in flight. A group in work is in no
    sub-queue, so while ``_in_work`` is its key, pods that are added return with it. ``_returning``
    has no pods of other groups. When a change of a group gives pods another root, ``_rehome`` moves
    them.
    """

    backoff: ClassVar[type[Backoff]] = GroupBackoff

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._trees = GroupTrees(has_composites=self._options.has_composites)
        self._incomplete = MembersByGroup()
        self._returning = MembersByGroup()
        self._in_work = ""  # the key of the pod or group that was popped last
        self.inspection = self._groups_inspected = GroupInspection(
            self._queues,
            lambda: self._profiles,
            self._options,
            self._trees,
            self._incomplete.by_group,
        )

    # --- pods are added, changed and deleted ------------------------------------------------------

    def add(self, pod: Pod) -> None:
        if not pod.group_key:
            super().add(pod)
            return
        self._drop_member(pod)
        member = QueuedPod.of(pod, self._clock.now())
        self._nominator.add(member.info)
        self._add_member(member)

    def _add_member(self, member: QueuedPod) -> None:
        """Let a pod wait with its group, wherever that is."""
        root = self._trees.root_of(member.pod)
        if root is None:
            self._incomplete.add(member)
            return
        queued = self._queued_group(root.entity_key)
        if queued is not None:
            self._join(queued, member)
        elif self._in_work == root.entity_key:
            self._returning.add(member)
        else:
            self._start_group(QueuedPodGroup(root, [member], member.timestamp))

    def _start_group(self, first: QueuedPodGroup) -> None:
        """Queue a group for its first waiting pod.

        A pod whose binding failed brings its pause along. With kube-scheduler the group is tried
        at once, and fails at once, for as long as bindings fail.
        """
        [member] = first.members
        first.unschedulable_count = member.unschedulable_count
        first.consecutive_errors = member.consecutive_errors
        if self._backoff.is_backing_off(first):
            self._to_backoff(first, labels.ATTEMPT_FAILED)
        else:
            self._to_active(first, self._events.added)

    def _join(self, queued: QueuedPodGroup, member: QueuedPod) -> None:
        """Add a pod to its queued group. A gated one holds back a group that was not gated."""
        queued.add(member)
        if queued.key in self._unschedulable:
            return  # the event about the new pod decides whether the group is looked at again
        plugin = self._gating.refusing_plugin(member)  # the others have been asked
        if plugin:
            self._hold_back(member, plugin)
            self._park(queued, member, self._events.added)
        elif queued.key in self._backoff and not self._backoff.is_backing_off(queued):
            self._backoff.remove(queued.key)
            self._enter_active(queued, self._events.added)

    def update(self, old: Pod | None, new: Pod) -> None:
        if not new.group_key or new.uid in self._in_flight:
            super().update(old, new)
            return
        member = self._member(new)
        if member is None or member.uid != new.uid:
            self.add(new)
            return
        member.replace(new)
        self._nominator.update(member.info, old.nominated_node_name if old else "")
        queued = self._group_of(new)
        if queued is not None:
            if queued.uid == member.uid:
                queued.represent(member)
            if queued.key in self._unschedulable:
                self._unschedulable.put(queued)
                self._reconsider_group(queued, own_changes(self._events, old, new))

    def _reconsider_group(self, queued: QueuedPodGroup, changes: Iterable[ClusterChange]) -> None:
        """Requeue a gated group if the change of a member may help."""
        for change in changes:
            self._requeue(queued, self._strategy(queued, change), change.label)
            if queued.key not in self._unschedulable:
                return

    def delete(self, pod: Pod) -> None:
        if not pod.group_key:
            super().delete(pod)
            return
        self._nominator.remove(pod.uid)
        member = self._member(pod)
        if member is not None and member.uid == pod.uid:
            self._drop_member(pod)

    def _drop_member(self, pod: Pod) -> None:
        """Remove a pod of this name from its group, and the group if it was the last one."""
        for apart in (self._incomplete, self._returning):
            apart.remove(pod.group_key, pod.key)
        queued = self._group_of(pod)
        gated_by = "" if queued is None else queued.pod.key
        if queued is None or queued.remove(pod.key) is None:
            return
        if queued.members:
            self._lost_members(queued, gated_by)
        else:
            self._remove(queued.key)

    def _lost_members(self, queued: QueuedPodGroup, gated_by: str) -> None:
        """Some members are gone; ``gated_by`` is the one that stood for the group until then."""
        if queued.key in self._unschedulable:
            self._unschedulable.put(queued)
            if gated_by != queued.pod.key:
                # The pod that held the group back is gone. kube-scheduler waits for an event of
                # the plugin that gated it, which may never come, or for five minutes.
                self._requeue(queued, Strategy.AFTER_BACKOFF, self._events.deleted)

    def waiting(self) -> list[tuple[QueuedPod, str]]:
        return [
            *((queued, self._queues.queue_of(queued.key)) for queued in self._queues),
            *((member, "") for member in self._incomplete),
        ]

    def restore(self, queued: QueuedPod, queue: str) -> None:
        if isinstance(queued, QueuedPodGroup):
            queued.take(self._current(queued.group))
        if queue:
            super().restore(queued, queue)
        else:
            self._add_member(queued)

    def _queued_group(self, key: str) -> QueuedPodGroup | None:
        found = self._queues.find(key)
        return found if isinstance(found, QueuedPodGroup) else None

    def _group_of(self, pod: Pod) -> QueuedPodGroup | None:
        """Return the queued group that has, or may take, the members of this pod's group."""
        root = self._trees.root_of(pod)
        return None if root is None else self._queued_group(root.entity_key)

    def _current(self, group: SchedulingGroup) -> SchedulingGroup:
        """Return the present version of a group that pods wait for."""
        known = self._trees.get(group.entity_key)
        assert known is not None, f"{group.entity_key} is not known"
        return known

    def _member(self, pod: Pod) -> QueuedPod | None:
        """Find the waiting pod of this name."""
        for apart in (self._incomplete, self._returning):
            if (member := apart.find(pod.group_key, pod.key)) is not None:
                return member
        queued = self._group_of(pod)
        return None if queued is None else queued.find(pod.key)

    def _key_of(self, pod: Pod) -> str:
        if not pod.group_key:
            return pod.key
        root = self._trees.root_of(pod)
        return entity_key(pod.group_key) if root is None else root.entity_key

    # --- groups are added, changed and deleted ----------------------------------------------------

    def set_group(self, group: SchedulingGroup) -> None:
        """Take a group, or its new version. Pods that waited for it join its tree."""
        self._rehome(group, self._trees.put)
        queued = self._queued_group(group.entity_key)
        if queued is not None:
            queued.take(group)
            if queued.key in self._active:
                self._active.push(queued)

    def remove_group(self, group: SchedulingGroup) -> None:
        """Forget a group. The pods below it wait until there is one of this name again."""
        root = self._trees.root(group)
        self._rehome(group, self._trees.remove)
        queued = None if root is None else self._queued_group(root.entity_key)
        if queued is not None and queued.key not in self._unschedulable:
            gated = self._gated_member(queued)
            if gated is not None:  # what is left of the tree is not enough
                self._park(queued, gated, self._events.updated)

    def _rehome(self, group: SchedulingGroup, change: Callable[[SchedulingGroup], None]) -> None:
        """Change the trees, and move the waiting pods that have another root then."""
        before = self._roots_below(group)
        change(group)
        after = self._roots_below(group)
        moved = [key for key in before | after if before.get(key) != after.get(key)]
        members = [each for key in moved for each in self._take_out(key, before.get(key))]
        for member in members:
            self._add_member(member)

    def _roots_below(self, group: SchedulingGroup) -> dict[str, str | None]:
        """Return the key of the root, if there is one, of each PodGroup at or below this group."""
        found: dict[str, str | None] = {}
        for leaf in self._trees.leaves(group):
            root = self._trees.root(leaf)
            found[leaf.key] = None if root is None else root.entity_key
        return found

    def _take_out(self, group_key: str, root_key: str | None) -> list[QueuedPod]:
        """Take the waiting pods of a PodGroup from wherever they are."""
        members = [*self._incomplete.take(group_key), *self._returning.take(group_key)]
        queued = None if root_key is None else self._queued_group(root_key)
        own = queued.members_of(group_key) if queued is not None else []
        if queued is not None and own:
            gated_by = queued.pod.key
            queued.keep(lambda member: member.pod.group_key != group_key)
            if queued.members:
                self._lost_members(queued, gated_by)
            else:
                self._queues.remove(queued.key)
        return [*members, *own]

    # --- one attempt ------------------------------------------------------------------------------

    def _start(self, queued: QueuedPod) -> bool:
        self._in_work = queued.key
        if not isinstance(queued, QueuedPodGroup):
            return super()._start(queued)
        queued.attempts += 1
        queued.keep(super()._start)
        return bool(queued.members)

    def put_back(self, queued: QueuedPod) -> None:
        if not queued.pod.group_key:
            self._in_work = ""
            super().put_back(queued)
            return
        self._backoff.count_failure(queued)
        self.done(queued.uid)
        self._add_member(queued)

    def put_back_group(self, queued: QueuedPodGroup, status: Status) -> None:
        """Take back a group after its attempt, with the members that came back.

        ``status`` is how the attempt ended. After a success, members that were left over are tried
        again at once and in turn: that attempt may preempt.
        """
        self._in_work = ""
        left = self._returning.take_all()
        if not left:
            return
        again = queued.continued(left)
        again.take(self._current(queued.group))
        tried = {member.uid for member in queued.members}
        keeps_turn = status.ok and any(member.uid in tried for member in left)
        _count(again, status)
        if not keeps_turn:
            again.timestamp = self._clock.now()
        if not status.ok and self._backoff.is_backing_off(again):
            self._to_backoff(again, labels.ATTEMPT_FAILED)
        else:
            self._to_active(again, labels.ATTEMPT_FAILED)

    # --- for metrics, dumps and tests -------------------------------------------------------------

    def pending(self) -> GroupPending:
        return self._groups_inspected.pending(len(self._incomplete), len(self._returning))

    def pods(self) -> list[QueuedPod]:
        return [*super().pods(), *self._incomplete, *self._returning]

    def entities(self) -> Mapping[tuple[str, ...], float]:
        return self._groups_inspected.entities()

    def check_invariants(self) -> None:
        super().check_invariants()
        for queued in self._queues:
            if not isinstance(queued, QueuedPodGroup):
                continue
            assert queued.members, f"{queued.key} has no members"
            assert queued.group is self._current(queued.group), f"{queued.key} is outdated"
            assert queued.key != self._in_work or not self._returning
            homes = {self._key_of(member.pod) for member in queued.members}
            assert homes == {queued.key}, f"{queued.key} has members of {homes}"
        self._trees.check()
        for member in self._incomplete:
            assert self._trees.root_of(member.pod) is None, f"{member.key} need not wait"
        for member in self._returning:
            assert self._key_of(member.pod) == self._in_work, f"{member.key} does not return"


class PatientGroupBackoff(GroupBackoff, PatientBackoff):
    pass


class PatientGroupQueue(GroupQueue, PatientQueue):
    """The queue with pod groups and without SchedulerPopFromBackoffQ."""

    backoff: ClassVar[type[Backoff]] = PatientGroupBackoff


def _count(queued: QueuedPodGroup, status: Status) -> None:
    """Count how an attempt ended. Backoff depends on it."""
    queued.backoff_expiry = None
    if status.ok:
        queued.unschedulable_count = queued.consecutive_errors = 0
    elif status.is_rejection:
        queued.unschedulable_count += 1
        queued.consecutive_errors = 0
    else:
        queued.consecutive_errors += 1
