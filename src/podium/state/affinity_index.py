"""An index of the affinity terms of placed pods: each distinct term once, with counts by row.

Replicas share their terms, so a cluster of thousands of pods has only a few distinct ones. A term
is indexed by a label pair that it requires; for an incoming pod only its own label pairs are looked
up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium.api.affinity_terms import Term
from podium.api.selectors import Selector
from podium.state.label_columns import DomainSums, LabelColumn
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
    """A distinct term of placed pods, and how many pods on each row have it.

    Invariant: ``_sums``, once made, are the counts of ``rows`` summed by domain of the topology
    key. ``count`` updates both; ``domain_sums`` makes new sums when node labels have changed since.
    """

    term: Term
    rows: RowCounts = field(default_factory=RowCounts)
    _sums: DomainSums | None = None

    def count(self, row: int, amount: int) -> None:
        self.rows.add(row, amount)
        if self._sums is not None:
            self._sums.add(row, amount)

    def domain_sums(self, label: LabelColumn, size: int) -> NDArray[np.int64]:
        """Return how many pods have the term in each domain of its topology key.

        The last element counts the pods on rows without that label.
        """
        kept = self._sums
        if kept is None or not kept.is_current(label, size):
            counts = np.zeros(size, np.int64)
            self.rows.add_to(counts)
            kept = self._sums = DomainSums(label, counts)
        return kept.sums

    def check(self) -> None:
        """Raise ``AssertionError`` when the sums by domain do not add up to the rows."""
        if self._sums is not None:
            domain_ids = self._sums.domain_ids
            counts = np.zeros(max([len(domain_ids), *(r + 1 for r in self.rows.items())]))
            self.rows.add_to(counts)
            held = np.bincount(domain_ids, counts[: len(domain_ids)], len(self._sums.sums))
            assert np.array_equal(held, self._sums.sums), f"sums of {self.term} are wrong"


class AffinityIndex:
    """Terms by kind, and within a kind by a label pair that a matching pod must have.

    Invariants, for each kind:

    - ``_terms`` has every term that at least one placed pod has, and no other.
    - Each of them is either in ``_without_pair`` (its selector requires no value of a label), or in
      ``_by_pair`` under every pair that ``_required_pairs`` returns for its selector.
    - ``_keys`` counts, for each label key, the terms whose selector reads it.

    Only ``ClusterState`` calls ``add`` and ``remove``.
    """

    def __init__(self) -> None:
        self._terms: dict[str, dict[Term, StandingTerm]] = {kind: {} for kind in KINDS}
        self._by_pair: dict[str, dict[Pair, dict[Term, StandingTerm]]] = {k: {} for k in KINDS}
        self._without_pair: dict[str, dict[Term, StandingTerm]] = {kind: {} for kind in KINDS}
        self._keys: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}

    def add(self, info: PodInfo, row: int) -> None:
        for kind, term in _terms(info):
            standing = self._terms[kind].get(term)
            if standing is None:
                standing = StandingTerm(term)
                self._insert(kind, standing)
            standing.count(row, 1)

    def remove(self, info: PodInfo, row: int) -> None:
        for kind, term in _terms(info):
            standing = self._terms[kind][term]
            standing.count(row, -1)
            if not standing.rows.total:
                self._delete(kind, term)

    def matching(
        self,
        kind: str,
        namespace: str,
        namespace_labels: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> Iterator[StandingTerm]:
        """Yield the terms of this kind that match a pod with this namespace and these labels."""
        if not self._terms[kind]:
            return
        for standing in self._candidates(kind, labels):
            if standing.term.matches(namespace, namespace_labels, labels):
                yield standing

    def standing(self, kind: str) -> Collection[StandingTerm]:
        """Return all terms of this kind."""
        return self._terms[kind].values()

    def keys(self, kind: str) -> Collection[str]:
        """Return the label keys that the selectors of this kind of terms read."""
        return self._keys[kind].keys()

    def any_of(self, kinds: Iterable[str]) -> bool:
        """Return whether any placed pod has a term of one of these kinds."""
        for kind in kinds:  # noqa: SIM110  # asked for every pod; any() takes twice as long
            if self._terms[kind]:
                return True
        return False

    def _candidates(self, kind: str, labels: Mapping[str, str]) -> Iterator[StandingTerm]:
        yield from self._without_pair[kind].values()
        by_pair = self._by_pair[kind]
        for pair in labels.items():
            if pair in by_pair:
                yield from by_pair[pair].values()

    def _insert(self, kind: str, standing: StandingTerm) -> None:
        term = standing.term
        self._terms[kind][term] = standing
        pairs = _required_pairs(term.selector)
        if pairs is None:
            self._without_pair[kind][term] = standing
        for pair in pairs or ():
            self._by_pair[kind].setdefault(pair, {})[term] = standing
        keys = self._keys[kind]
        for key in term.selector.keys:
            keys[key] = keys.get(key, 0) + 1

    def _delete(self, kind: str, term: Term) -> None:
        del self._terms[kind][term]
        by_pair = self._by_pair[kind]
        pairs = _required_pairs(term.selector)
        if pairs is None:
            del self._without_pair[kind][term]
        for pair in pairs or ():
            del by_pair[pair][term]
            if not by_pair[pair]:
                del by_pair[pair]
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


def _required_pairs(selector: Selector) -> list[Pair] | None:
    """Return label pairs of which a matching pod has exactly one.

    ``None`` when the selector requires no value of any label.
    """
    for requirement in selector.requirements:
        if requirement.operator == "In":
            return [(requirement.key, value) for value in requirement.values]
    return None
