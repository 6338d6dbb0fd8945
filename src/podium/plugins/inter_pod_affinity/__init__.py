"""InterPodAffinity: place a pod near some pods and away from others.

A term speaks of pods by their labels and namespaces, and of a domain: the nodes that share the
value of the term's topology key.

PreFilter  rejects a pod with a term that cannot be read; skips when nothing is required, neither
           by the pod nor of it.
Filter     rejects a node without the pods that the pod's affinity requires in each domain (the
           first of its kind may start a domain), with pods there that its anti-affinity forbids,
           or with pods there whose own anti-affinity forbids it.
Score      adds up the weights of preferred terms, the pod's about others and others' about it, and
           for each required affinity term of others about it ``hardPodAffinityWeight``.
Requeue    when a wanted pod comes or a forbidden one goes, also by its labels, and when a node
           joins or moves to another domain.

Arguments  hardPodAffinityWeight (1), from 0 to 100.
           ignorePreferredTermsOfExistingPods (false): pods without preferred terms are not scored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

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
from podium.plugins.inter_pod_affinity.hints import node_may_help, pod_may_help
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
    opposition,
)
from podium.plugins.inter_pod_affinity.terms import Namespaces

# With own terms every pod may matter, else only what stands in the terms of others, if any do.
_OWN = fwk.Dependencies(
    cluster=fwk.Aspect.PODS | fwk.Aspect.AFFINITY | fwk.Aspect.LABELS | fwk.Aspect.NAMESPACES
)
_OTHERS = fwk.Dependencies(cluster=fwk.Aspect.AFFINITY | fwk.Aspect.LABELS | fwk.Aspect.NAMESPACES)
_NOBODYS = fwk.Dependencies(cluster=fwk.Aspect.AFFINITY)


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

    class Args(fwk.Args, frozen=True, rename="camel"):
        hard_pod_affinity_weight: int = 1
        ignore_preferred_terms_of_existing_pods: bool = False

        def validate(self) -> Iterable[fwk.Problem]:
            return outside("hardPodAffinityWeight", self.hard_pod_affinity_weight, 0, 100)

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.hard_weight = args.hard_pod_affinity_weight
        self.ignores_others = args.ignore_preferred_terms_of_existing_pods
        self.cluster = handle.cluster
        self.namespaces = Namespaces(handle.cluster)

    def sign(self, pod: Pod) -> Hashable:
        """Nothing while no term can matter; ``depends_on`` tells apart no more than this does."""
        terms = affinity_terms(pod)
        if self._stand_apart(terms):
            return None
        own = [term.selector.keys for term in terms.required]
        standing = map(self.cluster.affinity.keys, self._kinds_that_matter(terms))
        keys = frozenset().union(*standing, *own)
        labels = [pair for pair in pod.labels.items() if pair[0] in keys]
        return (pod.namespace, terms, frozenset(labels))

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        terms = affinity_terms(pod)
        if terms is not NO_TERMS:
            return _OWN
        return _NOBODYS if self._stand_apart(terms) else _OTHERS

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        terms = affinity_terms(pod)
        if terms.problems:
            return fwk.Status.unresolvable(_unreadable(terms))
        spaces = self.cluster.namespace_labels(pod.namespace)
        matching = self.cluster.affinity.matching
        opposing = list(matching(REQUIRED_ANTI, pod.namespace, spaces, pod.labels))
        asks = bool(terms.required or terms.required_anti)
        if not asks and not opposing:
            return fwk.skip()
        found = self._survey(pod, terms, opposing)
        if not asks and not (found.opposed is not None and found.opposed.values.any()):
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
        places = state.get(Surroundings).verdicts(lambda held: held.at(node.row))
        return VERDICTS[places.item(0)]

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return state.get(Surroundings).statuses(nodes)

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        terms = affinity_terms(pod)
        if terms.problems:
            return fwk.Status.error(_unreadable(terms))
        if self._stand_apart(terms) or PREFERRED not in self._kinds_that_matter(terms):
            return fwk.skip()
        wanted = self.namespaces.wanted
        own = Preferences(
            [wanted(term) for term in terms.preferred],
            [wanted(term) for term in terms.preferred_anti],
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
            fwk.on("Pod", "add|label|delete", hint=pod_may_help),
            fwk.on("Node", "add|label", hint=node_may_help),
        ]

    def _survey(
        self, pod: Pod, terms: AffinityTerms, opposing: Iterable[fwk.StandingTerm]
    ) -> Surroundings:
        near = apart = None
        if terms.required:
            near = Near.around(self.cluster, self.namespaces.companions(pod, terms.required))
        if terms.required_anti:
            unwanted = tuple([self.namespaces.wanted(term) for term in terms.required_anti])
            apart = Apart.around(self.cluster, unwanted)
        return Surroundings(near, apart, opposition(self.cluster, opposing))

    def _stand_apart(self, terms: AffinityTerms) -> bool:
        """Whether the pod has no terms, and no standing ones can matter to it."""
        if terms is not NO_TERMS:
            return False
        return not self.cluster.affinity.any_of(self._kinds_that_matter(terms))

    def _kinds_that_matter(self, terms: AffinityTerms) -> tuple[str, ...]:
        """The terms of others that the answers for a pod with these terms depend on."""
        has_preferences = terms.preferred or terms.preferred_anti
        if self.ignores_others and not has_preferences:
            return (REQUIRED_ANTI,)
        return KINDS if self.hard_weight else (REQUIRED_ANTI, PREFERRED, PREFERRED_ANTI)


def _unreadable(terms: AffinityTerms) -> str:
    return f"parsing pod: {aggregate(terms.problems)}"
