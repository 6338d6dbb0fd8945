"""NodeAffinity: place a pod by its node selector and node affinity.

PreFilter  skips when nothing is required; returns the only possible nodes when every required term
           selects nodes by name.
Filter     rejects a node that does not match the affinity that the profile requires for all pods,
           or the affinity that the pod requires.
Score      adds up the weights of the preferred terms that the node matches.
Requeue    when a node that matches joins, or a node's labels begin to match.

Arguments  addedAffinity (none): node affinity for all pods, in addition to their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from podium import framework as fwk
from podium.api import objects
from podium.api.objects import Node, NodeSelector, NodeSelectorTerm, Pod
from podium.api.selectors import (
    NAME_FIELD,
    RequiredNodeAffinity,
    WeightedNodeTerm,
    node_selector,
    preferred_problems,
    preferred_terms,
)
from podium.errors import InvalidSelector

DEPENDS_ON_NOTHING = fwk.Dependencies()
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.LABELS)
REJECTED = fwk.Status.unresolvable("node(s) didn't match Pod's node affinity/selector")
REJECTED_BY_PROFILE = fwk.Status.unresolvable(
    "node(s) didn't match scheduler-enforced node affinity"
)
CONFLICT = fwk.Status.unresolvable("pod affinity terms conflict")
NO_AFFINITY = objects.NodeAffinity()


class AffinityArgs(fwk.Args, frozen=True, rename="camel"):
    """NodeAffinityArgs: the node affinity that a profile adds to all its pods."""

    added_affinity: objects.NodeAffinity | None = None

    def validate(self) -> Iterator[fwk.Problem]:
        added = self.added_affinity or NO_AFFINITY
        if added.required is not None:
            for error in node_selector(added.required).errors:
                yield _problem(f"{_PATH.format('required')}.{error}")
        for error in preferred_problems(added.preferred):
            yield _problem(f"{_PATH.format('preferred')}{error}")


_PATH = "addedAffinity.{}DuringSchedulingIgnoredDuringExecution"


def _problem(error: str) -> fwk.Problem:
    path, _, message = error.partition(": ")
    return fwk.Problem(path, message)


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


Names = frozenset[str]


@lru_cache(maxsize=4096)
def possible_names(required: NodeSelector | None) -> Names | None:
    """Return the names of nodes that the terms select; ``None`` unless every term names nodes."""
    terms = required.node_selector_terms if required is not None else ()
    asked = [_names(term) for term in terms]
    named = [names for names in asked if names is not None]
    if not named or len(named) < len(asked):
        return None
    return Names().union(*named)


def _names(term: NodeSelectorTerm) -> Names | None:
    """Return the names that a term allows; fields that exclude names are left to Filter."""
    allowed = [
        Names(field.values)
        for field in term.match_fields
        if field.key == NAME_FIELD and field.operator == "In"
    ]
    return Names.intersection(*allowed) if allowed else None


def may_match_invalid_terms(required: RequiredNodeAffinity, node: Node) -> bool:
    """Return whether only invalid terms keep the node from matching."""
    selector = RequiredNodeAffinity(required.pairs)
    return required.has_errors and selector.matches(node.labels, node.name)
