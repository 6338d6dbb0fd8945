"""A pod group in the queue: it is queued, popped and tried as one, with its waiting members.

Of a tree of groups the root is queued, with the members of all groups below it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from copy import copy

from podium.api.pod_groups import POD_GROUP, SchedulingGroup
from podium.framework.queued_pod import QueuedPod
from podium.state.pod_info import PodInfo


def entity_key(group_key: str) -> str:
    """Return the key of a PodGroup in the queue; the key of a pod has only one slash."""
    return f"{POD_GROUP}/{group_key}"


def member_order(queued: QueuedPod) -> tuple[int, int, float, str]:
    """Return a value that sorts members as they are tried: first those tried most often."""
    return -queued.info.priority, -queued.attempts, queued.timestamp, queued.pod.name


class QueuedPodGroup(QueuedPod):
    """A group with its waiting members. To the queue it is like a pod.

    Invariants: ``members`` is sorted by ``member_order`` and not empty while the group is queued;
    ``_by_key`` has the same pods. Only the methods here change them.
    ``info`` is that of a member, with the priority of the group: the queue sorts by it. Of a gated
    group it is the member that ``gating_plugin`` holds back. A group has no rejectors of its own,
    so it waits among the failed pods in backoff, and is not popped early.
    """

    __slots__ = ("_by_key", "group", "members")

    def __init__(
        self, group: SchedulingGroup, members: Sequence[QueuedPod], timestamp: float
    ) -> None:
        super().__init__(members[0].info, timestamp)
        self.key = group.entity_key
        self.group = group
        self.members: list[QueuedPod] = sorted(members, key=member_order)
        self._by_key = {member.key: member for member in members}
        self.represent(self.members[0])

    def represent(self, member: QueuedPod) -> None:
        """Let this member stand for the group where the queue looks at a pod."""
        self.info = PodInfo(member.pod)
        self.info.priority = self.group.priority

    def take(self, group: SchedulingGroup) -> None:
        """Take the new version of the group."""
        self.group = group
        self.info.priority = group.priority

    def add(self, member: QueuedPod) -> None:
        insort(self.members, member, key=member_order)
        self._by_key[member.key] = member

    def find(self, pod_key: str) -> QueuedPod | None:
        return self._by_key.get(pod_key)

    def members_of(self, group_key: str) -> list[QueuedPod]:
        """Return the members that belong to this PodGroup, in order."""
        return [member for member in self.members if member.pod.group_key == group_key]

    def remove(self, pod_key: str) -> QueuedPod | None:
        member = self._by_key.pop(pod_key, None)
        if member is not None:
            self.members.remove(member)
            if self.members and member.uid == self.uid:
                self.represent(self.members[0])
        return member

    def keep(self, is_kept: Callable[[QueuedPod], bool]) -> None:
        """Drop the members for which this is false."""
        self.members = [member for member in self.members if is_kept(member)]
        self._by_key = {member.key: member for member in self.members}
        if self.members and self.find(self.pod.key) is None:
            self.represent(self.members[0])

    def copy(self) -> QueuedPodGroup:
        other = copy(self)
        other.members = [member.copy() for member in self.members]
        other._by_key = {member.key: member for member in other.members}
        return other

    def continued(self, members: Sequence[QueuedPod]) -> QueuedPodGroup:
        """Return the group with these members, and with what the queue remembers about it."""
        other = QueuedPodGroup(self.group, members, self.timestamp)
        other.attempts = self.attempts
        other.first_queued = self.first_queued
        other.unschedulable_count = self.unschedulable_count
        other.consecutive_errors = self.consecutive_errors
        other.backoff_expiry = self.backoff_expiry
        return other


def pods_of(queued: QueuedPod) -> list[QueuedPod]:
    """Return the members of a group, or the pod itself."""
    return queued.members if isinstance(queued, QueuedPodGroup) else [queued]
