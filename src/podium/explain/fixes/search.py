"""The search for fixes: try the candidates of each kind, the smallest first, until one helps.

A trial is a real attempt on the changed state. Where no single kind of change helps, changes are
combined: one makes the pod fit somewhere as far as its kind goes, and the search goes on from
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from podium.api.objects import Pod
from podium.explain.amounts import listed
from podium.explain.attempts import Attempt
from podium.explain.case import Case
from podium.explain.edits import applied
from podium.explain.fixes import (
    blockers,
    device_rules,
    devices,
    node_affinity,
    nodes,
    pod_affinity,
    pods,
    priority,
    relaxations,
    requests,
    spreading,
    volumes,
)
from podium.explain.fixes.candidate import Candidate, patch_pod
from podium.explain.group_trials import group_of, members, try_group
from podium.explain.values import Fix

Find = Callable[[Case], Iterator[Candidate]]

# What lets an attempt go on at all.
UNBLOCKING: Final[Sequence[tuple[str, Find]]] = (
    ("gate", blockers.ungated),
    ("scheduler-name", blockers.rescheduled),
    ("create-claim", volumes.missing_claims),
    ("create-volume", volumes.missing_volumes),
    ("create-resource-claim", devices.missing_claims),
    ("create-device-class", devices.missing_classes),
    ("node-affinity", node_affinity.contradictory),
)
# In the order in which fixes are listed: the pod first, then a node, then other pods.
FINDERS: Final[Sequence[tuple[str, Find]]] = (
    *UNBLOCKING,
    ("toleration", relaxations.TOLERATION.candidates),
    ("request", requests.candidates),
    ("host-port", relaxations.HOST_PORT.candidates),
    ("spread-skew", spreading.SPREAD_SKEW.candidates),
    ("spread-soft", spreading.SPREAD_SOFT.candidates),
    ("pod-affinity", pod_affinity.candidates),
    ("node-affinity", node_affinity.NODE_AFFINITY.candidates),
    ("device-count", devices.fewer),
    ("device-toleration", device_rules.tolerating),
    ("device-selector", device_rules.unselective),
    ("uncordon", nodes.uncordoned),
    ("node-label", nodes.labelled),
    ("node-feature", nodes.declaring),
    ("preemption-policy", priority.willing),
    ("priority", priority.candidates),
    ("pod-gone", pods.gone),
    ("claim-gone", device_rules.idle_gone),
    ("new-node", nodes.added),
    ("larger-node", nodes.larger),
)
# Changes of the pod that depend on which other pods are placed.
POD_KINDS: Final = frozenset(
    {"request", "host-port", "spread-skew", "spread-soft", "pod-affinity", "node-affinity"}
)
# What all pods of a group must have in common.
GROUP_KINDS: Final = frozenset({"scheduler-name", "preemption-policy", "priority"})
CLUSTER_KINDS: Final = frozenset(
    {"priority", "pod-gone", "claim-gone", "new-node", "larger-node", "node-label"}
)
RELAXATIONS: Final = (
    relaxations.TOLERATION,
    relaxations.HOST_PORT,
    spreading.SPREAD_SKEW,
    spreading.SPREAD_SOFT,
    node_affinity.NODE_AFFINITY,
)
# Changes of the cluster that a node may need first, by the filter that refuses it.
_CLEARING: Final[Sequence[tuple[str, Find]]] = (
    ("VolumeBinding", volumes.missing_volumes),
    (devices.PLUGIN, devices.fewer),
    (devices.PLUGIN, device_rules.tolerating),
    (devices.PLUGIN, device_rules.unselective),
)
MOST_PARTS: Final = 4
_MOST_STARTS: Final = 3
_MOST_CLEARING: Final = 16
_MOST_TRIED: Final = 64  # of first changes, in all combinations together
_COMBINATION: Final = "combination"


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates that help together, and the attempt that showed it."""

    parts: tuple[Candidate, ...]
    attempt: Attempt


def find_fixes(case: Case) -> tuple[Fix, ...]:
    """Return what would help, the smallest changes first."""
    found = [each for each in _single(case) if each.attempt.places]
    if all(each.parts[0].kind in CLUSTER_KINDS for each in found):
        alone = {each.parts[0].kind for each in found}
        found += [each for each in _fewest_parts(case) if _adds(each, alone)]
    return tuple(_fix(case.pod, each) for each in found)


def _adds(found: Found, alone: set[str]) -> bool:
    """Return whether a combination tells more than the kinds of change that help alone."""
    return len(found.parts) > 1 and not any(part.kind in alone for part in found.parts)


def _single(case: Case, wanted: str = "") -> Iterator[Found]:
    """Yield the smallest change of each kind that helps alone, or of the wanted kind.

    If a change helps only sometimes, it is yielded with an attempt that fails: what is larger is
    not the smallest.
    """
    for kind, find in FINDERS:
        if kind in GROUP_KINDS and group_of(case) is not None:
            continue
        for candidate in _candidates(case, kind, find) if wanted in ("", kind) else ():
            attempt = _try(case, (candidate,))
            if attempt.places or attempt.contested or candidate.nominated:
                yield Found((candidate,), attempt)
                break


def _candidates(case: Case, kind: str, find: Find) -> Iterator[Candidate]:
    """Yield the changes of a kind; of the pod itself: those that leave earlier pods their room."""
    if not case.is_changed or kind not in POD_KINDS:
        yield from find(case)
        return
    with case.crowded() as crowded:
        found = list(find(crowded))
    yield from found


def _try(case: Case, parts: Sequence[Candidate]) -> Attempt:
    """Try changes. Room that they make must be left when earlier pods have been tried.

    Room on a nominated node is kept for the pod. Enough pods of its group must fit, too.
    """
    edits = tuple(edit for part in parts for edit in part.edits)
    pod = _rewritten(case.pod, parts)
    if group_of(case) is not None:
        others = [each for each in members(case) if each.uid != pod.uid]
        return try_group(case, edits, (*others, pod)) or Attempt(pod, None)
    for part in parts:
        pod = pod.nominated_to(part.nominated) if part.nominated else pod
    attempt = case.try_it(pod, edits)
    if not attempt.places or not (case.earlier or case.later):
        return attempt
    is_nominated = bool(pod.nominated_node_name)
    makes_room = (edits or case.is_changed) and not is_nominated
    if makes_room:
        attempt = case.try_last(pod, edits)
    if not attempt.places:
        return attempt
    if is_nominated or attempt.victims:
        return case.try_nominated(pod, edits, attempt) if case.is_exposed(pod) else attempt
    is_contested = makes_room and bool(pod.spec.resource_claims)
    return case.try_contested(pod, edits, attempt) if is_contested else attempt


def _rewritten(pod: Pod, parts: Sequence[Candidate]) -> Pod:
    for part in parts:
        pod = part.rewrite(pod)
    return pod


# --- combinations ---------------------------------------------------------------------------------


def _fewest_parts(case: Case) -> list[Found]:
    """Return the combination with the fewest parts that helps; nothing if none is found."""
    budget = iter(range(_MOST_TRIED))
    for most in range(2, MOST_PARTS + 1):
        parts = _combined(case, most, budget)
        if parts is not None:
            found = _minimal(case, parts)
            return [] if found is None else [found]
    return []


def _combined(case: Case, most: int, budget: Iterator[int]) -> tuple[Candidate, ...] | None:
    """Return at most so many changes that help together; each first change uses up the budget."""
    for start, _ in zip(_starts(case), budget, strict=False):
        with _with(case, (start,)) as inner:
            rest = _rest(inner, most - 1, budget)
        if rest is not None:
            return start, *rest
    return None


@contextmanager
def _with(case: Case, parts: Sequence[Candidate]) -> Iterator[Case]:
    """Make these changes until the block ends."""
    edits = [edit for part in parts for edit in part.edits]
    with applied(case.cluster, edits):
        yield case.rewritten(_rewritten(case.pod, parts), is_changed=bool(edits))


def _rest(case: Case, most: int, budget: Iterator[int]) -> tuple[Candidate, ...] | None:
    """Return what is still needed after a first change."""
    if _try(case, ()).places:
        return ()
    for found in _single(case):
        if found.attempt.places:
            return tuple(map(priority.without_victims, found.parts))
    return _combined(case, most, budget) if most > 1 else None


def _starts(case: Case) -> Iterator[Candidate]:
    """Yield first changes: what unblocks the pod, or what one near node needs of it."""
    if case.verdicts is None:
        for _, find in UNBLOCKING:
            yield from find(case)
        return
    masks = set()
    for row in relaxations.rows_by_nearness(case):
        refusals = frozenset(case.verdicts.on_row(row))
        if refusals in masks:
            continue
        masks.add(refusals)
        yield from _partial(case, refusals, row)
        if len(masks) == _MOST_STARTS:
            return


def _partial(case: Case, refusals: frozenset[str], row: int) -> Iterator[Candidate]:
    for kind in RELAXATIONS:
        if kind.plugins & refusals:
            found = kind.on(case, row)
            if found is not None:
                yield found
    if requests.PLUGIN in refusals:
        yield from requests.on(case, row)
    if "InterPodAffinity" in refusals:
        yield from pod_affinity.candidates(case)
    for plugin, find in _CLEARING:
        if plugin in refusals:
            yield from islice(_clearing(case, find(case), plugin, row), 1)
    if case.earlier or case.later:
        return  # other pods may take what becomes free before the rest is done
    for plugin in sorted(refusals):
        leaving = chain(pods.on(case, plugin, row), device_rules.idle_gone(case))
        yield from islice(_clearing(case, leaving, plugin, row), 1)


def _clearing(
    case: Case, candidates: Iterable[Candidate], plugin: str, row: int
) -> Iterator[Candidate]:
    """Yield changes of the cluster after which a filter no longer refuses a node."""
    for candidate in islice(candidates, _MOST_CLEARING):
        with _with(case, (candidate,)) as inner:
            is_clear = inner.verdicts is not None and plugin not in inner.verdicts.on_row(row)
        if is_clear:
            yield candidate


def _minimal(case: Case, parts: tuple[Candidate, ...]) -> Found | None:
    """Leave out every part that is not needed, and make the others as small as they can be.

    Return ``None`` if something smaller helps sometimes.
    """
    for part in parts:
        fewer = tuple(each for each in parts if each is not part)
        attempt = _try(case, fewer)
        if attempt.contested:
            return None
        if fewer and attempt.places:
            parts = fewer
    for _ in range(len(parts)):  # a part that has become smaller may let another one be smaller
        smallest = _smaller(case, parts)
        if smallest is None:
            return None
        if [part.text for part in smallest] == [part.text for part in parts]:
            break
        parts = smallest
    attempt = _try(case, parts)
    return Found(parts, attempt) if attempt.places else None


def _smaller(case: Case, parts: tuple[Candidate, ...]) -> tuple[Candidate, ...] | None:
    """Make each part as small as it can be while the others stay; ``None`` as in ``_minimal``."""
    for number, part in enumerate(parts):
        others = (*parts[:number], *parts[number + 1 :])
        with _with(case, others) as inner:
            found = next(_single(inner, part.kind), None)
        if found is not None and not found.attempt.places:
            return None
        smallest = part if found is None else priority.without_victims(found.parts[0])
        parts = (*parts[:number], smallest, *parts[number + 1 :])
    return parts


# --- values ---------------------------------------------------------------------------------------


def _fix(pod: Pod, found: Found) -> Fix:
    parts = found.parts
    text = ", and ".join(part.text for part in parts)
    preempted = found.attempt.victims
    if preempted:
        text += f" (this evicts {listed(preempted)} on {found.attempt.node})"
    victims = (*(victim for part in parts for victim in part.victims), *preempted)
    after = _rewritten(pod, parts)
    changes = tuple(change for part in parts for change in part.changes)
    return Fix(
        parts[0].kind if len(parts) == 1 else _COMBINATION,
        text,
        found.attempt.node,
        (*changes, *patch_pod(pod, after, text)),
        parts[0].details if len(parts) == 1 else _details(parts),
        victims,
        max([found.attempt.tied, *(part.tied for part in parts)]),
    )


def _details(parts: Sequence[Candidate]) -> dict[str, Any]:
    """Return what a combination consists of."""
    return {
        "kinds": [part.kind for part in parts],
        "parts": [{"kind": part.kind, "details": part.details} for part in parts],
    }
