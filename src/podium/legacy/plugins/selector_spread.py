"""SelectorSpread: spread the pods of a service or controller over nodes and zones.

Only older configurations and policies may name it; PodTopologySpread replaces it.

PreScore  works out what the pod's services and its controller select together. Pods with spread
          constraints of their own are left to PodTopologySpread.
Score     prefers nodes, and twice as much zones, with fewer of those pods.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.workload_selectors import WORKLOADS, default_selector

ZONE_WEIGHT = 2 / 3
DEPENDENCIES = fwk.Dependencies(
    node=fwk.Aspect.PODS | fwk.Aspect.LABELS, cluster=fwk.Aspect.WORKLOADS
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counted:
    """PreScore's state: the pods to count, or ``None`` if no workload selects the pod."""

    query: fwk.PodQuery | None


class SelectorSpread(fwk.PreScorePlugin, fwk.ScorePlugin):
    name = "SelectorSpread"
    watches = WORKLOADS

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self.cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        return () if brings_constraints(pod) else (self.workload(pod),)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        if brings_constraints(pod):
            return fwk.skip()
        state.put(Counted(self.workload(pod)))
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        query = state.get(Counted).query
        return 0 if query is None else node.count_pods(query)

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        query = state.get(Counted).query
        return np.zeros(len(nodes), np.int64) if query is None else nodes.count_pods(query)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return spread(scores, nodes.zones)

    def workload(self, pod: Pod) -> fwk.PodQuery | None:
        """Return a query for the pods of the same workload, without terminating ones."""
        selector = default_selector(self.cluster, pod)
        if selector.is_empty:
            return None
        clause = fwk.Clause(frozenset((pod.namespace,)), selector)
        return fwk.PodQuery((clause,), terminating=False)


def brings_constraints(pod: Pod) -> bool:
    return bool(pod.spec.topology_spread_constraints)


def spread(counts: fwk.Scores, zones: fwk.Column[str]) -> fwk.Scores:
    """Score nodes: fewer pods on the node and in its zone are better; without a zone, on the node.

    The order of operations is upstream's: the result is truncated, and another order rounds
    differently.
    """
    scores = fewest(counts.astype(np.float64))
    zoned = zones.map(bool).to_array(np.bool_)
    if zoned.any():
        by_zone = np.bincount(zones.index, counts, len(zones.values)).astype(np.float64)
        by_zone[[not zone for zone in zones.values]] = 0
        mixed = scores * (1.0 - ZONE_WEIGHT) + ZONE_WEIGHT * fewest(by_zone)[zones.index]
        scores = np.where(zoned, mixed, scores)
    cut: fwk.Scores = scores.astype(np.int64)
    return cut


def fewest(counts: Floats) -> Floats:
    """Scale counts so that none scores 100 and the highest scores 0."""
    most = float(counts.max(initial=0))
    if most == 0:
        return np.full(len(counts), 100.0)
    return 100.0 * ((most - counts) / most)
