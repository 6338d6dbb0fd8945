"""NodeAffinity: place a pod by its node selector and node affinity.

PreFilter  skips when nothing is required; names the only nodes in question when every required
           term asks for nodes by name.
Filter     rejects a node that does not match what the profile requires for all its pods, or what
           the pod requires itself.
Score      adds up the weights of the preferred terms that the node matches.
Requeue    when a node that matches joins, or a node's labels begin to match.

Arguments  addedAffinity (none): node affinity that all pods of the profile have besides their own.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from podium import framework as fwk
from podium.api import objects
from podium.api.objects import Node, Pod
from podium.api.selectors import (
    RequiredNodeAffinity,
    WeightedNodeTerm,
    node_selector,
    preferred_terms,
)
from podium.errors import InvalidSelector
from podium.plugins.node_affinity.args import NO_AFFINITY, AffinityArgs
from podium.plugins.node_affinity.required import may_match_unread, names_in_question

DEPENDS_ON_NOTHING = fwk.Dependencies()
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.LABELS)
REJECTED = fwk.Status.unresolvable("node(s) didn't match Pod's node affinity/selector")
REJECTED_BY_PROFILE = fwk.Status.unresolvable(
    "node(s) didn't match scheduler-enforced node affinity"
)
CONFLICT = fwk.Status.unresolvable("pod affinity terms conflict")


class NodeAffinity(
    fwk.PreFilterPlugin,
    fwk.FilterPlugin,
    fwk.PreScorePlugin,
    fwk.ScorePlugin,
    fwk.EnqueueExtensions,
):
    name = "NodeAffinity"

    Args = AffinityArgs

    def __init__(self, args: AffinityArgs, handle: fwk.Handle) -> None:
        self.added = args.added_affinity or NO_AFFINITY
        required = self.added.required
        self.required = RequiredNodeAffinity(
            affinity=None if required is None else node_selector(required)
        )

    def sign(self, pod: Pod) -> Hashable:
        # As written: which nodes are in question depends on terms that compiling drops.
        selector = pod.spec.node_selector
        return tuple(sorted(selector.items())) if selector else (), affinity_of(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        looks = self.requires(pod) or self.prefers(pod)
        return DEPENDENCIES if looks else DEPENDS_ON_NOTHING

    def pre_filter(
        self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows
    ) -> fwk.PreFilterResult | fwk.Status | None:
        if not self.requires(pod):
            return fwk.skip()
        names = names_in_question(affinity_of(pod).required)
        if names is None:
            return None
        return fwk.PreFilterResult(names) if names else CONFLICT

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        labels, name = node.labels, node.name
        own = RequiredNodeAffinity.of(pod)
        place: int = verdict(self.required.matches(labels, name), own.matches(labels, name))
        return VERDICTS[place]

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        own = RequiredNodeAffinity.of(pod)
        return fwk.Column(VERDICTS, verdict(nodes.matching(self.required), nodes.matching(own)))

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        if not self.prefers(pod):
            return fwk.skip()
        try:
            self.preferences(pod)
        except InvalidSelector as fault:
            return fwk.Status.error(fault)
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        labels, name = node.labels, node.name
        return sum(
            preferred.weight
            for preferred in self.preferences(pod)
            if preferred.term.matches(labels, name)
        )

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        scores = np.zeros(len(nodes), np.int64)
        for preferred in self.preferences(pod):
            scores += preferred.weight * nodes.matching_term(preferred.term)
        return scores

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return fwk.scale(scores)

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Node", "add|label", hint=self.node_became_right)]

    def node_became_right(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """What the profile requires must match now; only what the pod requires may begin to."""
        own = RequiredNodeAffinity.of(pod)
        if not self.required.matches(new.labels, new.name):
            return False
        if not own.matches(new.labels, new.name):
            return may_match_unread(own, new)
        return old is None or not own.matches(old.labels, old.name)

    def requires(self, pod: Pod) -> bool:
        return not (self.required.is_empty and RequiredNodeAffinity.of(pod).is_empty)

    def prefers(self, pod: Pod) -> bool:
        return bool(self.added.preferred or affinity_of(pod).preferred)

    def preferences(self, pod: Pod) -> tuple[WeightedNodeTerm, ...]:
        """The profile's and the pod's own; ``InvalidSelector`` when one cannot be read."""
        return preferred_terms(self.added.preferred) + preferred_terms(affinity_of(pod).preferred)


def affinity_of(pod: Pod) -> objects.NodeAffinity:
    affinity = pod.spec.affinity
    return (affinity.node_affinity if affinity is not None else None) or NO_AFFINITY


def verdict(matches_profile: Any, matches_pod: Any) -> Any:
    """The place in ``VERDICTS``, of one node or of each."""
    return matches_profile + 2 * matches_pod


VERDICTS = [REJECTED_BY_PROFILE, REJECTED, REJECTED_BY_PROFILE, fwk.SUCCESS]
