"""The incoming pod's own terms, turned into queries for placed pods."""

from __future__ import annotations

from dataclasses import dataclass

from podium import framework as fwk
from podium.api.affinity_terms import Term, Terms
from podium.api.objects import Namespace, Pod
from podium.api.selectors import Selector

_KEPT = 1024


@dataclass(frozen=True, slots=True)
class TermQuery:
    """A term as a query for the pods that it matches, with its topology key and weight."""

    query: fwk.PodQuery
    key: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Companions:
    """A query for the pods that match all required affinity terms, with all topology keys.

    Only such pods count. If the pod itself matches (``include_itself``), it may be the first of
    them.
    """

    query: fwk.PodQuery
    keys: tuple[str, ...]
    include_itself: bool


class Namespaces:
    """Turns terms into queries. Results are kept until a namespace changes."""

    def __init__(self, cluster: fwk.ClusterView) -> None:
        self._store = cluster.objects(Namespace)
        self._version = self._store.version
        self._names: dict[Selector, frozenset[str]] = {}
        self._term_queries: dict[Term, TermQuery] = {}
        self._queries: dict[Terms, fwk.PodQuery] = {}

    def companions(self, pod: Pod, terms: Terms) -> Companions:
        """Return the query for pods that match all these required terms."""
        self._forget_outdated()
        query = self._queries.get(terms)
        if query is None:
            query = fwk.PodQuery(tuple([self._clause(term) for term in terms]))
            self._queries[terms] = query
        keys = {term.topology_key: None for term in terms}
        return Companions(query, tuple(keys), query.matches(pod.namespace, pod.labels, False))

    def term_query(self, term: Term) -> TermQuery:
        self._forget_outdated()
        found = self._term_queries.get(term)
        if found is None:
            query = fwk.PodQuery((self._clause(term),))
            found = self._term_queries[term] = TermQuery(query, term.topology_key, term.weight)
        return found

    def _forget_outdated(self) -> None:
        kept = max(len(self._names), len(self._term_queries), len(self._queries))
        if self._version != self._store.version or kept > _KEPT:
            self._version = self._store.version
            self._names, self._term_queries, self._queries = {}, {}, {}

    def _clause(self, term: Term) -> fwk.Clause:
        return fwk.Clause(self._namespaces_of(term), term.selector)

    def _namespaces_of(self, term: Term) -> frozenset[str] | None:
        selector = term.namespace_selector
        if selector is None:
            return term.namespaces
        if self.selects_all(selector):
            return None
        return term.namespaces | self._selected(selector)

    def selects_all(self, selector: Selector) -> bool:
        """Return whether the selector stands for all namespaces: only the empty one does."""
        return selector.is_empty

    def _selected(self, selector: Selector) -> frozenset[str]:
        names = self._names.get(selector)
        if names is None:
            found = (space.name for space in self._store if selector.matches(space.labels))
            names = self._names[selector] = frozenset(found)
        return names


class ExclusionIgnoringNamespaces(Namespaces):
    """Namespaces as of 1.36, which overlooks what a selector excludes.

    There the selector is also tried on an empty set of labels. A selector that only excludes labels
    matches that, and so selects all namespaces, even those to be excluded.
    """

    def selects_all(self, selector: Selector) -> bool:
        return selector.matches({})
