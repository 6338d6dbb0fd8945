"""TaintToleration: keep a pod off nodes whose taints it does not tolerate.

Filter   rejects a node with an untolerated NoSchedule or NoExecute taint.
Score    prefers nodes with fewer untolerated PreferNoSchedule taints.
Requeue  when a node joins or changes its taints, or the pod gains a toleration.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from podium import framework as fwk
from podium.api.objects import Node, Pod, Taints, Tolerations
from podium.api.taints import PREFER_NO_SCHEDULE, find_untolerated, tolerates
from podium.framework.scores import zeros

REJECTED = fwk.Status.unresolvable("node(s) had untolerated taint(s)")
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.TAINTS)


@dataclass(frozen=True, slots=True)
class SoftTolerations:
    """PreScore's state: the pod's tolerations that apply to soft taints."""

    tolerations: Tolerations


class TaintToleration(fwk.FilterPlugin, fwk.PreScorePlugin, fwk.ScorePlugin, fwk.EnqueueExtensions):
    name = "TaintToleration"
    compares = False  # whether tolerations with the operators Gt and Lt tolerate anything

    def sign(self, pod: Pod) -> Hashable:
        return pod.spec.tolerations

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return verdict(pod, node.taints, self.compares)

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return nodes.taints.map(lambda taints: verdict(pod, taints, self.compares))

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> None:
        state.put(SoftTolerations(soft(pod.spec.tolerations)))

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        tolerations = state.get(SoftTolerations).tolerations
        return count_untolerated(node.taints, tolerations, self.compares)

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        tolerations = state.get(SoftTolerations).tolerations
        compares = self.compares
        counts = nodes.taints.map(lambda taints: count_untolerated(taints, tolerations, compares))
        if not any(counts.values):  # as nearly always
            return zeros(len(nodes))
        return counts.to_array(np.int64)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return fwk.scale(scores, reverse=True)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Node", "add|taint", hint=self.node_became_tolerable),
            fwk.on("TargetPod", "toleration", hint=lambda pod, old, new: new.uid == pod.uid),
        ]

    def node_became_tolerable(self, pod: Pod, old: Node | None, new: Node) -> bool:
        was_rejected = old is None or not verdict(pod, old.spec.taints, self.compares).ok
        return was_rejected and verdict(pod, new.spec.taints, self.compares).ok


class PreFilteringTaintToleration(fwk.PreFilterPlugin, TaintToleration):
    """TaintToleration as of 1.37, which has a PreFilter that lets every pod pass."""

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> None:
        """Do nothing. A profile may list this extension point, and its metrics exist."""


class ComparingTaintToleration(TaintToleration):
    """TaintToleration with the feature TaintTolerationComparisonOperators."""

    compares = True


def verdict(pod: Pod, taints: Taints, compares: bool) -> fwk.Status:
    tolerations = pod.spec.tolerations
    rejected = taints and find_untolerated(taints, tolerations, comparison_operators=compares)
    return REJECTED if rejected else fwk.SUCCESS


def soft(tolerations: Tolerations) -> Tolerations:
    return tuple(each for each in tolerations if each.effect in ("", *PREFER_NO_SCHEDULE))


def count_untolerated(taints: Taints, tolerations: Tolerations, compares: bool) -> int:
    """Return how many soft taints are not tolerated; a repeated taint counts each time."""
    return sum(
        taint.effect in PREFER_NO_SCHEDULE
        and not any(tolerates(toleration, taint, compares) for toleration in tolerations)
        for taint in taints
    )
