"""Dry runs for a pod group: would it fit without these pods, and which of them can stay?

Like the trial of a group's members, a dry run changes the state itself and undoes it in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from podium.api.objects import Pod
from podium.api.pod_groups import SchedulingGroup
from podium.cycle.group_cycle import GroupCycle
from podium.cycle.group_result import GroupResult, Proposal
from podium.framework.answers import AttemptFailed
from podium.framework.binding import Target, run_reserve, run_unreserve
from podium.framework.cycle_state import CycleState
from podium.framework.nominated import filter_with_nominated
from podium.framework.profile import refusals
from podium.framework.status import Nominate, Status
from podium.state.grouped_cluster import GroupedClusterState
from podium.state.pod_info import PodInfo
from podium.state.rows import Rows


@dataclass(frozen=True, slots=True)
class GroupTrial:
    """The attempt of a group that failed. Implements ``framework.group_trial.GroupTrial``."""

    cycle: GroupCycle
    result: GroupResult

    @property
    def group(self) -> SchedulingGroup:
        return self.cycle.group

    @property
    def pods(self) -> Sequence[Pod]:
        return [member.pod for member in self.cycle.members]

    @property
    def states(self) -> Mapping[str, CycleState]:
        members = (one for each in self.result.tree for one in each.members)
        return {one.queued.uid: one.state for one in members if one.state is not None}

    @contextmanager
    def dry_run(self, without: Iterable[PodInfo]) -> Iterator[GroupDryRun]:
        cluster = self.cycle.services.cluster
        assert isinstance(cluster, GroupedClusterState), "GenericWorkload needs a grouped state"
        run = GroupDryRun(self.cycle, cluster)
        try:
            run.remove(without)
            yield run
        finally:
            run.end()


class GroupDryRun:
    """The state without some pods. ``_aside`` has them with their rows, by uid."""

    def __init__(self, cycle: GroupCycle, cluster: GroupedClusterState) -> None:
        self._cycle = cycle
        self._cluster = cluster
        self._aside: dict[str, tuple[PodInfo, int]] = {}
        self._proposals: list[Proposal] = []
        self._is_local = True  # whether only pods on a node can change what filters say about it

    def remove(self, pods: Iterable[PodInfo]) -> None:
        for info in pods:
            self._aside[info.uid] = info, self._cluster.set_aside(info)

    def _put_back(self, pods: Iterable[PodInfo]) -> list[int]:
        rows = []
        for each in pods:
            info, row = self._aside.pop(each.uid)
            self._cluster.put_back(info, row)
            rows.append(row)
        return rows

    def end(self) -> None:
        self._put_back([info for info, _ in self._aside.values()])

    async def place(self) -> Status:
        result = await self._cycle.run()
        self._proposals = result.placed
        self._is_local = all(map(self._is_local_to_its_node, self._proposals))
        return result.status

    def _is_local_to_its_node(self, proposal: Proposal) -> bool:
        info = proposal.cycle.queued.info
        has_shared = bool(info.volumes or info.pod.spec.resource_claims)
        return not has_shared and not self._cycle.profile.follows_pods(proposal.state)

    @property
    def assignments(self) -> dict[str, Nominate]:
        return {each.cycle.pod.uid: Nominate(each.node_name) for each in self._proposals}

    def is_room_with(self, pods: Sequence[PodInfo]) -> bool:
        rows = set(self._put_back(pods))
        # Members on other nodes fit as before, if nothing beyond a node concerns them.
        concerned = [each for each in self._proposals if not self._is_local or each.row in rows]
        fits = self._all_fit(concerned)
        if not fits:
            self.remove(pods)
        return fits

    def _all_fit(self, proposals: Sequence[Proposal]) -> bool:
        """Whether each member fits on its node, with those before it on theirs."""
        placed: list[Target] = []
        try:
            for proposal in proposals:
                state = self._state_of(proposal)
                if state is None or not self._fits(proposal, state):
                    return False
                pod = proposal.cycle.pod
                target = Target(self._cycle.profile, state, pod, proposal.node_name)
                self._cluster.assume(proposal.cycle.queued.info, proposal.row)
                placed.append(target)
                run_reserve(target)
            return True
        finally:
            for target in reversed(placed):
                run_unreserve(target)
                self._cluster.forget(target.pod.uid)

    def _state_of(self, proposal: Proposal) -> CycleState | None:
        """Return the state to filter with; ``None`` if PreFilter rejects the pod.

        What follows pods beyond their node is asked again: its state is from before.
        """
        if self._is_local:
            return proposal.state.fork()
        state, pod = CycleState(), proposal.cycle.pod
        try:
            pre = self._cycle.profile.run_pre_filters(state, pod, self._cluster.rows())
        except AttemptFailed:
            return None
        return state if pre.status.ok else None

    def _fits(self, proposal: Proposal, state: CycleState) -> bool:
        pod, nominator = proposal.cycle.pod, self._cycle.services.nominator
        alone = Rows(self._cluster, np.array([proposal.row], np.intp))
        nominated = nominator.ahead_of(pod, self._cluster.table)
        try:
            statuses = filter_with_nominated(self._cycle.profile, state, pod, alone, nominated)
        except AttemptFailed:
            return False
        return not refusals(statuses)[0]
