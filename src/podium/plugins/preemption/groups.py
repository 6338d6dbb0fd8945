"""Preemption for pod groups: DefaultPreemption with the feature gate GenericWorkload.

PostFilter          evicts a group whole for a single pod, if the group says so.
PodGroupPostFilter  finds pods of lower priority without which the whole group fits, anywhere in
                    the cluster, keeps as many of them as possible, and evicts the others.
"""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter
from typing import Any, Final

from podium import framework as fwk
from podium.api.objects import Pod, PodDisruptionBudget, PodGroup
from podium.api.pod_groups import NEVER
from podium.errors import PodiumError
from podium.framework.group_trial import GroupDryRun, GroupTrial, Nominations
from podium.framework.plugin import PodGroupPostFilterPlugin
from podium.framework.preemption import Evicting, PostFilterAnswer
from podium.plugins.preemption import DefaultPreemption
from podium.plugins.preemption.evaluator import NEVER as NOT_ELIGIBLE
from podium.plugins.preemption.evaluator import is_preempted
from podium.plugins.preemption.eviction import GroupEvictions, Preemptor
from podium.plugins.preemption.unit_candidates import UnitDryRun
from podium.plugins.preemption.units import Unit, Units, split_by_budgets

HELD: Final = fwk.Status.unresolvable(
    "waiting for the preemption for this pod group to be finished"
)
NO_VICTIMS: Final = "No preemption victims found for incoming preemptor"
ONGOING: Final = "ongoing preemption on nominated nodes"
TARGET: Final = "cluster"  # in messages, where a preemption for a pod names its node


class GroupPreemption(DefaultPreemption, PodGroupPostFilterPlugin):
    """DefaultPreemption that also makes room for groups."""

    watches = (PodDisruptionBudget, PodGroup)
    dry_run = UnitDryRun
    evictions = GroupEvictions

    def __init__(self, args: Any, handle: fwk.Handle) -> None:
        super().__init__(args, handle)
        self._handle = handle
        self._trees = handle.cluster.trees

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        if not pod.group_key:
            return super().pre_enqueue(pod)
        root = self._trees.root_of(pod)
        return HELD if root is not None and self._evictions.holds(root.uid) else fwk.SUCCESS

    def held(self) -> Collection[str]:
        """Return the uids of waiting pods, the members of waiting groups included."""
        found = set(super().held())
        for group in [group for group in self._trees if group.uid in found]:
            for leaf in self._trees.leaves(group):
                found.update(self._handle.cluster.members(leaf.key).unscheduled)
        return found

    def propose(
        self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses
    ) -> fwk.Proposal | tuple[fwk.Nominate | None, fwk.Status]:
        begin = perf_counter()
        found = super().propose(state, pod, statuses)
        status = fwk.SUCCESS if isinstance(found, fwk.Proposal) else found[1]
        seconds = perf_counter() - begin
        self._handle.metrics.preemption_evaluated("pod", status.code.value, seconds)
        return found

    def take(self, pod: Pod, candidate: fwk.Candidate) -> PostFilterAnswer | Evicting:
        units = Units(self._handle.cluster, 0).of(candidate.victims)
        groups, pods = sum(unit.is_group for unit in units), len(candidate.victims)
        self._handle.metrics.workload_victims("pod", pods, groups, candidate.violations)
        return super().take(pod, candidate)

    async def pod_group_post_filter(self, trial: GroupTrial) -> tuple[Nominations, fwk.Status]:
        nominations, status = await self._make_room(trial)
        self._handle.metrics.workload_preemption(status.code.value)
        if not status.message:
            return nominations, status
        text = f"pod group preemption: {status.message}"
        return nominations, fwk.Status(status.code, (text,))

    async def _make_room(self, trial: GroupTrial) -> tuple[Nominations, fwk.Status]:
        if not self.may_preempt(trial):
            return {}, fwk.Status.unschedulable(NOT_ELIGIBLE)
        now = int(self._handle.clock.now() * 1e9)
        units = Units(self._handle.cluster, now)
        if self._is_ongoing(trial, units):
            kept = {pod.uid: fwk.Nominate(pod.nominated_node_name) for pod in trial.pods}
            return kept, fwk.Status(fwk.Code.SUCCESS, (ONGOING,))
        begin = perf_counter()
        nominations, victims, status = await self._choose(trial, units)
        seconds = perf_counter() - begin
        self._handle.metrics.preemption_evaluated("podgroup", status.code.value, seconds)
        if not status.ok:
            return {}, status
        return nominations, await self._evict_units(trial, victims)

    async def victims_for(self, trial: GroupTrial) -> tuple[fwk.PodInfo, ...]:
        """Return the pods that would be evicted for a group; none if that makes no room."""
        if not self.may_preempt(trial):
            return ()
        units = Units(self._handle.cluster, int(self._handle.clock.now() * 1e9))
        _, victims, _ = await self._choose(trial, units)
        return tuple(info for unit in victims for info in unit.pods)

    def may_preempt(self, trial: GroupTrial) -> bool:
        """Whether all members may evict others."""
        return all(pod.spec.preemption_policy != NEVER for pod in trial.pods)

    def _is_ongoing(self, trial: GroupTrial, units: Units) -> bool:
        """Whether a victim of an earlier preemption is still leaving a node of a member."""
        cluster, priority = self._handle.cluster, trial.group.priority
        names = {pod.nominated_node_name for pod in trial.pods} - {""}
        nodes = [node for name in names if (node := cluster.node(name)) is not None]
        return any(
            is_preempted(info.pod) and units.priority_of(info.pod) < priority
            for node in nodes
            for info in node.pods
        )

    async def _choose(
        self, trial: GroupTrial, units: Units
    ) -> tuple[Nominations, list[Unit], fwk.Status]:
        cluster = self._handle.cluster
        placed = [p for p in cluster.pods.values() if cluster.node_object(p.row) is not None]
        lower = [unit for unit in units.of(placed) if unit.priority < trial.group.priority]
        if not lower:
            return {}, [], fwk.Status.unresolvable(NO_VICTIMS)
        with trial.dry_run([info for unit in lower for info in unit.pods]) as run:
            status = await run.place()
            if not status.ok:
                return {}, [], status
            return run.assignments, self._victims(run, lower), fwk.SUCCESS

    def _victims(self, run: GroupDryRun, lower: list[Unit]) -> list[Unit]:
        """Spare as many units as possible, first those whose eviction violates a budget."""
        lower.sort(key=lambda unit: unit.importance)
        budgets = self.budgets(self._handle.cluster.objects(PodDisruptionBudget))
        violating, harmless = split_by_budgets(lower, budgets)
        victims: list[Unit] = []
        violations = 0
        for unit, count in violating:
            if not run.is_room_with(unit.pods):
                victims.append(unit)
                violations += count
        victims += [unit for unit in harmless if not run.is_room_with(unit.pods)]
        self._handle.metrics.workload_victims(
            "podgroup", sum(len(unit.pods) for unit in victims),
            sum(unit.is_group for unit in victims), violations,
        )  # fmt: skip
        return sorted(victims, key=lambda unit: unit.importance)

    async def _evict_units(self, trial: GroupTrial, victims: list[Unit]) -> fwk.Status:
        pods = tuple(info for unit in victims for info in unit.pods)
        preemptor = Preemptor.of_group(trial.group, trial.pods)
        if self.waits_for_evictions:
            try:
                await self._evictions.carry_out_for(preemptor, TARGET, pods)
            except PodiumError as fault:
                return fwk.Status.error(fault)
        else:
            self._evictions.start_for(preemptor, TARGET, pods)
        text = f"found a placement for podgroup, preempting {len(pods)} victims"
        return fwk.Status(fwk.Code.SUCCESS, (text,))


class PolicyGroupPreemption(GroupPreemption):
    """DefaultPreemption with the feature gate PodGroupPreemptionPolicy."""

    def may_preempt(self, trial: GroupTrial) -> bool:
        """Whether the group may evict others."""
        return trial.group.preemption_policy != NEVER
