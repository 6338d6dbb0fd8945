"""The affinity terms of placed pods, each distinct term once with the rows where it stands.

Replicas share their terms, so a cluster of thousands of pods has a handful. Terms are found by a
label pair that they ask for; the incoming pod looks up its own pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from podium.api.affinity_terms import Term
from podium.api.selectors import Selector
from podium.state.pod_info import PodInfo
from podium.state.row_counts import RowCounts

REQUIRED = "required"
REQUIRED_ANTI = "required_anti"
PREFERRED = "preferred"
PREFERRED_ANTI = "preferred_anti"
KINDS = (REQUIRED, REQUIRED_ANTI, PREFERRED, PREFERRED_ANTI)

Pair = tuple[str, str]


@dataclass(slots=True, eq=False)
class StandingTerm:
    """A term of placed pods, and how often it stands on each row."""

    term: Term
    rows: RowCounts = field(default_factory=RowCounts)


class AffinityIndex:
    """Terms by kind, and within a kind by a label pair that a matching pod must have."""

    def __init__(self) -> None:
        self._terms: dict[str, dict[Term, StandingTerm]] = {kind: {} for kind in KINDS}
        self._anchored: dict[str, dict[Pair, dict[Term, StandingTerm]]] = {k: {} for k in KINDS}
        self._free: dict[str, dict[Term, StandingTerm]] = {kind: {} for kind in KINDS}

    def add(self, info: PodInfo, row: int) -> None:
        for kind, term in _terms(info):
            standing = self._terms[kind].get(term)
            if standing is None:
                standing = self._terms[kind][term] = StandingTerm(term)
                for place in self._places(kind, term):
                    place[term] = standing
            standing.rows.add(row, 1)

    def remove(self, info: PodInfo, row: int) -> None:
        for kind, term in _terms(info):
            standing = self._terms[kind][term]
            standing.rows.add(row, -1)
            if not standing.rows.total:
                del self._terms[kind][term]
                for place in self._places(kind, term):
                    del place[term]

    def matching(
        self, kind: str, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]
    ) -> Iterator[StandingTerm]:
        """The terms of this kind that speak of a pod with this namespace and these labels."""
        if not self._terms[kind]:
            return
        for standing in self._near(kind, labels):
            if standing.term.matches(namespace, namespace_labels, labels):
                yield standing

    def standing(self, kind: str) -> Iterable[StandingTerm]:
        return self._terms[kind].values()

    def _near(self, kind: str, labels: Mapping[str, str]) -> Iterator[StandingTerm]:
        yield from self._free[kind].values()
        anchored = self._anchored[kind]
        for pair in labels.items():
            if pair in anchored:
                yield from anchored[pair].values()

    def _places(self, kind: str, term: Term) -> list[dict[Term, StandingTerm]]:
        pairs = _anchor(term.selector)
        if pairs is None:
            return [self._free[kind]]
        return [self._anchored[kind].setdefault(pair, {}) for pair in pairs]


def _terms(info: PodInfo) -> Iterator[tuple[str, Term]]:
    terms = info.terms
    yield from ((REQUIRED, term) for term in terms.required)
    yield from ((REQUIRED_ANTI, term) for term in terms.required_anti)
    yield from ((PREFERRED, term) for term in terms.preferred)
    yield from ((PREFERRED_ANTI, term) for term in terms.preferred_anti)


def _anchor(selector: Selector) -> list[Pair] | None:
    """Pairs of which a matching pod has exactly one; ``None`` when the selector names no value."""
    for requirement in selector.requirements:
        if requirement.operator == "In":
            return [(requirement.key, value) for value in sorted(requirement.values)]
    return None
