"""NodeUnschedulable: keep pods off cordoned nodes.

Filter   rejects a node with ``spec.unschedulable``, unless the pod tolerates the taint that a
         cordoned node has. It looks at the flag, not at the taint.
Requeue  when a schedulable node joins, a node is uncordoned, or the pod gains that toleration.
"""

from __future__ import annotations

from collections.abc import Hashable

from podium import framework as fwk
from podium.api.objects import Node, Pod, Taint
from podium.api.taints import tolerates

CORDONED = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
REJECTED = fwk.Status.unresolvable("node(s) were unschedulable")
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.TAINTS)


class NodeUnschedulable(fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "NodeUnschedulable"

    def sign(self, pod: Pod) -> Hashable:
        return may_be_cordoned(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        refused = node.node.spec.unschedulable and not may_be_cordoned(pod)
        return REJECTED if refused else fwk.SUCCESS

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        if may_be_cordoned(pod):
            return fwk.Column.uniform(fwk.SUCCESS, len(nodes))
        return fwk.Column.where(nodes.unschedulable, REJECTED, fwk.SUCCESS)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Node", "add|taint", hint=node_became_schedulable),
            fwk.on("TargetPod", "toleration", hint=pod_became_tolerant),
        ]


class PreFilteringNodeUnschedulable(fwk.PreFilterPlugin, NodeUnschedulable):
    """NodeUnschedulable as of 1.37, which has a PreFilter that lets every pod pass."""

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> None:
        """Do nothing. A profile may list this extension point, and its metrics exist."""


def may_be_cordoned(pod: Pod) -> bool:
    """Return whether the pod tolerates the taint of cordoned nodes."""
    tolerations = pod.spec.tolerations
    return bool(tolerations) and any(tolerates(each, CORDONED) for each in tolerations)


def node_became_schedulable(pod: Pod, old: Node | None, new: Node) -> bool:
    was_rejected = old is None or old.spec.unschedulable
    return was_rejected and not new.spec.unschedulable


def pod_became_tolerant(pod: Pod, old: Pod, new: Pod) -> bool:
    return new.uid == pod.uid and may_be_cordoned(new)
