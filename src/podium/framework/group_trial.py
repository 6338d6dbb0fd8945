"""What a PodGroupPostFilter plugin gets: a pod group that does not fit, and a way to try again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from podium.api.objects import Pod
from podium.api.pod_groups import SchedulingGroup
from podium.framework.cycle_state import CycleState
from podium.framework.status import Nominate, Status
from podium.state.pod_info import PodInfo

Nominations = Mapping[str, Nominate]
"""What becomes of the nominations of members, by uid."""


class GroupDryRun(Protocol):
    """The cluster with some pods removed. When it ends, all of it is as it was before."""

    async def place(self) -> Status:
        """Try to place the whole group. If it succeeds, ``assignments`` says where."""

    @property
    def assignments(self) -> Nominations:
        """Return the node that each placed member got."""

    def is_room_with(self, pods: Sequence[PodInfo]) -> bool:
        """Put removed pods back, and return whether all members still fit where they are.

        If they do not, the pods are removed again.
        """


class GroupTrial(Protocol):
    """An attempt of a pod group that ended without enough nodes for its members."""

    @property
    def group(self) -> SchedulingGroup: ...
    @property
    def pods(self) -> Sequence[Pod]:
        """The members that wait."""

    @property
    def states(self) -> Mapping[str, CycleState]:
        """Return what plugins have put into the cycle of each member that was tried, by uid."""

    def dry_run(self, without: Iterable[PodInfo]) -> AbstractContextManager[GroupDryRun]:
        """Remove these pods from the cluster until the ``with`` block ends."""
