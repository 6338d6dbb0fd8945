"""Where the pods of groups are in the queue: like ``inspection.py``, which sees entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Final

from podium.api.pod_groups import INITIALLY_SCHEDULED, PodGroup
from podium.framework.queued_pod import QueuedPod
from podium.framework.queued_pod_group import QueuedPodGroup, entity_key
from podium.metrics import POD, POD_GROUP
from podium.queue.inspection import GroupInQueue, Inspection, Place, PodInQueue
from podium.queue.observation import GroupPending
from podium.state.group_trees import GroupTrees

INCOMPLETE: Final = "incomplete"


@dataclass(frozen=True, slots=True)
class GroupInspection(Inspection):
    """Describes each waiting member by where its group is.

    ``trees`` has the groups that are known. ``incomplete`` has the pods for which the PodGroup or a
    group above it is not, by the key of the PodGroup and then by their own. Of a tree each PodGroup
    is shown, where the root of the tree is.
    """

    trees: GroupTrees
    incomplete: Mapping[str, Mapping[str, QueuedPod]]

    def of_pod(self, key: str) -> PodInQueue | None:
        found = Inspection.of_pod(self, key)
        if found is not None:
            return found
        for members in self.incomplete.values():
            if key in members:
                return replace(self._described(members[key]), queue=INCOMPLETE)
        for queued in self._groups():
            member = queued.find(key)
            if member is not None:
                return self._as_member(queued, member)
        return None

    def first(self, most: int) -> list[PodInQueue]:
        shown: list[PodInQueue] = []
        for each in Inspection.first(self, most):
            queued = self._group(each.pod)
            if queued is None:
                shown.append(each)
            else:
                shown += [self._as_member(queued, member) for member in queued.members[:most]]
        return shown

    def pods(self) -> Iterator[QueuedPod]:
        return _members_of(Inspection.pods(self))

    def refused(self) -> Iterator[QueuedPod]:
        without = (members.values() for members in self.incomplete.values())
        return chain(_members_of(Inspection.refused(self)), *without)

    def groups(self, others: Iterable[str] = ()) -> list[GroupInQueue]:
        queued = chain.from_iterable(map(self._with_members, self._groups()))
        found = {each.key: each for each in queued}
        found |= {key: self._without_group(key, own) for key, own in self.incomplete.items()}
        for group in filter(None, map(self.trees.pod_group, others)):
            found.setdefault(group.key, GroupInQueue(group.key, None, group.min_count))
        return list(found.values())

    def _with_members(self, queued: QueuedPodGroup) -> Iterator[GroupInQueue]:
        state = self._described(queued)
        members: dict[str, set[str]] = {}
        for member in queued.members:
            members.setdefault(member.pod.group_key, set()).add(member.key)
        for key, own in members.items():
            group = self.trees.pod_group(key)
            if group is not None:
                yield GroupInQueue(key, state, group.min_count, frozenset(own), _said(group))

    def _without_group(self, key: str, members: Mapping[str, QueuedPod]) -> GroupInQueue:
        first = min(members.values(), key=lambda member: member.timestamp)
        state = replace(self._described(first), pod=entity_key(key), queue=INCOMPLETE)
        return GroupInQueue(key, state, members=frozenset(members))

    def pending(self, incomplete: int, pending: int) -> GroupPending:
        """Count the pods in each sub-queue, given those that are in none."""
        held = [(queued.is_gated, _size(queued)) for queued in list(self.queues.unschedulable)]
        gated = sum(size for is_gated, size in held if is_gated)
        unschedulable = sum(size for _, size in held) - gated
        active, backoff = (
            sum(map(_size, list(part))) for part in (self.queues.active, self.queues.backoff)
        )
        return GroupPending(active, backoff, unschedulable, gated, incomplete, pending)

    def entities(self) -> Mapping[tuple[str, ...], float]:
        """Count what is queued by sub-queue and type."""
        queues = ("active", "backoff", "unschedulable", "gated")
        found: dict[tuple[str, ...], float] = dict.fromkeys(product(queues, (POD, POD_GROUP)), 0)
        parts = (("active", self.queues.active), ("backoff", self.queues.backoff))
        for name, part in (*parts, ("unschedulable", self.queues.unschedulable)):
            for queued in list(part):
                kind = POD_GROUP if isinstance(queued, QueuedPodGroup) else POD
                found["gated" if queued.is_gated else name, kind] += 1
        return found

    def queue_of(self, key: str) -> str:
        """Return where a pod or a group is; a member is where its group is."""
        found = Inspection.queue_of(self, key)
        if found:
            return found
        if any(key in members for members in self.incomplete.values()):
            return INCOMPLETE
        home = next((queued for queued in self._groups() if queued.find(key)), None)
        return "" if home is None else Inspection.queue_of(self, home.key)

    def place_of(self, queued: QueuedPod) -> Place:
        key = queued.pod.group_key
        if not key:
            return Inspection.place_of(self, queued)
        if key in self.incomplete:
            return Place(INCOMPLETE)
        root = self.trees.root_of(queued.pod)
        group = None if root is None else self._group(root.entity_key)
        return Place("") if group is None else Inspection.place_of(self, group)

    def _groups(self) -> Iterator[QueuedPodGroup]:
        for queued in Inspection.pods(self):
            if isinstance(queued, QueuedPodGroup):
                yield queued

    def _group(self, key: str) -> QueuedPodGroup | None:
        found = self.queues.find(key)
        return found if isinstance(found, QueuedPodGroup) else None

    def _as_member(self, queued: QueuedPodGroup, member: QueuedPod) -> PodInQueue:
        whole = self._described(queued)
        own = self._described(member)
        return replace(
            own,
            queue=whole.queue,
            backoff_until=whole.backoff_until,
            retried_at=whole.retried_at,
            gated_by=queued.gating_plugin,
            waking_events=whole.waking_events,
        )


def _members_of(entities: Iterable[QueuedPod]) -> Iterator[QueuedPod]:
    for queued in entities:
        yield from queued.members if isinstance(queued, QueuedPodGroup) else (queued,)


def _said(group: PodGroup) -> str:
    """Return why the group was not scheduled, as its condition says."""
    found = (each for each in group.status.conditions if each.type == INITIALLY_SCHEDULED)
    return next((each.message for each in found if each.status == "False"), "")


def _size(queued: QueuedPod) -> int:
    return len(queued.members) if isinstance(queued, QueuedPodGroup) else 1
