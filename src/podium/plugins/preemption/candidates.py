"""The dry run of preemption: which nodes would fit without some of their pods, and which pods.

All nodes are tried at once. All pods of lower priority are removed in one overlay. Then they are
put back one per node at a time, the most important first, if the incoming pod still fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod, parse_time
from podium.errors import InvalidTime
from podium.framework.answers import AttemptFailed
from podium.framework.profile import refusals
from podium.plugins.preemption.budgets import Budgets

NO_VICTIMS = fwk.Status.unresolvable("No preemption victims found for incoming pod")


@dataclass(frozen=True, slots=True)
class _Pool:
    """The possible victims of many nodes, sorted by node and then by the order of sparing them."""

    infos: list[fwk.PodInfo]
    rows: NDArray[np.intp]
    ranks: NDArray[np.intp]  # a pod's position among those of its node
    is_breaking: NDArray[np.bool_]

    def take(self, positions: NDArray[np.intp]) -> tuple[list[fwk.PodInfo], NDArray[np.intp]]:
        return [self.infos[position] for position in positions.tolist()], self.rows[positions]


class DryRun:
    """Finds candidates. ``statuses`` has, by row, why a node is not a candidate."""

    def __init__(
        self, handle: fwk.Handle, state: fwk.CycleState, pod: Pod, budgets: Budgets
    ) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._now = int(handle.clock.now() * 1e9)
        self._budgets = budgets
        self.statuses: dict[int, fwk.Status] = {}
        self.errors: list[str] = []

    def candidates(self, rows: NDArray[np.intp]) -> list[fwk.Candidate]:
        """Return the candidates among these rows, in the order of the rows."""
        cluster = self._handle.cluster
        has_victims = cluster.counts_below(self._pod.priority)[rows] > 0
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
            # An error on one node must not affect the others: try them one at a time.
            found = {r: c for row in tried for r, c in self._try_one(row).items()}
        return [found[row] for row in rows.tolist() if row in found]

    def _try_one(self, row: int) -> dict[int, fwk.Candidate]:
        try:
            return self._try(np.array([row], np.intp))
        except AttemptFailed as failure:
            self.errors.append(failure.status.message)
            return {}

    def _try(self, rows: NDArray[np.intp]) -> dict[int, fwk.Candidate]:
        cluster = self._handle.cluster
        overlay = cluster.overlay(rows)
        overlay.remove_below(self._pod.priority, cluster.pods.values())
        trial = cluster.rows_at(rows, overlay)
        state = self._state.clone()
        if self._handle.follows_pods(state):
            by_row = self._lower_priority_pods(rows)
            pods = [info for pods in by_row for info in pods]
            rows_of_pods = np.repeat(rows, [len(pods) for pods in by_row])
            self._handle.remove_pods(state, self._pod, fwk.PodsOnRows(trial, pods, rows_of_pods))
        statuses = self._handle.run_filters(state, self._pod, trial)
        fits = ~refusals(statuses)
        for position in np.flatnonzero(~fits).tolist():
            status = statuses.values[int(statuses.index[position])]
            self.statuses[int(rows[position])] = status
        if not fits.any():
            return {}
        pool = self._pool(rows[fits])
        spared = self._spare(_DryRunCluster(self._handle, self._pod, state, overlay), pool)
        return self._candidates(rows[fits], pool, spared)

    def _lower_priority_pods(self, rows: NDArray[np.intp]) -> list[list[fwk.PodInfo]]:
        """Return the pods of lower priority on each of these rows."""
        priority, pods_on = self._pod.priority, self._handle.cluster.pods_on
        return [
            [info for info in pods_on(row) if info.priority < priority] for row in rows.tolist()
        ]

    def _pool(self, rows: NDArray[np.intp]) -> _Pool:
        """Return all pods of lower priority on these rows.

        On each row, pods that would violate a budget come first, then the most important ones.
        """
        by_row = self._lower_priority_pods(rows)
        infos = [info for pods in by_row for info in pods]
        pod_rows = np.repeat(rows, [len(pods) for pods in by_row])
        now = self._now
        starts = np.array(
            [started(info, now) if info.pod.status.start_time else now for info in infos]
        )
        negated_priorities = np.array([-info.priority for info in infos])
        breaking = self._breaking(by_row)
        order = np.lexsort((starts, negated_priorities, ~breaking, pod_rows))
        pod_rows = pod_rows[order]
        firsts = np.searchsorted(pod_rows, pod_rows)
        return _Pool(
            [infos[position] for position in order.tolist()],
            pod_rows,
            np.arange(len(infos)) - firsts,
            breaking[order],
        )

    def _breaking(self, by_row: list[list[fwk.PodInfo]]) -> NDArray[np.bool_]:
        """Return a mask of the pods that would violate a budget if evicted by importance."""
        if not self._budgets:
            return np.zeros(sum(map(len, by_row)), np.bool_)
        uids = {
            info.uid
            for pods in by_row
            for info in self._budgets.split(sorted(pods, key=self._importance))[0]
        }
        return np.array([info.uid in uids for pods in by_row for info in pods], np.bool_)

    def _importance(self, info: fwk.PodInfo) -> tuple[int, int]:
        return -info.priority, started(info, self._now)

    def _spare(self, trial: _DryRunCluster, pool: _Pool) -> NDArray[np.bool_]:
        """Put pods back, one per node at a time; return those with which the pod still fits."""
        spared = np.zeros(len(pool.infos), np.bool_)
        amounts = trial.overlay.amounts_of(pool.infos)
        for rank in range(int(pool.ranks.max()) + 1):
            turn = np.flatnonzero(pool.ranks == rank)
            spared[turn] = trial.fits_with(*pool.take(turn), amounts[:, turn])
        return spared

    def _candidates(
        self, rows: NDArray[np.intp], pool: _Pool, spared: NDArray[np.bool_]
    ) -> dict[int, fwk.Candidate]:
        victims: dict[int, list[fwk.PodInfo]] = {row: [] for row in rows.tolist()}
        lost = np.flatnonzero(~spared)
        for position, row in zip(lost.tolist(), pool.rows[lost].tolist(), strict=True):
            victims[row].append(pool.infos[position])
        broken = np.bincount(pool.rows[lost], pool.is_breaking[lost], int(rows[-1]) + 1)
        names = self._handle.cluster.names
        found = {}
        for row, pods in victims.items():
            name = names[row]
            if not pods:
                self.errors.append(f'expected at least one victim pod on node "{name}"')
                continue
            violations = int(broken[row])
            if violations:
                pods.sort(key=self._importance)
            found[row] = fwk.Candidate(name, tuple(pods), violations)
        return found


class _DryRunCluster:
    """The cluster of the dry run. Its overlay and cycle state always have the same pods."""

    def __init__(
        self, handle: fwk.Handle, pod: Pod, state: fwk.CycleState, overlay: fwk.Overlay
    ) -> None:
        self._handle = handle
        self._pod = pod
        self._state = state
        self.overlay = overlay

    def fits_with(
        self, infos: list[fwk.PodInfo], rows: NDArray[np.intp], amounts: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Put each pod back on its row; remove it again if the incoming pod does not fit then."""
        nodes = self._handle.cluster.rows_at(rows, self.overlay)
        self.overlay.add(infos, rows, amounts)
        self._handle.add_pods(self._state, self._pod, fwk.PodsOnRows(nodes, infos, rows))
        fits = ~refusals(self._handle.run_filters(self._state, self._pod, nodes))
        away = np.flatnonzero(~fits)
        if len(away):
            infos, rows = [infos[position] for position in away.tolist()], rows[away]
            self.overlay.remove(infos, rows, amounts[:, away])
            self._handle.remove_pods(self._state, self._pod, fwk.PodsOnRows(nodes, infos, rows))
        return fits


def started(info: fwk.PodInfo, now: int) -> int:
    """Return when the pod started, in nanoseconds; ``now`` if it has not started."""
    text = info.pod.status.start_time
    try:
        return parse_time(text) if text else now
    except InvalidTime:  # such a pod cannot be deleted: count it as the oldest, to be spared first
        return 0
