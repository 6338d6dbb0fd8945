"""The affinity terms of placed pods, each distinct term once with the rows where it stands.

Replicas share their terms, so a cluster of thousands of pods has a handful. Terms are found by a
label pair that they ask for; the incoming pod looks up its own pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium.api.affinity_terms import Term
from podium.api.selectors import Selector
from podium.state.domain_sums import DomainSums
from podium.state.label_columns import LabelColumn
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
    _sums: DomainSums | None = None

    def count(self, row: int, amount: int) -> None:
        self.rows.add(row, amount)
        if self._sums is not None:
            self._sums.add(row, amount)

    def domain_sums(self, label: LabelColumn, size: int) -> NDArray[np.int64]:
        """How often it stands in each domain of its topology key, the last for rows without it."""
        kept = self._sums
        if kept is None or not kept.stands_for(label, size):
            counts = np.zeros(size, np.int64)
            self.rows.add_to(counts)
            kept = self._sums = DomainSums(label, counts)
        return kept.sums

    def check(self) -> None:
        """Raise ``AssertionError`` when the sums are not those of the rows."""
        if self._sums is not None:
            counts = np.zeros(max([len(self._sums.places), *(r + 1 for r in self.rows.items())]))
            self.rows.add_to(counts)
            places = self._sums.places
            held = np.bincount(places, counts[: len(places)], len(self._sums.sums))
            assert np.array_equal(held, self._sums.sums), f"sums of {self.term} are off"


class AffinityIndex:
    """Terms by kind, and within a kind by a label pair that a matching pod must have."""

    def __init__(self) -> None:
        self._terms: dict[str, dict[Term, StandingTerm]] = {kind: {} for kind in KINDS}
        self._anchored: dict[str, dict[Pair, dict[Term, StandingTerm]]] = {k: {} for k in KINDS}
        self._free: dict[str, dict[Term, StandingTerm]] = {kind: {} for kind in KINDS}
        self._keys: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}

    def add(self, info: PodInfo, row: int) -> None:
        for kind, term in _terms(info):
            standing = self._terms[kind].get(term)
            if standing is None:
                standing = StandingTerm(term)
                self._enter(kind, standing)
            standing.count(row, 1)

    def remove(self, info: PodInfo, row: int) -> None:
        for kind, term in _terms(info):
            standing = self._terms[kind][term]
            standing.count(row, -1)
            if not standing.rows.total:
                self._leave(kind, term)

    def matching(
        self,
        kind: str,
        namespace: str,
        namespace_labels: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> Iterator[StandingTerm]:
        """The terms of this kind that speak of a pod with this namespace and these labels."""
        if not self._terms[kind]:
            return
        for standing in self._near(kind, labels):
            if standing.term.matches(namespace, namespace_labels, labels):
                yield standing

    def standing(self, kind: str) -> Collection[StandingTerm]:
        """All terms of this kind."""
        return self._terms[kind].values()

    def keys(self, kind: str) -> Collection[str]:
        """The label keys that decide which pods the terms of this kind speak of."""
        return self._keys[kind].keys()

    def any_of(self, kinds: Iterable[str]) -> bool:
        """Whether a term of one of these kinds stands anywhere."""
        for kind in kinds:  # noqa: SIM110  # asked for every pod; any() takes twice as long
            if self._terms[kind]:
                return True
        return False

    def _near(self, kind: str, labels: Mapping[str, str]) -> Iterator[StandingTerm]:
        yield from self._free[kind].values()
        anchored = self._anchored[kind]
        for pair in labels.items():
            if pair in anchored:
                yield from anchored[pair].values()

    def _enter(self, kind: str, standing: StandingTerm) -> None:
        term = standing.term
        self._terms[kind][term] = standing
        pairs = _anchor(term.selector)
        if pairs is None:
            self._free[kind][term] = standing
        for pair in pairs or ():
            self._anchored[kind].setdefault(pair, {})[term] = standing
        keys = self._keys[kind]
        for key in term.selector.keys:
            keys[key] = keys.get(key, 0) + 1

    def _leave(self, kind: str, term: Term) -> None:
        del self._terms[kind][term]
        anchored = self._anchored[kind]
        pairs = _anchor(term.selector)
        if pairs is None:
            del self._free[kind][term]
        for pair in pairs or ():
            del anchored[pair][term]
            if not anchored[pair]:
                del anchored[pair]
        keys = self._keys[kind]
        for key in term.selector.keys:
            keys[key] -= 1
            if not keys[key]:
                del keys[key]


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
            return [(requirement.key, value) for value in requirement.values]
    return None
