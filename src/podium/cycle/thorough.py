"""The judgement of a profile that tells the reasons of all filters, worked out when they are read.

Feasible rows are found and kept as ever: only refused nodes are asked about again.
"""

from __future__ import annotations

import numpy as np

from podium.api.objects import Pod
from podium.cycle.judgement import Judgement
from podium.framework.diagnosis import NodeStatuses, Rejections
from podium.framework.profile import refusals
from podium.state.rows import Rows


class ThoroughJudgement(Judgement):
    """Its verdicts name every filter that refuses a node, not only the first."""

    _pod: Pod
    _told: NodeStatuses | None = None

    def refresh(self, pod: Pod) -> None:
        self._pod, self._told = pod, None
        super().refresh(pod)

    def verdicts(self) -> NodeStatuses:
        if self._told is None:
            self._told = self._ask_all(super().verdicts())
        return self._told

    def rejections(self) -> Rejections:
        return self.verdicts().by_plugin()

    def _ask_all(self, first: NodeStatuses) -> NodeStatuses:
        refused = refusals(first.statuses)
        if not refused.any():
            return first
        rows = Rows(self.cluster, first.nodes.index[np.flatnonzero(refused)])
        told = self.profile.run_filters(self.state, self._pod, rows)
        return NodeStatuses(first.nodes, first.statuses.patched(refused, told), first.absent)
