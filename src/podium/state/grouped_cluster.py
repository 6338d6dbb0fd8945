"""The state of a cluster whose pod groups are known; built with the gate GenericWorkload only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from podium.api.objects import CompositePodGroup, Pod, PodGroup
from podium.api.resources import HELD_IN_SUM, RequestRule
from podium.state.cluster import ClusterState
from podium.state.group_members import NO_MEMBERS, GroupMembers
from podium.state.group_trees import GroupTrees
from podium.state.pod_info import PodInfo


class GroupedClusterState(ClusterState):
    """A cluster whose groups know their members.

    Invariant: a placed pod of a group is assumed there exactly if it is assumed here.
    """

    has_composites: ClassVar[bool] = False

    def __init__(self, request_rule: RequestRule = HELD_IN_SUM) -> None:
        super().__init__(request_rule)
        self._members: dict[str, GroupMembers] = {}
        self.trees = GroupTrees(has_composites=self.has_composites)
        self.follow(PodGroup, self.trees.change)
        self.follow(CompositePodGroup, self.trees.change)

    def members(self, group_key: str) -> GroupMembers:
        return self._members.get(group_key, NO_MEMBERS)

    def see_member(self, pod: Pod) -> None:
        """Take a pod of a group as the API shows it."""
        key = pod.group_key
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = GroupMembers()
        found.see(pod)

    def remove_member(self, pod: Pod) -> None:
        """Drop a pod that was deleted."""
        found = self._members.get(pod.group_key)
        if found is not None:
            found.remove(pod.uid)
            if not found.pods:
                del self._members[pod.group_key]

    def set_aside(self, info: PodInfo) -> int:
        """Take a placed pod off its row for a dry run. Return the row, for ``put_back``."""
        row = info.row
        self._take_off_row(info)
        if key := info.pod.group_key:
            self.members(key).remove(info.uid)
        return row

    def put_back(self, info: PodInfo, row: int) -> None:
        """Undo ``set_aside``."""
        self._put_on_row(info, row, info.turn)
        if key := info.pod.group_key:
            members = self._members.setdefault(key, GroupMembers())
            members.restore(info.pod, is_assumed=self.is_assumed(info.uid))

    def add_pod(self, pod: Pod, turn: int = 0) -> PodInfo:
        info = super().add_pod(pod, turn)
        if pod.group_key:
            self.see_member(pod)
        return info

    def add_pods(self, pods: Iterable[Pod]) -> None:
        pods = list(pods)
        super().add_pods(pods)
        for pod in pods:
            if pod.group_key:
                self.see_member(pod)

    def update_pod(self, pod: Pod) -> PodInfo:
        info = super().update_pod(pod)
        if pod.group_key:
            self.see_member(pod)
        return info

    def remove_pod(self, pod: Pod) -> None:
        super().remove_pod(pod)
        if pod.group_key:
            self.remove_member(pod)

    def assume(self, info: PodInfo, row: int, turn: int = 0) -> None:
        super().assume(info, row, turn)
        if key := info.pod.group_key:
            self.members(key).assume(info.uid)

    def forget(self, uid: str) -> None:
        info = self.pods.get(uid)
        super().forget(uid)
        if info is not None and (key := info.pod.group_key):
            self.members(key).forget(uid)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert not NO_MEMBERS.pods, "the empty group has members"
        self.trees.check()
        for members in self._members.values():
            members.check()
        for info in self.pods.values():
            if key := info.pod.group_key:
                known = self.members(key)
                if info.uid in known.pods:
                    part = known.assumed if self.is_assumed(info.uid) else known.assigned
                    assert info.uid in part, f"{info.key} is in the wrong part of its group"


class CompositeClusterState(GroupedClusterState):
    """A cluster state with the feature gate CompositePodGroup: groups may belong to groups."""

    has_composites = True
