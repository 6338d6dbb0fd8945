"""InterPodAffinity: place a pod near some pods and away from others.

A term selects pods by labels and namespaces. Its domains are the groups of nodes that share a value
of its topology key.

PreFilter  rejects a pod with an invalid term; skips when neither the pod nor any placed pod has a
           required term that matters.
Filter     rejects a node if one of its domains lacks the pods that the pod's affinity requires
           (unless the pod is the first of its kind), if its domains have pods that the pod's
           anti-affinity forbids, or pods whose own anti-affinity forbids the incoming pod.
Score      adds up the weights of preferred terms, both the pod's and those of placed pods that
           match it, and ``hardPodAffinityWeight`` for each required affinity term that matches it.
Requeue    when a required pod appears or a forbidden one disappears (also by a change of labels),
           and when a node joins or changes its domain.

Arguments  hardPodAffinityWeight (1), from 0 to 100.
           ignorePreferredTermsOfExistingPods (false): if true, a pod without preferred terms of its
           own is not scored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import ClassVar

from podium import framework as fwk
from podium.api.affinity_terms import NO_TERMS, AffinityTerms, affinity_terms
from podium.api.objects import Namespace, Pod
from podium.api.requirements import aggregate
from podium.framework.args import outside
from podium.framework.cluster_view import (
    KINDS,
    PREFERRED,
    PREFERRED_ANTI,
    REQUIRED_ANTI,
)
from podium.plugins.inter_pod_affinity.hints import (
    LABELS_TOPIC,
    node_may_help,
    pod_may_help,
    pod_may_help_all_terms,
)
from podium.plugins.inter_pod_affinity.scoring import (
    Attraction,
    Preferences,
    attraction,
    stretched,
)
from podium.plugins.inter_pod_affinity.surroundings import (
    VERDICTS,
    Apart,
    Near,
    Surroundings,
    count_opposing_terms,
)
from podium.plugins.inter_pod_affinity.terms import ExclusionIgnoringNamespaces, Namespaces

# A pod with terms depends on all pods. Any other pod depends only on the terms of placed pods, and
# on labels and namespaces only if there are such terms.
_WITH_OWN_TERMS = fwk.Dependencies(
    cluster=fwk.Aspect.PODS | fwk.Aspect.AFFINITY | fwk.Aspect.LABELS | fwk.Aspect.NAMESPACES
)
_WITH_OTHERS_TERMS = fwk.Dependencies(
    cluster=fwk.Aspect.AFFINITY | fwk.Aspect.LABELS | fwk.Aspect.NAMESPACES
)
_WITHOUT_TERMS = fwk.Dependencies(cluster=fwk.Aspect.AFFINITY)


class InterPodAffinity(
    fwk.PreFilterExtensionsForMany,
    fwk.FilterPlugin,
    fwk.PreScorePlugin,
    fwk.ScorePlugin,
    fwk.EnqueueExtensions,
):
    name = "InterPodAffinity"
    State = Surroundings
    watches = (Namespace,)
    namespaces_type: ClassVar[type[Namespaces]] = Namespaces
    pod_hint = staticmethod(pod_may_help)

    class Args(fwk.Args, frozen=True, rename="camel"):
        hard_pod_affinity_weight: int = 1
        ignore_preferred_terms_of_existing_pods: bool = False

        def validate(self) -> Iterable[fwk.Problem]:
            return outside("hardPodAffinityWeight", self.hard_pod_affinity_weight, 0, 100)

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.hard_weight = args.hard_pod_affinity_weight
        self.ignores_others = args.ignore_preferred_terms_of_existing_pods
        self.cluster = handle.cluster
        self.namespaces = self.namespaces_type(handle.cluster)

    def sign(self, pod: Pod) -> Hashable:
        """Return ``None`` while no term matters to the pod.

        Pods with equal signatures must have equal ``depends_on``; both use ``_is_unaffected``.
        """
        terms = affinity_terms(pod)
        if self._is_unaffected(terms):
            return None
        own = [term.selector.keys for term in terms.required]
        standing = map(self.cluster.affinity.keys, self._kinds_that_matter(terms))
        keys = frozenset().union(*standing, *own)
        labels = [pair for pair in pod.labels.items() if pair[0] in keys]
        return (pod.namespace, terms, frozenset(labels))

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        terms = affinity_terms(pod)
        if terms is not NO_TERMS:
            return _WITH_OWN_TERMS
        return _WITHOUT_TERMS if self._is_unaffected(terms) else _WITH_OTHERS_TERMS

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        terms = affinity_terms(pod)
        if terms.problems:
            return fwk.Status.unresolvable(_parse_error(terms))
        spaces = self.cluster.namespace_labels(pod.namespace)
        matching = self.cluster.affinity.matching
        opposing = list(matching(REQUIRED_ANTI, pod.namespace, spaces, pod.labels))
        has_required = bool(terms.required or terms.required_anti)
        if not has_required and not opposing:
            return fwk.skip()
        found = self._count_surroundings(pod, terms, opposing)
        if not has_required and not (found.opposed is not None and found.opposed.values.any()):
            return fwk.skip()
        state.put(found)
        return None

    def add_pods(self, state: fwk.CycleState, pod: Pod, others: fwk.PodsOnRows) -> None:
        state.get(Surroundings).follow(pod, self.cluster.namespace_labels(pod.namespace), others, 1)

    def remove_pods(self, state: fwk.CycleState, pod: Pod, others: fwk.PodsOnRows) -> None:
        state.get(Surroundings).follow(
            pod, self.cluster.namespace_labels(pod.namespace), others, -1
        )

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        verdict = state.get(Surroundings).verdicts(lambda counts: counts.at(node.row))
        return VERDICTS[verdict.item(0)]

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return state.get(Surroundings).statuses(nodes)

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        terms = affinity_terms(pod)
        if terms.problems:
            return fwk.Status.error(_parse_error(terms))
        if self._is_unaffected(terms) or PREFERRED not in self._kinds_that_matter(terms):
            return fwk.skip()
        query_of = self.namespaces.term_query
        own = Preferences(
            [query_of(term) for term in terms.preferred],
            [query_of(term) for term in terms.preferred_anti],
        )
        found = attraction(self.cluster, pod, own, self.hard_weight)
        if found is None:
            return fwk.skip()
        state.put(found)
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        return state.get(Attraction).here.at(node.row).item()

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        return state.get(Attraction).here.on(nodes)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return stretched(scores)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("AssignedPod", "add|label|delete", hint=self.pod_hint, topic=LABELS_TOPIC),
            fwk.on("TargetPod", "label", hint=self.pod_hint),
            fwk.on("Node", "add|label", hint=node_may_help),
        ]

    def _count_surroundings(
        self, pod: Pod, terms: AffinityTerms, opposing: Iterable[fwk.StandingTerm]
    ) -> Surroundings:
        near = apart = None
        if terms.required:
            near = Near.around(self.cluster, self.namespaces.companions(pod, terms.required))
        if terms.required_anti:
            unwanted = tuple([self.namespaces.term_query(term) for term in terms.required_anti])
            apart = Apart.around(self.cluster, unwanted)
        return Surroundings(near, apart, count_opposing_terms(self.cluster, opposing))

    def _is_unaffected(self, terms: AffinityTerms) -> bool:
        """Return whether neither the pod's own terms nor those of placed pods can matter."""
        if terms is not NO_TERMS:
            return False
        return not self.cluster.affinity.any_of(self._kinds_that_matter(terms))

    def _kinds_that_matter(self, terms: AffinityTerms) -> tuple[str, ...]:
        """Return the kinds of placed pods' terms that matter to a pod with these terms."""
        has_preferences = terms.preferred or terms.preferred_anti
        if self.ignores_others and not has_preferences:
            return (REQUIRED_ANTI,)
        return KINDS if self.hard_weight else (REQUIRED_ANTI, PREFERRED, PREFERRED_ANTI)


class ExclusionIgnoringInterPodAffinity(InterPodAffinity):
    """InterPodAffinity as of 1.36, in how the pod's own terms select namespaces."""

    namespaces_type = ExclusionIgnoringNamespaces


class AllTermsWakingInterPodAffinity(InterPodAffinity):
    """InterPodAffinity as of 1.36: all terms of an anti-affinity must match to wake a pod."""

    pod_hint = staticmethod(pod_may_help_all_terms)


def _parse_error(terms: AffinityTerms) -> str:
    return f"parsing pod: {aggregate(terms.problems)}"
