"""Trials of a whole pod group: where its members would go, and which pods it would evict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from podium.api.objects import Pod, PodGroup
from podium.cycle.group_cycle import GroupCycle
from podium.cycle.group_result import GroupResult
from podium.cycle.group_trial import GroupTrial
from podium.explain.attempts import Attempt
from podium.explain.case import Case
from podium.explain.edits import Edit, applied
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import SUCCESS
from podium.plugins.preemption.groups import GroupPreemption
from podium.simulation.scheduling import run_apart
from podium.state.grouped_cluster import GroupedClusterState
from podium.state.pod_info import PodInfo


def group_of(case: Case) -> PodGroup | None:
    """Return the pod group of the pod, if it exists."""
    key = case.pod.group_key
    return case.cluster.objects(PodGroup).get(key) if key else None


def members(case: Case) -> list[Pod]:
    """Return the members without a node in the order of their names, the pod itself among them."""
    everyone = (*case.earlier, case.pod, *case.later)
    return sorted(
        (pod for pod in everyone if pod.group_key == case.pod.group_key), key=lambda pod: pod.name
    )


def placed_count(case: Case) -> int:
    key = case.pod.group_key
    return sum(info.pod.group_key == key for info in case.cluster.pods.values())


def try_group(case: Case, edits: Sequence[Edit], tried: Sequence[Pod]) -> Attempt | None:
    """Return the attempt that places the pod with these members; ``None`` if too few fit.

    The members are tried in this order, after the pods of others that come before them.
    """
    others = [pod for pod in case.earlier if pod.group_key != case.pod.group_key]
    others = [pod for pod in others if pod.priority >= tried[0].priority]
    mine: Attempt | None = None
    with ExitStack() as stack:
        stack.enter_context(applied(case.cluster, edits))
        stack.enter_context(case.after(others))
        group = group_of(case)
        count = placed_count(case)
        for pod in tried:
            attempt = case.attempts.run(pod)
            if attempt.places:
                stack.enter_context(case.attempts.settled(attempt))
                count += 1
                mine = attempt if pod.uid == case.pod.uid else mine
    least = group.min_count if group is not None and group.is_gang else 1
    return mine if count >= least else None


def group_victims(case: Case, group: PodGroup, tried: Sequence[Pod]) -> tuple[PodInfo, ...]:
    """Return the pods that a group would evict for these members; none if that does not help."""
    profile = case.attempt.profile
    plugins = () if profile is None else profile.pod_group_post_filters
    plugin = next((each for each in plugins if isinstance(each, GroupPreemption)), None)
    if profile is None or plugin is None or not isinstance(case.cluster, GroupedClusterState):
        return ()
    if group.topology_key or case.cluster.trees.parent_key(group):
        return ()  # it preempts for one placement, or with the priority of its tree
    queued = [QueuedPod.of(pod) for pod in tried if profile.run_pre_enqueue(pod).ok]
    if placed_count(case) + len(queued) < group.min_count:
        return ()  # such a group is not tried
    cycle = GroupCycle(case.core.services, profile, group, queued, case.core.cycle)
    walk = case.core.services.node_walk
    start = walk.start
    try:
        return run_apart(plugin.victims_for(GroupTrial(cycle, GroupResult(group, SUCCESS))))
    finally:
        walk.start = start
