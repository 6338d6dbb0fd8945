"""NodeAffinity: place a pod by its node selector and node affinity.

PreFilter  skips when nothing is required; returns the only possible nodes when every required term
           selects nodes by name.
Filter     rejects a node that does not match the affinity that the profile requires for all pods,
           or the affinity that the pod requires.
Score      adds up the weights of the preferred terms that the node matches.
Requeue    when a node that matches joins, or a node's labels begin to match.

Arguments  addedAffinity (none): node affinity for all pods of the profile, in addition to their
own.
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
from podium.plugins.node_affinity.required import may_match_invalid_terms, possible_names

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
        # As written, since ``possible_names`` reads terms that compiling drops.
        selector = pod.spec.node_selector
        return tuple(sorted(selector.items())) if selector else (), affinity_of(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        reads_labels = self.requires(pod) or self.prefers(pod)
        return DEPENDENCIES if reads_labels else DEPENDS_ON_NOTHING

    def pre_filter(
        self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows
    ) -> fwk.PreFilterResult | fwk.Status | None:
        if not self.requires(pod):
            return fwk.skip()
        names = possible_names(affinity_of(pod).required)
        if names is None:
            return None
        return fwk.PreFilterResult(names) if names else CONFLICT

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        labels, name = node.labels, node.name
        own = RequiredNodeAffinity.of(pod)
        index: int = verdict_index(self.required.matches(labels, name), own.matches(labels, name))
        return VERDICTS[index]

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        own = RequiredNodeAffinity.of(pod)
        return fwk.Column(
            VERDICTS, verdict_index(nodes.matching(self.required), nodes.matching(own))
        )

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
        return [fwk.on("Node", "add|label", hint=self.node_began_to_match)]

    def node_began_to_match(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """Return whether the node matches the profile now, and has begun to match the pod."""
        own = RequiredNodeAffinity.of(pod)
        if not self.required.matches(new.labels, new.name):
            return False
        if not own.matches(new.labels, new.name):
            return may_match_invalid_terms(own, new)
        return old is None or not own.matches(old.labels, old.name)

    def requires(self, pod: Pod) -> bool:
        return not (self.required.is_empty and RequiredNodeAffinity.of(pod).is_empty)

    def prefers(self, pod: Pod) -> bool:
        return bool(self.added.preferred or affinity_of(pod).preferred)

    def preferences(self, pod: Pod) -> tuple[WeightedNodeTerm, ...]:
        """Return the preferred terms of profile and pod; ``InvalidSelector`` if one is invalid."""
        return preferred_terms(self.added.preferred) + preferred_terms(affinity_of(pod).preferred)


def affinity_of(pod: Pod) -> objects.NodeAffinity:
    affinity = pod.spec.affinity
    return (affinity.node_affinity if affinity is not None else None) or NO_AFFINITY


def verdict_index(matches_profile: Any, matches_pod: Any) -> Any:
    """Return the index into ``VERDICTS``, for one node or an array of nodes."""
    return matches_profile + 2 * matches_pod


VERDICTS = [REJECTED_BY_PROFILE, REJECTED, REJECTED_BY_PROFILE, fwk.SUCCESS]
