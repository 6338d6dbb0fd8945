"""Which nodes would do without some of their pods, and which pods those are.

All nodes are tried at once: the victims of every node are taken away in one overlay, then given
back rank by rank, the most important pod of each node first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod, PodDisruptionBudget, parse_time
from podium.framework.profile import AttemptFailed
from podium.plugins.preemption.budgets import Budgets
from podium.state.resource_columns import PODS

NO_VICTIMS = fwk.Status.unresolvable("No preemption victims found for incoming pod")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node, the pods to evict there from most to least important, and budgets this breaks."""

    node: str
    victims: tuple[fwk.PodInfo, ...]
    violations: int


@dataclass(slots=True)
class _Pool:
    """One node's possible victims, in the order in which they may be spared."""

    row: int
    breaking: list[fwk.PodInfo]
    fine: list[fwk.PodInfo]
    victims: list[fwk.PodInfo]
    violations: int = 0

    @property
    def order(self) -> list[fwk.PodInfo]:
        return self.breaking + self.fine


class DryRun:
    """What if every pod of lower priority left? ``statuses`` says where that is not enough."""

    def __init__(self, handle: fwk.Handle, state: fwk.CycleState, pod: Pod, now: float) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._now = int(now * 1e9)
        self._budgets = Budgets(handle.cluster.objects(PodDisruptionBudget))
        self.statuses: dict[int, fwk.Status] = {}
        self.errors: list[str] = []

    def candidates(self, rows: NDArray[np.intp]) -> list[Candidate]:
        """The candidates among these rows, in their order."""
        cluster = self._handle.cluster
        below = cluster.table.resources.requested_below(self._pod.priority, cluster.pods.values())
        has_victims = below[PODS, rows] > 0
        for row in rows[~has_victims].tolist():
            self.statuses[row] = NO_VICTIMS
        tried = np.sort(rows[has_victims])
        if not len(tried):
            return []
        try:
            found = self._try(tried)
        except AttemptFailed as failure:
            if len(tried) == 1:
                self.errors.append(failure.status.message)
                return []
            # A fault on one node must not hide the others: try them one at a time.
            found = {r: c for row in tried for r, c in self._try_alone(row).items()}
        return [found[row] for row in rows.tolist() if row in found]

    def _try_alone(self, row: int) -> dict[int, Candidate]:
        try:
            return self._try(np.array([row], np.intp))
        except AttemptFailed as failure:
            self.errors.append(failure.status.message)
            return {}

    def _try(self, rows: NDArray[np.intp]) -> dict[int, Candidate]:
        cluster = self._handle.cluster
        overlay = cluster.overlay(rows)
        overlay.remove_below(self._pod.priority, cluster.pods.values())
        world = fwk.Rows(cluster, rows, overlay)
        state = self._state.clone()
        if self._handle.follows_pods(state):
            gone = [(info, row) for row in rows.tolist() for info in self._lower(row)]
            pods = [info for info, _ in gone]
            places = np.array([row for _, row in gone], np.intp)
            self._handle.remove_pods(state, self._pod, fwk.PodsOnRows(world, pods, places))
        statuses = self._handle.run_filters(state, self._pod, world)
        pools = []
        for row, status in zip(rows.tolist(), statuses, strict=True):
            if status.ok:
                pools.append(self._pool(row))
            else:
                self.statuses[row] = status
        self._spare(_World(self._handle, self._pod, state, overlay), pools)
        return {pool.row: c for pool in pools if (c := self._candidate(pool)) is not None}

    def _lower(self, row: int) -> list[fwk.PodInfo]:
        priority = self._pod.priority
        pods = self._handle.cluster.table.pods[row].values()
        return [info for info in pods if info.priority < priority]

    def _pool(self, row: int) -> _Pool:
        lower = sorted(self._lower(row), key=self._importance)
        breaking, fine = self._budgets.split(lower)
        return _Pool(row, breaking, fine, [])

    def _importance(self, info: fwk.PodInfo) -> tuple[int, int]:
        return -info.priority, started(info, self._now)

    def _spare(self, world: _World, pools: list[_Pool]) -> None:
        """Give pods back, rank by rank over all nodes, wherever the pod still fits then."""
        orders = [(pool, pool.order) for pool in pools]
        for rank in range(max((len(order) for _, order in orders), default=0)):
            turn = [(pool, order[rank]) for pool, order in orders if rank < len(order)]
            fits = world.fits_with([(info, pool.row) for pool, info in turn])
            for (pool, info), spared in zip(turn, fits, strict=True):
                if not spared:
                    pool.victims.append(info)
                    pool.violations += rank < len(pool.breaking)

    def _candidate(self, pool: _Pool) -> Candidate | None:
        name = self._handle.cluster.table.names[pool.row]
        if not pool.victims:
            self.errors.append(f'expected at least one victim pod on node "{name}"')
            return None
        if pool.breaking and pool.fine:
            pool.victims.sort(key=self._importance)
        return Candidate(name, tuple(pool.victims), pool.violations)


class _World:
    """The dry run's cluster: one overlay, and a cycle state that follows it."""

    def __init__(
        self, handle: fwk.Handle, pod: Pod, state: fwk.CycleState, overlay: fwk.Overlay
    ) -> None:
        self._handle = handle
        self._pod = pod
        self._state = state
        self._overlay = overlay

    def fits_with(self, pods: list[tuple[fwk.PodInfo, int]]) -> list[bool]:
        """Put each pod back on its row; those with which the incoming pod does not fit go again."""
        infos = [info for info, _ in pods]
        rows = np.array([row for _, row in pods], np.intp)
        nodes = fwk.Rows(self._handle.cluster, rows, self._overlay)
        self._overlay.add(infos, rows)
        self._handle.add_pods(self._state, self._pod, fwk.PodsOnRows(nodes, infos, rows))
        fits = [status.ok for status in self._handle.run_filters(self._state, self._pod, nodes)]
        away = [place for place, ok in enumerate(fits) if not ok]
        if away:
            infos, rows = [infos[place] for place in away], rows[away]
            self._overlay.remove(infos, rows)
            self._handle.remove_pods(self._state, self._pod, fwk.PodsOnRows(nodes, infos, rows))
        return fits


def started(info: fwk.PodInfo, now: int) -> int:
    """When the pod started, in nanoseconds; one that has not yet counts as starting now."""
    text = info.pod.status.start_time
    return parse_time(text) if text else now
