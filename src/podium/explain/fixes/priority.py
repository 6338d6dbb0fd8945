"""A higher priority: the lowest one for which preemption makes room, with its victims."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from podium.api.objects import Pod
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.edits import departure
from podium.explain.fixes.candidate import Candidate
from podium.explain.preemption import Preempted, preempt
from podium.explain.values import Change
from podium.state.pod_info import PodInfo

KIND: Final = "priority"
# What users may give: higher ones are for the system.
HIGHEST: Final = 1_000_000_000
_MOST_PRIORITIES: Final = 64


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield priorities for which preemption finds victims, the lowest first.

    A pod that only its policy keeps from preempting needs no higher one: see ``willing``.
    """
    if case.verdicts is None or next(willing(case), None) is not None:
        return
    present = {info.priority for info in case.cluster.pods.values()}
    present |= {info.priority for info in _nominated(case)}
    wanted = sorted(each + 1 for each in present if case.pod.priority <= each < HIGHEST)
    for priority in wanted[:_MOST_PRIORITIES]:
        variant = raised(case.pod, priority)
        if case.attempts.run(variant).places:
            yield _overtaking(case, priority)
        found = _victims(case, variant)
        if found is not None:
            yield _evicting(case, KIND, priority, found)


def willing(case: Case) -> Iterator[Candidate]:
    """Yield the pod with a policy that lets it preempt, if that makes room."""
    if case.verdicts is None or case.pod.spec.preemption_policy != "Never":
        return
    priority = case.pod.priority
    found = _victims(case, raised(case.pod, priority)) if priority <= HIGHEST else None
    if found is not None:
        yield _evicting(case, "preemption-policy", priority, found)


def _nominated(case: Case) -> Iterator[PodInfo]:
    """Yield the pods for which preemption makes room: a pod of higher priority comes first."""
    nominator = case.core.nominator
    for name in case.cluster.table.names if len(nominator) else ():
        yield from nominator.on(name)


def _overtaking(case: Case, priority: int) -> Candidate:
    """Return a priority that gives the pod room which is kept for nominated pods."""
    names = sorted(info.key for info in _nominated(case) if info.priority < priority)
    return Candidate(
        KIND,
        f"{_text(KIND, priority)}, so that it comes before {listed(names)}",
        partial(raised, priority=priority),
        changes=(creation_of_class(priority),),
        details={"priority": priority},
    )


def _text(kind: str, priority: int) -> str:
    if kind == KIND:
        return f"raise its priority to {priority}"
    return "use a priority class that lets it preempt"


def without_victims(candidate: Candidate) -> Candidate:
    """Return the same change where the victims depend on what else changes."""
    if not candidate.nominated:
        return candidate
    text = _text(candidate.kind, candidate.details["priority"])
    return dataclasses.replace(candidate, text=text, edits=(), victims=(), tied=1, nominated="")


def _evicting(case: Case, kind: str, priority: int, found: Preempted) -> Candidate:
    chosen = found.candidate
    assert chosen is not None
    return Candidate(
        kind,
        f"{_text(kind, priority)}, which evicts {_names(found)}",
        partial(raised, priority=priority),
        tuple(edit for info in chosen.victims for edit in departure(case.cluster, info)),
        (creation_of_class(priority),),
        {"priority": priority},
        tuple(info.key for info in chosen.victims),
        found.tied,
        chosen.node,
    )


def creation_of_class(priority: int) -> Change:
    name = class_name(priority)
    manifest = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": priority,
    }
    text = f"create a priority class with the value {priority}, unless there is one"
    return Change("create", "PriorityClass", name, text, object=manifest)


def _victims(case: Case, pod: Pod) -> Preempted | None:
    """Return the victims that the pod would have."""
    attempt = case.attempts.run(pod)
    if attempt.places:
        return None
    preempted = preempt(attempt)
    return None if preempted is None or preempted.candidate is None else preempted


def raised(pod: Pod, priority: int) -> Pod:
    """Return the pod with a class of this priority, which lets it preempt."""
    policy = "PreemptLowerPriority" if pod.spec.preemption_policy else ""
    return replace(
        pod,
        spec=replace(
            pod.spec,
            priority=priority,
            priority_class_name=class_name(priority),
            preemption_policy=policy,
        ),
    )


def class_name(priority: int) -> str:
    return f"priority-{priority}"


def _names(found: Preempted) -> str:
    chosen = found.candidate
    assert chosen is not None
    return f"{listed(info.key for info in chosen.victims)} on {chosen.node}"
