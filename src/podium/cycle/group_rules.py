"""What the members of a pod group must have in common to be scheduled together."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import chain
from typing import Final

from podium.api.objects import Pod
from podium.api.pod_groups import PREEMPT_LOWER_PRIORITY, SchedulingGroup

PolicyRule = Callable[[SchedulingGroup, Pod, Pod], str]
"""Says what is wrong with the preemption policy of a pod, given the group and its first pod."""

_SAME: Final = "all pods in a single pod group should have the same"


def policy_of_first(group: SchedulingGroup, first: Pod, pod: Pod) -> str:
    """All pods must have the preemption policy of the first one."""
    if _policy(pod) == _policy(first):
        return ""
    return f"{_SAME} preemption policy, got {_policy(pod)} and {_policy(first)}"


def policy_of_group(group: SchedulingGroup, first: Pod, pod: Pod) -> str:
    """All pods must have the preemption policy of the group: the gate PodGroupPreemptionPolicy."""
    if _policy(pod) == group.preemption_policy:
        return ""
    got = f"got {_policy(pod)} and {group.preemption_policy}"
    return f"{_SAME} preemption policy as the pod group's preemption policy, {got}"


def problem_of(
    group: SchedulingGroup,
    waiting: Iterable[Pod],
    placed: Iterable[Pod],
    profiles: Container[str],
    policy_rule: PolicyRule = policy_of_first,
) -> str:
    """Return why these pods cannot be scheduled as one group; empty if they can.

    All must agree with the first waiting pod, and have the priority of the group.
    """
    first: Pod | None = None
    for pod in chain(waiting, placed):
        first = first or pod
        if found := _difference(group, first, pod) or policy_rule(group, first, pod):
            return found
    if first is not None and first.scheduler_name not in profiles:
        return f'profile not found for scheduler name "{first.scheduler_name}"'
    return ""


def _difference(group: SchedulingGroup, first: Pod, pod: Pod) -> str:
    if pod.scheduler_name != first.scheduler_name:
        names = f'"{pod.scheduler_name}" and "{first.scheduler_name}"'
        return f"{_SAME} .spec.schedulerName set, got: {names}"
    if pod.priority != group.priority:
        priorities = f"{pod.priority} and {group.priority}"
        return f"{_SAME} priority as the pod group's priority, got {priorities}"
    return ""


def _policy(pod: Pod) -> str:
    return pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY
