"""Fewer terms of required pod affinity and anti-affinity: the smallest set that helps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from podium.api.affinity_terms import Term
from podium.api.objects import Affinity, Pod, PodAffinityTerm
from podium.errors import InvalidSelector
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.fixes.candidate import Candidate
from podium.explain.shortfalls.topology import term_text

KIND: Final = "pod-affinity"
_MOST_TERMS: Final = 8

Place = tuple[str, int]  # "pod_affinity" or "pod_anti_affinity", and the index of the term


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield the sets of terms to drop, the smallest first."""
    places = list(_places(case.pod))[:_MOST_TERMS]
    for size in range(1, len(places) + 1):
        for dropped in combinations(places, size):
            names = [_text(case.pod, place) for place in dropped]
            it = "it" if size == 1 else "them"
            text = f"make {listed(names, most=9)} preferred instead of required, or drop {it}"
            yield Candidate(KIND, text, partial(_without, dropped), details={"terms": names})


def _places(pod: Pod) -> Iterator[Place]:
    affinity = pod.spec.affinity
    if affinity is None:
        return
    for field in ("pod_affinity", "pod_anti_affinity"):
        for index in range(len(_terms(affinity, field))):
            yield field, index


def _terms(affinity: Affinity, field: str) -> tuple[PodAffinityTerm, ...]:
    part = getattr(affinity, field)
    return () if part is None else part.required


def _text(pod: Pod, place: Place) -> str:
    field, index = place
    affinity = pod.spec.affinity
    assert affinity is not None
    written = _terms(affinity, field)[index]
    what = "anti-affinity" if field == "pod_anti_affinity" else "affinity"
    try:
        selected = term_text(Term.of(written, pod.namespace))
    except InvalidSelector:
        selected = "an invalid selector"
    return f"the {what} to {selected} in {written.topology_key}"


def _without(dropped: tuple[Place, ...], pod: Pod) -> Pod:
    affinity = pod.spec.affinity
    assert affinity is not None
    for field in ("pod_affinity", "pod_anti_affinity"):
        part = getattr(affinity, field)
        if part is None:
            continue
        left = tuple(
            term for index, term in enumerate(part.required) if (field, index) not in dropped
        )
        kept = replace(part, required=left) if left or part.preferred else None
        affinity = replace(affinity, **{field: kept})
    return replace(pod, spec=replace(pod.spec, affinity=affinity))
