"""A dry run of reclaiming borrowed resources: which pods would have to leave which nodes.

All nodes are tried at once, each in a world of its own. The pods that may be evicted leave. Then
they are put back one per node at a time, the most important first, as long as the pod still fits on
the node and into the quotas.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.diagnosis import count_reasons
from podium.framework.profile import refusals
from podium.plugins.preemption.budgets import Budgets
from podium.plugins.preemption.pool import Pool
from podium.plugins.preemption.ranked import CandidateColumns, RankedCandidates
from podium.scheduler_plugins.capacity_scheduling.quotas import (
    NOTHING,
    Amounts,
    Quota,
    add,
    request_of,
    summed,
)

TOO_MUCH = "global quota max exceeded"
ANY_PRIORITY = 1 << 31  # above all priorities

Mask = NDArray[np.bool_]
RowNumbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Demand:
    """The requests of a pod: alone, with nominated pods of its quota, and with all of them."""

    request: Amounts
    in_quota: Amounts
    in_all: Amounts


class World:
    """The use of namespaces in a dry run; it changes as pods leave and come back."""

    def __init__(self, used: dict[str, dict[str, int]]) -> None:
        self._used = used
        self._changed: dict[str, dict[str, int]] = {}

    def used(self, namespace: str) -> Amounts:
        return self._changed.get(namespace, self._used.get(namespace, NOTHING))

    def move(self, pod: Pod, sign: int) -> None:
        """Take a pod off its namespace (-1), or put it back (1)."""
        if pod.namespace not in self._changed:
            self._changed[pod.namespace] = dict(self._used.get(pod.namespace, NOTHING))
        add(self._changed[pod.namespace], request_of(pod), sign)


class Shares:
    """The pods that a given pod may evict, by the quotas."""

    def __init__(
        self, pod: Pod, quotas: dict[str, Quota], used: dict[str, dict[str, int]], demand: Demand
    ) -> None:
        self.pod = pod
        self.demand = demand
        self._quotas = quotas
        self._used = used
        self._own = quotas.get(pod.namespace)
        self._promised = Quota(summed(each.min for each in quotas.values()), None)
        # With more than it was promised, a quota can only make room within itself.
        self._stays_inside = self._own is not None and self._own.is_over_min(
            used.get(pod.namespace, NOTHING), demand.in_quota
        )

    def world(self) -> World:
        return World(self._used)

    def may_evict(self, info: fwk.PodInfo, world: World) -> bool:
        """Return whether the pod may be evicted for ours, while others have left already."""
        namespace = info.pod.namespace
        quota = self._quotas.get(namespace)
        if self._own is None:
            return quota is None and info.priority < self.pod.priority
        if quota is None:
            return False
        if self._stays_inside:
            return namespace == self.pod.namespace and info.priority < self.pod.priority
        return namespace != self.pod.namespace and quota.is_over_min(world.used(namespace))

    def is_leaving_for_us(self, info: fwk.PodInfo) -> bool:
        """Return whether the room of a pod that is being deleted can be ours."""
        if self._own is None or info.pod.namespace != self.pod.namespace:
            return self.may_evict(info, self.world())
        return info.priority < self.pod.priority

    def is_too_much(self, world: World, in_quota: Amounts, in_all: Amounts) -> bool:
        """Return whether our quota, or all of them together, would be used up."""
        if self._own is None:
            return False
        if self._own.is_over_max(world.used(self.pod.namespace), in_quota):
            return True
        everything = summed((in_all, *map(world.used, self._quotas)))
        return self._promised.is_over_min(everything)


@dataclass(slots=True)
class DryRun:
    """Finds candidates for one pod. ``reasons`` counts the nodes that are none, by reason."""

    handle: fwk.Handle
    state: fwk.CycleState
    shares: Shares
    budgets: Budgets
    reasons: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    _worlds: dict[int, World] = field(default_factory=dict)  # by row

    def candidates(self, rows: RowNumbers) -> fwk.Candidates:
        """Return the candidates among these rows, which must be in ascending order."""
        if not len(rows):
            return ()
        pool = self._who_may_leave(rows)
        names = self.handle.cluster.names
        there = np.isin(rows, pool.rows)
        for row in rows[~there].tolist():
            pod = self.shares.pod.name
            self.reasons[f"No victims found on node {names[row]} for preemptor pod {pod}"] += 1
        rows = rows[there]
        found = self._tried(rows, pool) if len(rows) else None
        if found is None:
            return ()
        return RankedCandidates([(found, np.arange(len(found.rows)))], names)

    def _who_may_leave(self, rows: RowNumbers) -> Pool:
        """Return the pods that leave, from each row the least important first, until it is enough.

        What a quota has borrowed limits how many of its pods leave.
        """
        now = int(self.handle.clock.now() * 1e9)
        there = self.handle.cluster.pods_below(ANY_PRIORITY, rows)
        there = there.take(np.lexsort((there.starts(now), -there.priorities, there.rows)))
        leaves = np.zeros(len(there), np.bool_)
        infos, at = there.infos(), there.rows.tolist()
        for position in reversed(range(len(infos))):
            world = self._worlds.setdefault(at[position], self.shares.world())
            if self.shares.may_evict(infos[position], world):
                leaves[position] = True
                world.move(infos[position].pod, -1)
        return Pool.of(there.take(np.flatnonzero(leaves)), self.budgets, now)

    def _tried(self, rows: RowNumbers, pool: Pool) -> CandidateColumns | None:
        """Return the rows on which the pod fits without some of these pods."""
        trial = _Trial(self.handle, self.shares.pod, self.state, rows, pool)
        statuses = trial.judge(rows)
        self.reasons.update(count_reasons(statuses))
        demand = self.shares.demand
        fits = ~refusals(statuses)
        for position in np.flatnonzero(fits).tolist():
            world = self._worlds[int(rows[position])]
            if self.shares.is_too_much(world, demand.request, demand.request):
                fits[position] = False
                self.reasons[TOO_MUCH] += 1
        left = pool.take(np.flatnonzero(np.isin(pool.rows, rows[fits])))
        gone = np.flatnonzero(~self._spared(trial, left))
        self._expect_victims(rows[fits], left.rows[gone])
        return CandidateColumns.of(left.take(gone)) if len(gone) else None

    def _spared(self, trial: _Trial, pool: Pool) -> Mask:
        """Return a mask of the pods that can stay."""
        stays = np.zeros(len(pool.rows), np.bool_)
        infos = pool.pods.infos()
        for turn in pool.turns():
            back = [infos[position] for position in turn.tolist()]
            stays[turn] = self._put_back(trial, back, pool.rows[turn])
        return stays

    def _put_back(self, trial: _Trial, infos: list[fwk.PodInfo], rows: RowNumbers) -> Mask:
        """Put each pod back on its row; remove it again if it cannot stay."""
        trial.add(infos, rows)
        stays = ~refusals(trial.judge(rows))
        demand = self.shares.demand
        for position, info in enumerate(infos):
            world = self._worlds[int(rows[position])]
            world.move(info.pod, 1)
            if self.shares.is_too_much(world, demand.in_quota, demand.in_all):
                stays[position] = False
            if not stays[position]:
                world.move(info.pod, -1)
        away = np.flatnonzero(~stays)
        trial.remove([infos[position] for position in away.tolist()], rows[away])
        return stays

    def _expect_victims(self, rows: RowNumbers, with_victims: RowNumbers) -> None:
        for row in np.setdiff1d(rows, with_victims).tolist():
            name = self.handle.cluster.names[row]
            self.errors.append(f'expected at least one victim pod on node "{name}"')


class _Trial:
    """A cluster in which pods are moved; its overlay and cycle state always have the same pods."""

    def __init__(
        self, handle: fwk.Handle, pod: Pod, state: fwk.CycleState, rows: RowNumbers, leave: Pool
    ) -> None:
        self._handle = handle
        self._pod = pod
        self._state = state.clone()
        self._overlay = handle.cluster.overlay(rows)
        self.remove(leave.pods.infos(), leave.rows)

    def judge(self, rows: RowNumbers) -> fwk.Statuses:
        nodes = self._handle.cluster.rows_at(rows, self._overlay)
        return self._handle.run_filters(self._state, self._pod, nodes)

    def add(self, infos: list[fwk.PodInfo], rows: RowNumbers) -> None:
        self._overlay.add(infos, rows)
        self._handle.add_pods(self._state, self._pod, self._on(infos, rows))

    def remove(self, infos: list[fwk.PodInfo], rows: RowNumbers) -> None:
        if infos:
            self._overlay.remove(infos, rows)
            self._handle.remove_pods(self._state, self._pod, self._on(infos, rows))

    def _on(self, infos: list[fwk.PodInfo], rows: RowNumbers) -> fwk.PodsOnRows:
        nodes = self._handle.cluster.rows_at(np.unique(rows), self._overlay)
        return fwk.PodsOnRows(nodes, infos, rows)
