"""PodTopologySpread: keep the pods of a workload evenly spread over zones, nodes, racks.

PreFilter  counts the pods of each hard constraint by domain, over all nodes.
Filter     rejects a node whose domain would get too far ahead of the emptiest one.
Score      prefers nodes in domains with fewer pods, by the soft constraints. A pod without its own
           constraints gets the profile's defaults, which count the pods that its services and its
           controller select.
Requeue    when pods that count, or nodes, are added, deleted or changed.
"""

from __future__ import annotations

from collections.abc import Hashable

from podium import framework as fwk
from podium.api.objects import Pod
from podium.api.selectors import RequiredNodeAffinity
from podium.errors import InvalidSelector
from podium.framework.workload_selectors import WORKLOADS
from podium.plugins.pod_topology_spread.args import SpreadArgs
from podium.plugins.pod_topology_spread.constraints import Constraints, Spreading, SpreadRules
from podium.plugins.pod_topology_spread.hard import VERDICTS, HardCounts, hard_counts
from podium.plugins.pod_topology_spread.hints import Hints
from podium.plugins.pod_topology_spread.soft import SoftCounts, normalized, soft_counts

_WITHOUT_CONSTRAINTS = fwk.Dependencies(scoring=0)


class PodTopologySpread(
    fwk.PreFilterExtensionsForMany,
    fwk.FilterPlugin,
    fwk.PreScorePlugin,
    fwk.ScorePlugin,
    fwk.EnqueueExtensions,
):
    name = "PodTopologySpread"
    watches = WORKLOADS  # the default constraints spread the pods of a workload
    Args = SpreadArgs
    State = HardCounts
    uses_match_label_keys = True
    compares_tolerations = False

    def __init__(self, args: SpreadArgs, handle: fwk.Handle) -> None:
        rules = SpreadRules(self.uses_match_label_keys, self.compares_tolerations)
        self._spreading = Spreading(args, handle.cluster, rules)
        self._hints = Hints(self._spreading)

    def sign(self, pod: Pod) -> Hashable:
        try:
            hard, soft = self._spreading.both(pod)
        except InvalidSelector:
            raise fwk.NotSignable from None
        if not hard and not soft:
            return ()
        by_node_policy = (*hard, *_not_per_node(soft))
        return (
            hard,
            soft,
            # Defaults may equal a pod's own constraints, but treat nodes without a key differently.
            self._spreading.needs_every_key(pod),
            any(c.honors_affinity for c in by_node_policy) and RequiredNodeAffinity.of(pod),
            any(c.honors_taints for c in by_node_policy) and pod.spec.tolerations,
        )

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        try:
            hard, soft = self._spreading.both(pod)
        except InvalidSelector:
            return fwk.Dependencies(cluster=fwk.Aspect.ALL, feasible=True)
        # Services and owners are in the signature: a change there gives another signature.
        if not hard and not soft:
            return _WITHOUT_CONSTRAINTS
        return fwk.Dependencies(cluster=_aspects(hard), scoring=_aspects(soft), feasible=bool(soft))

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        constraints = self._spreading.hard(pod)
        if not constraints:
            return fwk.skip()
        state.put(hard_counts(nodes, pod, constraints))
        return None

    def add_pods(self, state: fwk.CycleState, pod: Pod, others: fwk.PodsOnRows) -> None:
        state.get(HardCounts).shift(others.infos, others.rows, 1)

    def remove_pods(self, state: fwk.CycleState, pod: Pod, others: fwk.PodsOnRows) -> None:
        state.get(HardCounts).shift(others.infos, others.rows, -1)

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return VERDICTS[state.get(HardCounts).verdict(node)]

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return state.get(HardCounts).statuses(nodes)

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        constraints = self._spreading.soft(pod)
        if not constraints or not nodes.cluster.node_count:
            return fwk.skip()
        needs_every_key = self._spreading.needs_every_key(pod)
        state.put(soft_counts(nodes, pod, constraints, needs_every_key))
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        return state.get(SoftCounts).raw(node)

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        return state.get(SoftCounts).raw_all(nodes)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return normalized(scores, state.get(SoftCounts).ignored(nodes))

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on(
                "AssignedPod",
                "add|delete|label",
                self._hints.pods_shift_the_counts,
                self._hints.labels_topic,
            ),
            fwk.on("TargetPod", "label|toleration", self._hints.pods_shift_the_counts),
            fwk.on("Node", "add|delete|label|taint", self._hints.nodes_shift_the_domains),
        ]


class IgnoringMatchLabelKeys(PodTopologySpread):
    """PodTopologySpread without the feature MatchLabelKeysInPodTopologySpread."""

    uses_match_label_keys = False


class ComparingPodTopologySpread(PodTopologySpread):
    """PodTopologySpread with the feature TaintTolerationComparisonOperators."""

    compares_tolerations = True


def _not_per_node(soft: Constraints) -> Constraints:
    """Return the constraints whose node policies matter; with one domain per node they do not."""
    return tuple([constraint for constraint in soft if not constraint.is_per_node])


def _aspects(constraints: Constraints) -> int:
    """Return the aspects of the cluster that the counts of these constraints depend on."""
    if not constraints:
        return 0
    taints = any(constraint.honors_taints for constraint in constraints)
    return fwk.Aspect.PODS | fwk.Aspect.LABELS | (fwk.Aspect.TAINTS if taints else 0)
