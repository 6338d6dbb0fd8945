"""GangScheduling: the pods of a gang are scheduled when enough of them fit, or not at all.

PreEnqueue         holds members back until the gang has ``minCount`` pods.
PlacementFeasible  ends a group's cycle as soon as ``minCount`` is out of reach.
Permit             holds members back until ``minCount`` of them have a node.
Requeue            when a pod joins the gang, or its ``minCount`` is lowered.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import ClassVar, Final

from podium import framework as fwk
from podium.api.meta import ApiObject
from podium.api.objects import Pod, PodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.framework.cluster_view import GroupMembers
from podium.framework.pod_groups import PlacementFeasiblePlugin, PlacementProgress

PATIENCE: Final = 300.0  # seconds
TOO_FEW_PODS: Final = fwk.Status.unresolvable(
    "waiting for minCount pods from a gang to appear in scheduling queue"
)
TOO_FEW_NODES: Final = fwk.wait(PATIENCE, "waiting for minCount pods from a gang to be scheduled")
EVENT: Final = "scheduling.k8s.io/PodGroup"


class GangScheduling(fwk.PreEnqueuePlugin, PlacementFeasiblePlugin, fwk.EnqueueExtensions):
    name = "GangScheduling"
    watches: ClassVar[tuple[type[ApiObject], ...]] = (PodGroup,)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._handle = handle
        self._groups = handle.cluster.objects(PodGroup)

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        if not pod.group_key:
            return fwk.SUCCESS
        group = self._groups.get(pod.group_key)
        if group is None:
            return no_group(pod)
        known = self._handle.cluster.members(group.key).pods
        return TOO_FEW_PODS if group.is_gang and len(known) < group.min_count else fwk.SUCCESS

    def placement_feasible(self, group: SchedulingGroup, progress: PlacementProgress) -> fwk.Status:
        return feasible(group.min_count, progress)

    def permit(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | fwk.Wait:
        if not pod.group_key:
            return fwk.SUCCESS
        group = self._groups.get(pod.group_key)
        if group is None:
            what = f"pod group object not found for pod group podgroup/{pod.group_key}"
            return fwk.Status.error(f"failed to get podGroup {pod.group_key}: {what}")
        if not group.is_gang:
            return fwk.SUCCESS
        members = self._handle.cluster.members(group.key)
        if members.scheduled_count < group.min_count:
            self.activate_one([members])
            return TOO_FEW_NODES
        self.allow(members)
        return fwk.SUCCESS

    def allow(self, members: GroupMembers) -> None:
        """Let members that wait for the others go on."""
        if len(self._handle.waiting_pods):
            for uid in members.assumed:
                waiting = self._handle.waiting_pods.get(uid)
                if waiting is not None:
                    waiting.allow(self.name)

    def activate_one(self, groups: Iterable[GroupMembers]) -> None:
        """Activate one waiting member, and so the whole group that it is queued with."""
        waiting = (each.pods[uid] for each in groups for uid in each.unscheduled)
        self._handle.activate(islice(waiting, 1))

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("UnscheduledPod", "add", hint=joined_the_gang, topic=OF_POD),
            fwk.on("AssignedPod", "add", hint=joined_the_gang, topic=OF_POD),
            fwk.on(EVENT, "add", hint=is_the_group, topic=OF_GROUP),
            fwk.on(EVENT, "update", hint=needs_fewer_pods, topic=OF_GROUP),
        ]


def no_group(pod: Pod) -> fwk.Status:
    name = pod.group_key.rpartition("/")[2]
    # The misspelt "pods's" is upstream's.
    return fwk.Status.unresolvable(
        f'waiting for pods\'s pod group "{name}" to appear in scheduling queue'
    )


def feasible(min_count: int, progress: PlacementProgress) -> fwk.Status:
    """Say whether enough members have a node, or may still get one."""
    remaining, scheduled = progress
    counts = f"{scheduled} scheduled, {remaining} remaining"
    if remaining + scheduled < min_count:
        return fwk.Status.unschedulable(f"minCount ({min_count}) cannot be satisfied: {counts}")
    if scheduled < min_count:
        text = f"minCount ({min_count}) is not yet satisfied: {counts}"
        return fwk.Status(fwk.Code.WAIT, (text,))
    return fwk.SUCCESS


def joined_the_gang(pod: Pod, old: Pod | None, new: Pod) -> bool:
    return bool(pod.group_key) and pod.group_key == new.group_key


def is_the_group(pod: Pod, old: PodGroup | None, new: PodGroup) -> bool:
    return pod.group_key == new.key


def needs_fewer_pods(pod: Pod, old: PodGroup, new: PodGroup) -> bool:
    return is_the_group(pod, old, new) and is_lowered(old, new)


def is_lowered(old: PodGroup, new: PodGroup) -> bool:
    """Whether the minimum of a gang is lower than before."""
    return old.is_gang and new.is_gang and new.min_count < old.min_count


def _group_of_pod(pod: Pod) -> tuple[str, ...]:
    return (pod.group_key,) if pod.group_key else ()


OF_POD: Final = fwk.Topic(lambda old, new: _group_of_pod(new), _group_of_pod)
OF_GROUP: Final = fwk.Topic(lambda old, new: (new.key,), _group_of_pod)
