"""Roomiest: prefer the nodes with most free memory; for one node, and for all nodes at once.

Both forms call one rule. At 5,000 nodes the form over all nodes is many times as fast.
"""

from typing import Any

import numpy as np

from podium import framework as fwk


class Roomiest(fwk.ScorePlugin):
    name = "Roomiest"
    sign = fwk.pod_fields()  # it looks at nothing in a pod: all pods are alike

    def depends_on(self, pod: fwk.Pod) -> fwk.Dependencies:
        return fwk.Dependencies(node=fwk.Aspect.RESOURCES)

    def score(self, state: fwk.CycleState, pod: fwk.Pod, node: fwk.NodeInfo) -> int:
        return room(node.free("memory"), node.allocatable("memory"))

    def score_all(self, state: fwk.CycleState, pod: fwk.Pod, nodes: fwk.Rows) -> fwk.Scores:
        return room(nodes.free("memory"), nodes.allocatable("memory"))


def room(free: Any, there: Any) -> Any:
    """Percent of the memory that is free: of one node, or of many."""
    return np.clip(100 * free // np.maximum(there, 1), 0, 100)
