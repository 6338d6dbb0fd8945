"""ServiceAffinity: keep the pods of a service on nodes that agree in some labels, or spread them.

Only configurations of v1beta1 and older, and policies, may name it; InterPodAffinity replaces it.

PreFilter  finds out where the pod's *peers* run: pods of its namespace that have all of its labels.
Filter     rejects a node that does not have the values of ``affinityLabels`` that the pod's node
           selector asks for; where that asks for none and the pod belongs to a service, the values
           of the first node with a peer.
Score      counts the pods of the pod's service, and prefers nodes whose values of
           ``antiAffinityLabelsPreference`` fewer of them share.
Requeue    when peers come or go, a service lets go of the pod, or a node's labels matter.

Arguments  affinityLabels, antiAffinityLabelsPreference.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from podium import framework as fwk
from podium.api.objects import Pod
from podium.api.selectors import from_map
from podium.framework.workload_selectors import services_of
from podium.legacy.plugins.service_affinity.agreement import Agreement, agree, agreement, peers_of
from podium.legacy.plugins.service_affinity.hints import Hints

REJECTED = fwk.Status.unschedulable("node(s) didn't match service affinity")


class ServiceAffinity(
    fwk.PreFilterExtensions, fwk.FilterPlugin, fwk.ScorePlugin, fwk.EnqueueExtensions
):
    name = "ServiceAffinity"
    State = Agreement

    class Args(fwk.Args, frozen=True, rename="camel"):
        affinity_labels: tuple[str, ...] = ()
        anti_affinity_labels_preference: tuple[str, ...] = ()

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.labels = args.affinity_labels
        self.preferences = args.anti_affinity_labels_preference
        self.cluster = handle.cluster
        self.hints = Hints(self.labels)

    def sign(self, pod: Pod) -> Hashable:
        wanted = tuple([pod.spec.node_selector.get(label) for label in self.labels])
        peers = peers_of(pod) if None in wanted and services_of(self.cluster, pod) else None
        return wanted, peers, self.counted(pod) if self.preferences else None

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        own = fwk.Aspect.PODS | fwk.Aspect.LABELS
        workloads = fwk.Aspect.WORKLOADS
        return fwk.Dependencies(
            node=own, cluster=own | workloads if self.labels else 0, scoring=workloads
        )

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        if not self.labels:
            return fwk.skip()
        state.put(agreement(self.cluster, nodes, pod, self.labels))
        return None

    def add_pod(
        self, state: fwk.CycleState, pod: Pod, other: fwk.PodInfo, node: fwk.NodeInfo
    ) -> None:
        state.get(Agreement).add(other, node.row)

    def remove_pod(
        self, state: fwk.CycleState, pod: Pod, other: fwk.PodInfo, node: fwk.NodeInfo
    ) -> None:
        state.get(Agreement).remove(other, node.row)

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        agreed = state.get(Agreement).on(node.row)
        return fwk.SUCCESS if agree(agreed, node.labels) else REJECTED

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return fwk.Column.where(state.get(Agreement).mask(nodes), fwk.SUCCESS, REJECTED)

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        query = self.counted(pod)
        return 0 if query is None else node.count_pods(query)

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        query = self.counted(pod)
        return np.zeros(len(nodes), np.int64) if query is None else nodes.count_pods(query)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return spread(scores, [nodes.labels[label] for label in self.preferences])

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Pod", "add|delete|label", hint=self.hints.peers_changed),
            fwk.on("Node", "add|delete|label", hint=self.hints.node_may_agree),
            fwk.on("Service", "update|delete", hint=self.hints.service_let_go),
        ]

    def counted(self, pod: Pod) -> fwk.PodQuery | None:
        """The running pods of the pod's service; of several services, the first by name."""
        services = services_of(self.cluster, pod)
        first = min(services, key=lambda service: service.name, default=None)
        if first is None or not first.spec.selector:
            return None
        clause = fwk.Clause(frozenset((pod.namespace,)), from_map(first.spec.selector))
        return fwk.PodQuery((clause,), terminating=False)


def spread(counts: fwk.Scores, labels: Sequence[fwk.LabelView]) -> fwk.Scores:
    """For each label the part of the pods that run under another value; 0 without the label.

    The order of operations is upstream's: the sum is truncated, and another order rounds
    differently.
    """
    total = float(counts.sum())
    scores = np.zeros(len(counts))
    for label in labels:
        indexes = label.numbers + 1  # index 0 is for nodes without the label
        by_value = np.bincount(indexes, counts, len(label.values) + 1)
        parts = np.full(len(by_value), 100.0)
        if total > 0:
            parts = 100.0 * ((total - by_value) / total)
        parts = parts / float(len(labels))
        parts[0] = 0.0
        scores = scores + parts[indexes]
    cut: fwk.Scores = scores.astype(np.int64)
    return cut
