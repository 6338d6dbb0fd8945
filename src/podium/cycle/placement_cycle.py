"""An attempt for a member of a pod group on the nodes of one placement."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.cycle.judged import Judged
from podium.cycle.verdicts import FeasibleVersion, RowNumbers, VerdictsOfAttempt
from podium.framework.diagnosis import UNKNOWN, NodeStatuses, Rejections
from podium.framework.profile import Profile
from podium.framework.signature import Signature
from podium.framework.status import Status
from podium.state.aspects import Aspect, Reader
from podium.state.cluster import ClusterState
from podium.state.column import Column
from podium.state.rows import Rows

_MATTERS_TO_SIGN: Final = Aspect.ALL & ~(Aspect.RESOURCES | Aspect.PODS)
_NUMBERS: Final = count(1)  # of placements, so that no two have the same


class PlacementCycle(Cycle):
    """A cycle for which only some rows count as nodes.

    Plugins judge all nodes nevertheless: equal members share that judgement in all placements. Its
    verdicts are narrowed to the rows of the placement, before nodes are sampled and scored.
    """

    def __init__(self, *args: Any, within: PlacementRows) -> None:
        self._within = within
        super().__init__(*args)
        self.record.nodes = len(within.rows)

    def _sign(self) -> Signature:
        return self._within.signatures.of(self.profile, self.pod)

    def _nominated_row(self) -> int | None:
        row = super()._nominated_row()
        return row if row is not None and self._within.is_inside[row] else None

    def _leave_room(self, judged: Judged) -> Found:
        narrowed = self._within.narrowed(judged.verdicts)
        return super()._leave_room(judged._replace(verdicts=narrowed))

    def _in_order(self, found: Found) -> RowNumbers:
        in_order = self.services.cluster.table.rows_in_order()
        return in_order[np.isin(in_order, found.statuses.nodes.index)]


class PlacementRows:
    """The rows of one placement, for the trial of one group there.

    Verdicts are kept for the class of the last member only, as equal members mostly come together.
    """

    def __init__(
        self, cluster: ClusterState, rows: RowNumbers, signatures: MemberSignatures
    ) -> None:
        self.cluster = cluster
        self.signatures = signatures
        self.rows = rows
        self.is_inside = np.zeros(cluster.table.size, np.bool_)
        self.is_inside[rows] = True
        self.number = next(_NUMBERS)
        self._latest: VerdictsWithin | None = None

    def narrowed(self, verdicts: VerdictsOfAttempt) -> VerdictsWithin:
        """Return what these verdicts, those of one class, say about the rows inside."""
        if self._latest is None or self._latest.of_all is not verdicts:
            self._latest = VerdictsWithin(self, verdicts)
        return self._latest


class MemberSignatures:
    """The signatures of the members of a group, for its trials in all placements.

    They are kept while only resources and pods of nodes change, as members without affinity, ports
    and volumes change them: the ``sign`` of podium's own plugins does not look at these.
    """

    def __init__(self, cluster: ClusterState) -> None:
        self._reader = Reader(cluster)
        self._known: dict[str, Signature] = {}  # by uid

    def of(self, profile: Profile, pod: Pod) -> Signature:
        if profile.has_outside_plugins:
            return profile.sign(pod)
        if self._reader.catch_up().aspects & _MATTERS_TO_SIGN:
            self._known.clear()
        found = self._known.get(pod.uid)
        if found is None:
            found = self._known[pod.uid] = profile.sign(pod)
        return found


class VerdictsWithin:
    """The verdicts of one class about the rows of a placement. They follow those about all rows.

    What is kept is right as long as what it was made from is the same: ``_feasible`` for the
    version of the feasible rows, ``_rejections`` for the counts of all nodes.
    """

    def __init__(self, within: PlacementRows, of_all: VerdictsOfAttempt) -> None:
        self._within = within
        self.of_all = of_all
        self._number = of_all.version.number
        self._feasible = self._inside(of_all.feasible)
        self._rejections_of_all: Rejections | None = None
        self._rejections = Rejections()

    def _inside(self, rows: RowNumbers) -> RowNumbers:
        return rows[self._within.is_inside[rows]]

    @property
    def feasible(self) -> RowNumbers:
        number = self.of_all.version.number
        if number != self._number:
            self._number, self._feasible = number, self._inside(self.of_all.feasible)
        return self._feasible

    @property
    def version(self) -> FeasibleVersion:
        number, grown_at, _ = self.of_all.version
        return FeasibleVersion(number, grown_at, self._within.number)

    def node_statuses(self, absent: Status) -> NodeStatuses:
        known = self.of_all.node_statuses(absent)
        is_kept: NDArray[np.bool_] = self._within.is_inside[known.nodes.index]
        statuses = Column(known.statuses.values, known.statuses.index[is_kept])
        rows = known.nodes.index[is_kept]
        return NodeStatuses(Rows(self._within.cluster, rows), statuses, known.absent)

    def rejections(self) -> Rejections:
        of_all = self.of_all.rejections()
        if of_all is not self._rejections_of_all:
            self._rejections_of_all = of_all
            is_any = bool(of_all.refused)
            self._rejections = self.node_statuses(UNKNOWN).by_plugin() if is_any else of_all
        return self._rejections
