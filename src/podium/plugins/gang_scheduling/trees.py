"""GangScheduling with the feature gate CompositePodGroup: groups may belong to groups.

PreEnqueue and Permit count over the whole tree of a pod: a PodGroup counts for its parent when it
has ``minCount`` pods, or one if it is not a gang, and a CompositePodGroup when ``minGroupCount``
groups below it count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from podium import framework as fwk
from podium.api.objects import CompositePodGroup, Pod, PodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.framework.cluster_view import MAX_DEPTH, GroupMembers
from podium.plugins.gang_scheduling import EVENT, PATIENCE, GangScheduling, is_lowered

COMPOSITE_EVENT: Final = "scheduling.k8s.io/CompositePodGroup"


class TreeGangScheduling(GangScheduling):
    """GangScheduling with the feature gate CompositePodGroup."""

    watches = (PodGroup, CompositePodGroup)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        super().__init__(args, handle)
        self._trees = handle.cluster.trees

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        group = self._trees.group_of(pod)
        if group is None or not group.parent_key:
            return super().pre_enqueue(pod)
        root, problem = self._root(group)
        if root is None:
            return fwk.Status.unresolvable(problem)
        if self._is_ready(root, lambda members: len(members.pods)):
            return fwk.SUCCESS
        return fwk.Status.unresolvable(no_quorum(root))

    def permit(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | fwk.Wait:
        group = self._trees.group_of(pod)
        if group is None or not group.parent_key:
            return super().permit(state, pod, node_name)
        root, problem = self._root(group)
        if root is None:
            return fwk.Status.error(problem)
        tree = [self._handle.cluster.members(leaf.key) for leaf in self._trees.leaves(root)]
        if not self._is_ready(root, lambda members: members.scheduled_count):
            self.activate_one(tree)
            return fwk.wait(PATIENCE, no_quorum(root))
        for members in tree:
            self.allow(members)
        return fwk.SUCCESS

    def _root(self, group: PodGroup) -> tuple[SchedulingGroup | None, str]:
        """Return the root of a tree that is not too deep, or why there is none.

        As upstream, ``MAX_DEPTH`` counts only the levels above the PodGroup here.
        """
        lineage = self._trees.lineage(group)
        missing = self._trees.parent_key(lineage[-1])
        if not missing and len(lineage) - 1 <= MAX_DEPTH:
            return lineage[-1], ""
        what = "composite pod group object not found in state for"
        # Of a tree that is too deep kube-scheduler says it of the group's own parent.
        return None, f"failed to build hierarchy snapshot: {what} {missing or group.parent_key}"

    def _is_ready(self, group: SchedulingGroup, count: Callable[[GroupMembers], int]) -> bool:
        if isinstance(group, PodGroup):
            return count(self._handle.cluster.members(group.key)) >= group.min_count
        ready = sum(self._is_ready(child, count) for child in self._trees.children(group))
        return ready >= group.min_count

    def events_to_register(self) -> list[fwk.Registration]:
        of_pod = fwk.Topic(lambda old, new: self._tree_of_pod(new), self._tree_of_pod)
        of_group = fwk.Topic(lambda old, new: self._tree_of(new), self._tree_of_pod)
        return [
            fwk.on("UnscheduledPod", "add", hint=self._joined_the_tree, topic=of_pod),
            fwk.on("AssignedPod", "add", hint=self._joined_the_tree, topic=of_pod),
            fwk.on(EVENT, "add", hint=self._is_of_the_tree, topic=of_group),
            fwk.on(EVENT, "update", hint=self._needs_fewer_pods, topic=of_group),
            fwk.on(COMPOSITE_EVENT, "add", hint=self._is_of_the_tree, topic=of_group),
        ]

    def _joined_the_tree(self, pod: Pod, old: Pod | None, new: Pod) -> bool:
        tree = self._tree_of_pod(pod)
        return bool(tree) and tree == self._tree_of_pod(new)

    def _is_of_the_tree(self, pod: Pod, old: object, new: SchedulingGroup) -> bool:
        tree = self._tree_of_pod(pod)
        return bool(tree) and tree == self._tree_of(new)

    def _needs_fewer_pods(self, pod: Pod, old: PodGroup, new: PodGroup) -> bool:
        return is_lowered(old, new) and self._is_of_the_tree(pod, old, new)

    def _tree_of_pod(self, pod: Pod) -> tuple[str, ...]:
        group = self._trees.group_of(pod)
        return () if group is None else self._tree_of(group)

    def _tree_of(self, group: SchedulingGroup) -> tuple[str, ...]:
        root = self._trees.root(group)
        return () if root is None else (root.entity_key,)


def no_quorum(root: SchedulingGroup) -> str:
    return f'waiting for composite pod group "{root.name}" tree to meet quorum'
