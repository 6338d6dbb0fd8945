"""TopologyPlacementGenerator: the pods of a group go to nodes that share a label.

PlacementGenerate  proposes one placement for each value of the label that the group's topology
                   constraint names. Once members have nodes, only their value is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from podium import framework as fwk
from podium.api.objects import Pod, PodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.framework.cluster_view import MAX_DEPTH
from podium.framework.placements import Placement
from podium.framework.plugin import PlacementGeneratePlugin


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    name = "TopologyPlacementGenerator"
    watches = (PodGroup,)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._cluster = handle.cluster

    def generate_placements(
        self, group: SchedulingGroup, parent: Placement
    ) -> Sequence[Placement] | fwk.Status:
        key = group.topology_key
        if not key:
            return [parent]
        leaves = self._cluster.trees.leaves(group)
        if deep := next((leaf for leaf in leaves if self._depth(leaf, group) > MAX_DEPTH), None):
            return fwk.Status.error(f"exceeded maximum hierarchy depth at {deep.entity_key}")
        try:
            domain = self._domain_in_use(leaves, key)
        except LookupError as fault:
            what = f"cannot determine domain for already scheduled pods: {fault.args[0]}"
            return fwk.Status.error(what)
        if domain is None:
            return list(by_domain(parent.nodes, key))
        nodes = parent.nodes.where(parent.nodes.labels[key] == domain)
        return [Placement(domain, nodes)] if len(nodes) else []

    def _depth(self, leaf: PodGroup, group: SchedulingGroup) -> int:
        """Return how many levels there are from a group to a leaf of it, both included."""
        lineage = [each.entity_key for each in self._cluster.trees.lineage(leaf)]
        return lineage.index(group.entity_key) + 1

    def _domain_in_use(self, leaves: Sequence[PodGroup], key: str) -> str | None:
        """Return where the members with a node are; ``None`` if there are none."""
        found: str | None = None
        for pod in (pod for leaf in leaves for pod in self._cluster.members(leaf.key).scheduled()):
            domain = self._domain_of(pod, key)
            if found and found != domain:  # as upstream, an empty value is no domain yet
                raise LookupError(f"more than 1 domain found for pod group: {found}, {domain}")
            found = domain
        return found

    def _domain_of(self, pod: Pod, key: str) -> str:
        info = self._cluster.pods.get(pod.uid)
        node = None if info is None else self._cluster.node_object(info.row)
        if node is None:
            what = f'nodeinfo not found for node name "{pod.node_name}"'
            raise LookupError(f"getting node for pod {pod.key}: {what}")
        if key not in node.labels:
            raise LookupError(f"no topology domain found for pod {pod.key}")
        return node.labels[key]


def by_domain(nodes: fwk.Rows, key: str) -> Iterator[Placement]:
    """Return the nodes with each value of a label, in the order in which the values appear."""
    label = nodes.labels[key]
    numbers, first = np.unique(label.numbers, return_index=True)
    for number in numbers[np.argsort(first)].tolist():
        if number >= 0:
            yield Placement(label.values[number], nodes.where(label.numbers == number))
