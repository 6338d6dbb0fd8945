"""The compiled affinity terms of a pod: which pods a term selects, and in which domain.

Replicas have equal terms and share the same objects, which are fast to hash and compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from podium.api.affinity import Affinity
from podium.api.meta import HashedValue
from podium.api.objects import Pod, PodAffinityTerm, WeightedPodAffinityTerm
from podium.api.selectors import Selector, label_selector
from podium.errors import InvalidSelector


class Term(HashedValue, frozen=True, gc=False):
    """Selects pods by ``selector``, in ``namespaces`` or those ``namespace_selector`` matches."""

    selector: Selector
    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: Selector | None = None
    weight: int = 0

    @classmethod
    def of(cls, term: PodAffinityTerm, namespace: str, weight: int = 0) -> Term:
        """Compile a term; without namespaces and selector it means its owner's namespace."""
        spaces = frozenset(term.namespaces)
        if not spaces and term.namespace_selector is None:
            spaces = frozenset((namespace,))
        among = term.namespace_selector
        return _term(
            label_selector(term.label_selector),
            term.topology_key,
            spaces,
            None if among is None else label_selector(among),
            weight,
        )

    def in_scope(self, namespace: str, namespace_labels: Mapping[str, str]) -> bool:
        if namespace in self.namespaces:
            return True
        among = self.namespace_selector
        return among is not None and among.matches(namespace_labels)

    def matches(
        self, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]
    ) -> bool:
        return self.in_scope(namespace, namespace_labels) and self.selector.matches(labels)


Terms = tuple[Term, ...]

_term = lru_cache(maxsize=16384)(Term)


class AffinityTerms(HashedValue, frozen=True, gc=False):
    """All terms of one pod, and what is wrong with those that could not be compiled."""

    required: Terms = ()
    required_anti: Terms = ()
    preferred: Terms = ()
    preferred_anti: Terms = ()
    problems: tuple[str, ...] = ()


NO_TERMS = AffinityTerms()

_terms = lru_cache(maxsize=16384)(AffinityTerms)


def has_affinity(pod: Pod) -> bool:
    """Whether the pod has a podAffinity or podAntiAffinity object, even an empty one."""
    affinity = pod.spec.affinity
    return affinity is not None and (
        affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None
    )


def affinity_terms(pod: Pod) -> AffinityTerms:
    """Return the pod's terms. A group with an invalid term is empty and in ``problems``."""
    affinity = pod.spec.affinity
    if affinity is None or not has_affinity(pod):
        return NO_TERMS
    return _known.terms_of(affinity, pod.namespace)


class _KnownTerms:
    """Caches the terms of the affinities that were asked for last.

    Several plugins ask for the terms of a pod in one cycle, and hints for those of all waiting pods
    at every event. The key is the identity of the affinity, which is kept alive with its terms.
    """

    def __init__(self) -> None:
        self._terms: dict[tuple[int, str], tuple[Affinity, AffinityTerms]] = {}

    def terms_of(self, affinity: Affinity, namespace: str) -> AffinityTerms:
        key = id(affinity), namespace
        known = self._terms.get(key)
        if known is None:
            known = self._terms[key] = affinity, _all_compiled(affinity, namespace)
            if len(self._terms) > _MOST_KNOWN:
                del self._terms[next(iter(self._terms))]
        return known[1]


_MOST_KNOWN: Final = 16384
_known = _KnownTerms()


def _all_compiled(affinity: Affinity, space: str) -> AffinityTerms:
    near, apart = affinity.pod_affinity, affinity.pod_anti_affinity
    problems: list[str] = []
    groups = (
        _compiled("requiredAffinityTerms", near.required if near else (), space, problems),
        _compiled("requiredAntiAffinityTerms", apart.required if apart else (), space, problems),
        _compiled("preferredAffinityTerms", near.preferred if near else (), space, problems),
        _compiled("preferredAntiAffinityTerms", apart.preferred if apart else (), space, problems),
    )
    return _terms(*groups, tuple(problems)) if any(groups) or problems else NO_TERMS


def _compiled(
    kind: str,
    terms: Iterable[PodAffinityTerm | WeightedPodAffinityTerm],
    namespace: str,
    problems: list[str],
) -> Terms:
    try:
        return tuple([_compile(term, namespace) for term in terms])
    except InvalidSelector as fault:
        problems.append(f"{kind}: {fault}")
        return ()


def _compile(term: PodAffinityTerm | WeightedPodAffinityTerm, namespace: str) -> Term:
    if isinstance(term, WeightedPodAffinityTerm):
        return Term.of(term.pod_affinity_term, namespace, term.weight)
    return Term.of(term, namespace)
