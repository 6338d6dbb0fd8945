"""What a judgement returns for one pod, and what it remembers of a filter's last answer."""

from __future__ import annotations

from typing import NamedTuple

from podium.cycle.verdicts import RowNumbers, VerdictsOfAttempt
from podium.framework.cycle_state import CycleState
from podium.framework.diagnosis import UNKNOWN, NodeStatuses
from podium.framework.plugin import Statuses
from podium.framework.pre_filtered import PreFiltered, left_out_by
from podium.framework.status import Status


class Judged(NamedTuple):
    """What PreFilter and Filter say about one pod. Valid until the next pod of its class.

    ``verdicts`` is out of date, and not to be read, unless ``pre.status`` is ok.
    """

    pre: PreFiltered
    state: CycleState
    verdicts: VerdictsOfAttempt

    @property
    def absent(self) -> Status:
        """Return the status of nodes that are not candidates."""
        pre = self.pre
        return UNKNOWN if pre.node_names is None else left_out_by(pre.narrowed_by)

    def node_statuses(self) -> NodeStatuses:
        return self.verdicts.node_statuses(self.absent)


class LastAnswer(NamedTuple):
    """What a filter said about all candidates, and the index of each status in the verdicts."""

    statuses: Statuses
    status_index: RowNumbers

    def equals(self, statuses: Statuses) -> bool:
        """Compare the indices by identity: a plugin that answers by domain returns the same again.

        Equal contents in another array count as different, which is right and only slower.
        """
        last = self.statuses
        return statuses.index is last.index and statuses.values == last.values
