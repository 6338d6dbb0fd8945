"""What would help a pod that waits for its pod group.

These are the group, a lower ``minCount``, smaller requests, a higher priority, or more nodes. A
trial places the members one after the other, as a cycle for the group does, and undoes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final, TypeVar

from msgspec.structs import replace

from podium.api.objects import ObjectMeta, Pod, PodGroup
from podium.api.pod_groups import GangSchedulingPolicy, PodGroupSchedulingPolicy, PodGroupSpec
from podium.explain.amounts import listed, plural
from podium.explain.attempts import Attempt
from podium.explain.case import Case
from podium.explain.edits import SetObject, applied, departure
from podium.explain.fixes import group_requests, nodes, priority
from podium.explain.fixes.candidate import (
    Candidate,
    creation,
    deletion,
    patch_object,
    patch_pod,
)
from podium.explain.group_trials import group_of, group_victims, members, placed_count, try_group
from podium.explain.values import Change, Fix

_MOST_NODES: Final = 16
_MOST_KINDS: Final = 16  # of nodes
_MOST_PRIORITIES: Final = 8
_MOST_LOWER: Final = 5_000  # pods that a trial of preemption takes off their nodes

Tried = tuple[Candidate, Attempt]
T = TypeVar("T", Pod, PodGroup)


def find_group_fixes(case: Case) -> tuple[Fix, ...]:
    """Return what would help a pod whose group is missing, has too few pods or too little room."""
    found = (next(_helping(case, candidates), None) for candidates in _candidates(case))
    return tuple(_fix(case, *each) for each in found if each is not None)


def _candidates(case: Case) -> Iterator[Iterator[Candidate]]:
    group = group_of(case)
    if group is None:
        yield _created(case)
    elif group.is_gang:
        yield from group_requests.by_resource(case, group)
        yield _needing_fewer(case, group)
        yield _more_important(case, group)
        yield _more_nodes(case)


def _helping(case: Case, candidates: Iterator[Candidate]) -> Iterator[Tried]:
    for candidate in candidates:
        attempt = try_group(case, candidate.edits, _rewritten(case, candidate))
        if attempt is not None:
            yield candidate, attempt


def _rewritten(case: Case, candidate: Candidate) -> list[Pod]:
    """Return the members after the change, in order: those that are created again come last."""
    pairs = [(pod, candidate.rewrite(pod)) for pod in members(case)]
    return [after for _, after in sorted(pairs, key=lambda pair: pair[0] != pair[1])]


def _fix(case: Case, candidate: Candidate, attempt: Attempt) -> Fix:
    changes = list(candidate.changes)
    if not candidate.victims:  # a group of another priority is made again with its pods
        for pod in members(case):
            changes += patch_pod(pod, candidate.rewrite(pod), candidate.text)
    return Fix(
        candidate.kind,
        candidate.text,
        attempt.node,
        tuple(changes),
        candidate.details,
        candidate.victims,
        tied=attempt.tied,
    )


# --- candidates -----------------------------------------------------------------------------------


def _created(case: Case) -> Iterator[Candidate]:
    """Yield the group as a gang of the pods that name it."""
    namespace, _, name = case.pod.group_key.partition("/")
    count = len(members(case))
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=count))
    meta = ObjectMeta(name=name, namespace=namespace, uid=f"uid-group-{name}")
    own = case.pod.spec.priority_class_name
    spec = PodGroupSpec(
        scheduling_policy=policy, priority=case.pod.priority, priority_class_name=own
    )
    group = PodGroup(metadata=meta, spec=spec)
    text = f"create the pod group {group.key} as a gang of {plural(count, 'pod')}"
    yield Candidate(
        "create-pod-group",
        text,
        edits=(SetObject(group),),
        changes=(creation(replace(group, spec=replace(spec, priority=None)), text),),
        details={"group": group.key, "minCount": count},
    )


def _needing_fewer(case: Case, group: PodGroup) -> Iterator[Candidate]:
    """Yield lower values of ``minCount``, the highest first."""
    gang = group.spec.scheduling_policy.gang
    assert gang is not None
    known = placed_count(case) + len(members(case))
    for count in range(min(known, group.min_count - 1), 0, -1):
        policy = PodGroupSchedulingPolicy(gang=replace(gang, min_count=count))
        lower = replace(group, spec=replace(group.spec, scheduling_policy=policy))
        text = f"lower the minCount of the pod group {group.key} to {count}"
        yield Candidate(
            "min-count",
            text,
            edits=(SetObject(lower),),
            changes=(patch_object(group, lower, text),),
            details={"group": group.key, "from": group.min_count, "to": count},
        )


def _more_important(case: Case, group: PodGroup) -> Iterator[Candidate]:
    """Yield priorities at which the group evicts pods to make room, the lowest first."""
    if placed_count(case):
        return  # all members must have one priority, and those would have to leave their nodes
    groups = case.cluster.objects(PodGroup)
    present = {info.priority for info in case.cluster.pods.values()}
    present |= {each.priority for each in groups}
    values = sorted(each + 1 for each in present if group.priority <= each < priority.HIGHEST)
    for value in values[:_MOST_PRIORITIES]:
        name = priority.class_name(value)
        if sum(info.priority < value for info in case.cluster.pods.values()) > _MOST_LOWER:
            return
        spec = replace(group.spec, priority=value, priority_class_name=name)
        important = replace(group, spec=spec)
        tried = [priority.raised(pod, value) for pod in members(case)]
        with applied(case.cluster, [SetObject(important)]):
            victims = group_victims(case, important, tried)
        if victims:
            keys = tuple(info.key for info in victims)
            text = f"raise the priority of the pod group {group.key} to {value}"
            text = f"{text}, which evicts {listed(keys)}"
            leaving = [edit for info in victims for edit in departure(case.cluster, info)]
            yield Candidate(
                "group-priority",
                text,
                partial(priority.raised, priority=value),
                (SetObject(important), *leaving),
                tuple(_made_again(case, important, tried, text)),
                {"group": group.key, "priority": value},
                keys,
            )


def _made_again(case: Case, group: PodGroup, pods: Sequence[Pod], text: str) -> Iterator[Change]:
    """Yield how a group with its pods gets another priority, which cannot change."""
    yield priority.creation_of_class(group.priority)
    for pod in pods:
        yield deletion("Pod", pod.key, text)
    yield deletion("PodGroup", group.key, text)
    yield creation(replace(_new(group), spec=replace(group.spec, priority=None)), text)
    for pod in pods:
        yield creation(_new(pod), text)


def _new(obj: T) -> T:
    """Return an object as a user would create it."""
    meta = obj.metadata
    kept = ObjectMeta(
        name=meta.name,
        namespace=meta.namespace,
        labels=meta.labels,
        annotations=meta.annotations,
        owner_references=meta.owner_references,
    )
    return replace(obj, metadata=kept, status=type(obj)().status)


def _more_nodes(case: Case) -> Iterator[Candidate]:
    """Yield more and more nodes like one of each kind, the smallest kind first."""
    for row in nodes.kinds_by_size(case)[:_MOST_KINDS]:
        with ExitStack() as stack:
            twins = []
            for _ in range(min(_MOST_NODES, len(members(case)))):
                twin = nodes.twin_of(case, row)
                stack.enter_context(applied(case.cluster, twin.edits))
                twins.append(twin)
        for count in range(1, len(twins) + 1):
            text = f"add {plural(count, 'node')} like {twins[0].like}"
            yield Candidate(
                "new-nodes",
                text,
                edits=tuple(edit for twin in twins[:count] for edit in twin.edits),
                changes=tuple(
                    creation(each, text)
                    for twin in twins[:count]
                    for each in (twin.node, *twin.objects)
                ),
                details={"like": twins[0].like, "nodes": count},
            )
