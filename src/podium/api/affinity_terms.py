"""The affinity terms of a pod, compiled: which pods a term speaks of and over which domain.

Replicas have equal terms; they get the same objects, which hash once and compare at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from podium.api.affinity import Affinity
from podium.api.meta import HashedValue
from podium.api.objects import Pod, PodAffinityTerm, WeightedPodAffinityTerm
from podium.api.selectors import Selector, label_selector
from podium.errors import InvalidSelector


class Term(HashedValue, frozen=True, gc=False):
    """Pods that ``selector`` matches, in ``namespaces`` or where ``namespace_selector`` does."""

    selector: Selector
    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: Selector | None = None
    weight: int = 0

    @classmethod
    def of(cls, term: PodAffinityTerm, namespace: str, weight: int = 0) -> Term:
        """Compile; without namespaces and selector a term means its owner's namespace."""
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
    """All terms of one pod by kind, and what was wrong with those that did not compile."""

    required: Terms = ()
    required_anti: Terms = ()
    preferred: Terms = ()
    preferred_anti: Terms = ()
    problems: tuple[str, ...] = ()


NO_TERMS = AffinityTerms()

_terms = lru_cache(maxsize=16384)(AffinityTerms)


def has_affinity(pod: Pod) -> bool:
    """Whether the pod carries a podAffinity or podAntiAffinity object, even an empty one."""
    affinity = pod.spec.affinity
    return affinity is not None and (
        affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None
    )


def affinity_terms(pod: Pod) -> AffinityTerms:
    """The pod's terms. A group with a broken term is empty and named in ``problems``."""
    affinity = pod.spec.affinity
    if affinity is None or not has_affinity(pod):
        return NO_TERMS
    return _last.terms_of(pod, affinity)


class _LastPod:
    """Keeps the terms of the last pod: in a cycle several ask for the same pod's."""

    def __init__(self) -> None:
        self._pod: Pod | None = None
        self._terms = NO_TERMS

    def terms_of(self, pod: Pod, affinity: Affinity) -> AffinityTerms:
        if pod is not self._pod:
            self._terms = _all_compiled(affinity, pod.namespace)
            self._pod = pod
        return self._terms


_last = _LastPod()


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
