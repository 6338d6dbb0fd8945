"""A wider node selector or node affinity: as few requirements as possible are dropped."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations, islice
from typing import Final

from msgspec.structs import replace

from podium.api.objects import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.fixes.candidate import Candidate
from podium.explain.fixes.relaxations import Kind, Relaxation
from podium.explain.shortfalls.nodes import (
    affinity_terms,
    asks,
    requirement_text,
    unmet,
    unmet_pairs,
)
from podium.plugins.node_affinity import affinity_of

_MOST_WAYS: Final = 64  # how many combinations of requirements are tried


def _labels_key(case: Case, row: int) -> Hashable:
    node = case.node(row)
    keys = [*case.pod.spec.node_selector]
    for term in affinity_terms(case.pod):
        keys += [each.key for each in term.match_expressions]
        if term.match_fields:
            return node.name
    return tuple(map(node.labels.get, keys))


def _widen(case: Case, row: int) -> list[Relaxation]:
    node = case.node(row)
    pairs = unmet_pairs(case.pod, node.labels)
    terms = [
        (index, unmet(term, node.labels, node.name))
        for index, term in enumerate(affinity_terms(case.pod))
        if asks(term)
    ]
    if not terms and affinity_of(case.pod).required is not None:
        return [_without_affinity(case.pod)]
    if not pairs and not any(missing for _, missing in terms):
        return []
    ways = [_dropping(case.pod, pairs, index, missing) for index, missing in terms]
    return [min(ways or [_dropping(case.pod, pairs, 0, [])], key=lambda each: each.size)]


def _dropping(
    pod: Pod, pairs: list[tuple[str, str]], index: int, missing: list[NodeSelectorRequirement]
) -> Relaxation:
    """Return the pod without these labels of its selector and requirements of one term."""
    if _empties(pod, index, missing):  # a term that asks for nothing matches no node
        missing = _all_requirements(pod)
    names = [f"{key}={value}" for key, value in pairs] + list(map(requirement_text, missing))
    text = f"drop the node requirement{'s' if len(names) > 1 else ''} {listed(names, most=9)}"

    def rewrite(pod: Pod) -> Pod:
        return _without_terms(_without_pairs(pod, pairs), index, missing)

    return Relaxation((len(names),), text, rewrite, {"requirements": names})


def _empties(pod: Pod, index: int, missing: list[NodeSelectorRequirement]) -> bool:
    return bool(missing) and len(missing) == len(_requirements(affinity_terms(pod)[index]))


def _requirements(term: NodeSelectorTerm) -> tuple[NodeSelectorRequirement, ...]:
    return (*term.match_expressions, *term.match_fields)


def _all_requirements(pod: Pod) -> list[NodeSelectorRequirement]:
    return [each for term in affinity_terms(pod) for each in _requirements(term)]


def _without_affinity(pod: Pod) -> Relaxation:
    def rewrite(pod: Pod) -> Pod:
        return _with_required(pod, None)

    names = list(map(requirement_text, _all_requirements(pod)))
    text = "drop the required node affinity, which matches no node"
    return Relaxation((len(names) or 1,), text, rewrite, {"requirements": names or ["all"]})


def _without_pairs(pod: Pod, pairs: list[tuple[str, str]]) -> Pod:
    left = {
        key: value for key, value in pod.spec.node_selector.items() if (key, value) not in pairs
    }
    return replace(pod, spec=replace(pod.spec, node_selector=left))


def _without_terms(pod: Pod, index: int, missing: list[NodeSelectorRequirement]) -> Pod:
    """Remove requirements from one term. A term that asks for nothing matches no node."""
    if not missing:
        return pod
    terms = list(affinity_terms(pod))
    term = terms[index]
    left = NodeSelectorTerm(
        tuple(each for each in term.match_expressions if each not in missing),
        tuple(each for each in term.match_fields if each not in missing),
    )
    if not asks(left):
        return _with_required(pod, None)
    terms[index] = left
    return _with_required(pod, NodeSelector(tuple(terms)))


def _with_required(pod: Pod, required: NodeSelector | None) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return pod
    own = replace(affinity.node_affinity, required=required)
    kept = own if own.required is not None or own.preferred else None
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=kept)))


NODE_AFFINITY: Final = Kind("node-affinity", frozenset({"NodeAffinity"}), _labels_key, _widen)


def contradictory(case: Case) -> Iterator[Candidate]:
    """Yield the pod with less node affinity, if PreFilter refuses it before any node is judged."""
    refusal = case.attempt.refusal
    if refusal is None or "NodeAffinity" not in (refusal.plugin, *_narrowing(case)):
        return
    ways = [
        _dropping(case.pod, [], index, list(missing))
        for index, term in enumerate(affinity_terms(case.pod))
        for size in range(1, len(_requirements(term)))
        for missing in islice(combinations(_requirements(term), size), _MOST_WAYS)
    ]
    for found in (*sorted(ways, key=lambda each: each.size), _without_affinity(case.pod)):
        yield Candidate(NODE_AFFINITY.name, found.text, found.rewrite, details=found.details)


def _narrowing(case: Case) -> frozenset[str]:
    found = case.attempt.found
    return frozenset() if found is None else found.pre_filtered.narrowed_by
