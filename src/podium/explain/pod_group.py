"""Pods of a pod group: whether the group exists, has enough pods, and whether enough of them fit.

A core that explains knows no groups, so what GangScheduling would say is worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

from podium.api.objects import Pod, PodGroup
from podium.cycle.group_rules import problem_of
from podium.explain.amounts import holder, listed, plural
from podium.explain.case import Case
from podium.explain.group_trials import group_of, group_victims, placed_count
from podium.explain.reasons import reason_of
from podium.explain.values import Preemption, Reason
from podium.framework.status import Status
from podium.plugins.gang_scheduling import TOO_FEW_PODS, no_group

if TYPE_CHECKING:
    from podium.simulation.simulation import Simulation

_PLUGIN: Final = "GangScheduling"


class Held(NamedTuple):
    """Why a pod waits for its group, in a reason and in words that follow its name."""

    reason: Reason
    text: str
    group: str


def strangers(simulation: Simulation, pod: Pod) -> list[Pod]:
    """Return the pending members of a pod's group that name a scheduler which is not simulated."""
    profiles = simulation.core.profiles
    return [
        each
        for each in (simulation.pods.values() if pod.group_key else ())
        if each.group_key == pod.group_key
        and not each.node_name
        and each.scheduler_name not in profiles
    ]


def held_back(case: Case, others: Sequence[Pod] = ()) -> Held | None:
    """Return why the group of a pod is not tried; ``None`` if it is, or if there is no group.

    ``others`` are members that name another scheduler: they do not count.
    """
    key = case.pod.group_key
    if not key:
        return None
    group = case.cluster.objects(PodGroup).get(key)
    if group is None:
        return _held(
            no_group(case.pod), f"waits for its pod group {key}, which does not exist", key
        )
    known = placed_count(case) + len(_pending(case, key))
    if not group.is_gang or known >= group.min_count:
        return None
    wanted = plural(group.min_count, "pod")
    text = f"waits until its pod group {key} has {wanted}: it has {known}"
    return _held(TOO_FEW_PODS, f"{text}{_not_counted(others)}", key)


def _not_counted(others: Sequence[Pod]) -> str:
    if not others:
        return ""
    pod = others[0]
    more = f" (so do {len(others) - 1} more)" if len(others) > 1 else ""
    return f", because {pod.key} names the scheduler {pod.scheduler_name}{more}"


def disagreement(case: Case) -> Held | None:
    """Return in what the members of a group differ that must be the same for all of them."""
    key = case.pod.group_key
    group = group_of(case)
    if group is None:
        return None
    placed = [info.pod for info in case.cluster.pods.values() if info.pod.group_key == key]
    problem = problem_of(group, _pending(case, key), placed, case.core.profiles)
    if not problem:
        return None
    text = f"is not placed, because its pod group {key} cannot be tried: {problem}"
    return Held(reason_of(Status.error(problem).by(_PLUGIN), "PreEnqueue"), text, key)


def too_few_fit(case: Case) -> Held | None:
    """Return why a pod that fits is not placed: too few members of its gang fit with it."""
    key = case.pod.group_key
    group = group_of(case)
    if group is None or not group.is_gang:
        return None
    waiting = _pending(case, key)
    fitting = placed_count(case) + _fitting(case, waiting)
    if fitting >= group.min_count:
        return None
    message = f"minCount ({group.min_count}) cannot be satisfied: {fitting} scheduled"
    text = (
        f"fits on {case.attempt.node}, but its pod group {key} is placed only as a whole: "
        f"it needs nodes for {plural(group.min_count, 'pod')}, and there is room for {fitting}"
    )
    return _held(Status.unschedulable(message), text, key)


def preemption_of_group(case: Case) -> Preemption | None:
    """Return which pods the group evicts to make room; ``None`` if that makes no room."""
    group = group_of(case)
    if group is None:
        return None
    victims = group_victims(case, group, _pending(case, group.key))
    if not victims:
        return None
    names, have = listed(info.key for info in victims), "has" if len(victims) == 1 else "have"
    text = f"the pod group evicts {names}, which {have} a lower priority than {group.priority}"
    return Preemption(True, text, victims=tuple(map(holder, victims)), code="Preempting")


def _held(status: Status, text: str, group: str) -> Held:
    return Held(reason_of(status.by(_PLUGIN), "PreEnqueue"), text, group)


def _pending(case: Case, key: str) -> list[Pod]:
    """Return the members without a node, the pod itself among them."""
    return [pod for pod in (*case.earlier, case.pod, *case.later) if pod.group_key == key]


def _fitting(case: Case, members: Sequence[Pod]) -> int:
    """Return how many members get a node, each with those before it in place."""
    count = 0
    with ExitStack() as stack:
        for pod in members:
            attempt = case.attempts.run(pod)
            if attempt.places:
                stack.enter_context(case.attempts.settled(attempt))
                count += 1
    return count
