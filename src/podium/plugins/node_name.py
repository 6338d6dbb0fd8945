"""NodeName: a pod that names its node runs there or nowhere.

PreFilter  leaves out every other node (1.37).
Filter     rejects every other node. The scheduler rarely sees a pod with ``spec.nodeName``, as the
           API treats it as bound.
Requeue    when a node joins.
"""

from __future__ import annotations

from collections.abc import Hashable

from podium import framework as fwk
from podium.api.objects import Pod

REJECTED = fwk.Status.unresolvable("node(s) didn't match the requested node name")
DEPENDENCIES = fwk.Dependencies()


class NodeName(fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "NodeName"

    def sign(self, pod: Pod) -> Hashable:
        return pod.node_name

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return fwk.SUCCESS if pod.node_name in ("", node.name) else REJECTED

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        if not pod.node_name:
            return fwk.Column.uniform(fwk.SUCCESS, len(nodes))
        wanted = nodes.cluster.node(pod.node_name)
        if wanted is None:
            return fwk.Column.uniform(REJECTED, len(nodes))
        return fwk.Column.where(nodes.index != wanted.row, REJECTED, fwk.SUCCESS)

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Node", "add")]


class NarrowingNodeName(fwk.PreFilterPlugin, NodeName):
    """NodeName as of 1.37: no plugin is asked about other nodes."""

    def pre_filter(
        self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows
    ) -> fwk.PreFilterResult | None:
        return fwk.PreFilterResult(frozenset({pod.node_name})) if pod.node_name else None
