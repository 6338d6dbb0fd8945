"""Verdicts for a profile that reports the reasons of all filters, worked out when they are read.

Feasible rows are found and kept as in any profile: only refused nodes are asked about again.
"""

from __future__ import annotations

import numpy as np

from podium.api.objects import Pod
from podium.cycle.judged import Judged
from podium.cycle.judgement import Judgement
from podium.framework.diagnosis import NodeStatuses, Rejections
from podium.framework.profile import Profile, refusals
from podium.framework.status import Status
from podium.state.rows import Rows


class ThoroughVerdicts:
    """Verdicts that name every filter that refuses a node, not only the first."""

    def __init__(self, profile: Profile, pod: Pod, judged: Judged) -> None:
        self.feasible = judged.verdicts.feasible
        self.version = judged.verdicts.version
        self._profile = profile
        self._pod = pod
        self._judged = judged
        self._statuses: NodeStatuses | None = None  # once they were asked for

    def node_statuses(self, absent: Status) -> NodeStatuses:
        if self._statuses is None:
            self._statuses = self._ask_all(self._judged.verdicts.node_statuses(absent))
        return self._statuses

    def rejections(self) -> Rejections:
        return self.node_statuses(self._judged.absent).by_plugin()

    def _ask_all(self, first: NodeStatuses) -> NodeStatuses:
        refused = refusals(first.statuses)
        if not refused.any():
            return first
        rows = Rows(first.nodes.cluster, first.nodes.index[np.flatnonzero(refused)])
        statuses = self._profile.run_filters(self._judged.state, self._pod, rows)
        return NodeStatuses(first.nodes, first.statuses.patched(refused, statuses), first.absent)


class ThoroughJudgement(Judgement):
    """A judgement whose verdicts are thorough."""

    def refresh(self, pod: Pod) -> Judged:
        judged = super().refresh(pod)
        if not judged.pre.status.ok:
            return judged
        return judged._replace(verdicts=ThoroughVerdicts(self.profile, pod, judged))
