"""What PreFilter and Filter found for one pod: the feasible nodes, and why the others are not."""

from __future__ import annotations

from podium.cycle.judged import Judged
from podium.cycle.verdicts import UNTRACKED, FeasibleVersion
from podium.framework.diagnosis import NodeStatuses, Rejections
from podium.framework.pre_filtered import PreFiltered, left_out_by
from podium.framework.status import Status
from podium.state.rows import Rows


class Found:
    """The feasible nodes of an attempt. The status of each node is worked out when it is read.

    ``statuses`` are given where they are no longer those of ``judged``: after nominated pods,
    sampling or extenders have changed them. ``version`` is then untracked.
    """

    def __init__(
        self,
        judged: Judged,
        feasible: Rows,
        statuses: NodeStatuses | None = None,
        version: FeasibleVersion = UNTRACKED,
    ) -> None:
        self.pre_filtered: PreFiltered = judged.pre
        self.feasible = feasible
        self.version = version
        self._judged = judged
        self._statuses = statuses

    @property
    def statuses(self) -> NodeStatuses:
        if self._statuses is None:
            self._statuses = self._judged.node_statuses()
        return self._statuses

    def rejections(self) -> Rejections:
        """Count the nodes that each plugin refused for each reason. Shared: do not change it."""
        if self._statuses is None:
            return self._judged.verdicts.rejections()
        return self._statuses.by_plugin()

    def narrowed(self, feasible: Rows, statuses: NodeStatuses) -> Found:
        """Return what is left with these feasible nodes and statuses."""
        return Found(self._judged, feasible, statuses)

    def after_nominated(self, row: int, status: Status) -> Found:
        """Return what is found after the nominated node was tried on its own and refused.

        Nodes that PreFilter left out are then blamed on that filter as well, as upstream.
        """
        if self.pre_filtered.node_names is None:
            return self
        absent = left_out_by(self.pre_filtered.narrowed_by | {status.plugin})
        return self.narrowed(self.feasible, self.statuses.with_status(row, status, absent))

    def status_of(self, name: str) -> Status:
        node = self.feasible.cluster.node(name)
        if node is None:
            raise LookupError(f"no node {name}")
        return self.statuses.of(node)
