"""The incoming pod's own terms as queries over the cluster's pods."""

from __future__ import annotations

from dataclasses import dataclass

from podium import framework as fwk
from podium.api.affinity_terms import Term, Terms
from podium.api.objects import Namespace, Pod
from podium.api.selectors import Selector

_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pods that one term speaks of, and the label whose values are its domains."""

    query: fwk.PodQuery
    key: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Companions:
    """The pods that match every affinity term at once: only these count, for each term's domain.

    When they include the pod itself, it may be the first of them.
    """

    query: fwk.PodQuery
    keys: tuple[str, ...]
    include_itself: bool


class Namespaces:
    """Resolves the namespaces of terms; what was found is kept until a namespace changes."""

    def __init__(self, cluster: fwk.ClusterView) -> None:
        self._store = cluster.objects(Namespace)
        self._version = self._store.version
        self._names: dict[Selector, frozenset[str]] = {}
        self._wanted: dict[Term, Wanted] = {}
        self._queries: dict[Terms, fwk.PodQuery] = {}

    def companions(self, pod: Pod, terms: Terms) -> Companions:
        """What these required affinity terms of the pod ask for together."""
        self._forget_outdated()
        query = self._queries.get(terms)
        if query is None:
            query = fwk.PodQuery(tuple([self._clause(term) for term in terms]))
            self._queries[terms] = query
        keys = {term.topology_key: None for term in terms}
        return Companions(query, tuple(keys), query.matches(pod.namespace, pod.labels, False))

    def wanted(self, term: Term) -> Wanted:
        self._forget_outdated()
        wanted = self._wanted.get(term)
        if wanted is None:
            query = fwk.PodQuery((self._clause(term),))
            wanted = self._wanted[term] = Wanted(query, term.topology_key, term.weight)
        return wanted

    def _forget_outdated(self) -> None:
        kept = max(len(self._names), len(self._wanted), len(self._queries))
        if self._version != self._store.version or kept > _KEPT:
            self._version = self._store.version
            self._names, self._wanted, self._queries = {}, {}, {}

    def _clause(self, term: Term) -> fwk.Clause:
        return fwk.Clause(self._spaces(term), term.selector)

    def _spaces(self, term: Term) -> frozenset[str] | None:
        among = term.namespace_selector
        if among is None:
            return term.namespaces
        # Upstream tries the selector on no labels too, after listing what it selects. One that only
        # excludes holds there, and so lets every namespace in, even those it means to exclude.
        if among.matches({}):
            return None
        return term.namespaces | self._named(among)

    def _named(self, among: Selector) -> frozenset[str]:
        names = self._names.get(among)
        if names is None:
            found = (space.name for space in self._store if among.matches(space.labels))
            names = self._names[among] = frozenset(found)
        return names
