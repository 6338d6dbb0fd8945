"""The dry run of preemption: which nodes would fit without some of their pods, and which pods.

All nodes are tried at once. All pods of lower priority are removed. Then they are put back one per
node at a time, the most important first, if the incoming pod still fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.answers import AttemptFailed
from podium.framework.diagnosis import count_reasons
from podium.framework.profile import refusals
from podium.plugins.preemption.budgets import Budgets
from podium.plugins.preemption.pool import Pool
from podium.plugins.preemption.ranked import CandidateColumns
from podium.plugins.preemption.sparing import (
    DryRunCluster,
    spared_by_filters,
    spared_by_resources,
)

NO_VICTIMS = "No preemption victims found for incoming pod"

T = TypeVar("T")
RowNumbers = NDArray[np.intp]


class DryRun:
    """Finds candidates for one pod.

    Nodes that lack resources or victims are found by columns and not tried. Why filters refuse
    these nodes matters only if there are no candidates: until ``explain``, their rows are in
    ``_unexplained``. ``reasons`` counts the other nodes that are not candidates. ``errors`` has a
    message for each node on which a plugin failed.
    """

    def __init__(
        self, handle: fwk.Handle, state: fwk.CycleState, pod: Pod, budgets: Budgets
    ) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._budgets = budgets
        self._now = int(handle.clock.now() * 1e9)
        self._room = handle.room_for(state, pod)
        self._unexplained: list[RowNumbers] = []
        self.reasons: Counter[str] = Counter()
        self.errors: list[str] = []

    def promising(self, rows: RowNumbers) -> RowNumbers:
        """Return the rows that may be candidates, in the same order."""
        is_promising = self._room.is_enough(rows) & self._have_victims(rows)
        self._unexplained.append(rows[~is_promising])
        return rows[is_promising]

    def candidates(self, rows: RowNumbers) -> list[CandidateColumns]:
        """Return the candidates among promising rows, which must be in ascending order."""
        attempt = self._by_resources if self._room.decides else self._by_filters
        return [found for found in self._each(attempt, rows) if found is not None]

    def explain(self) -> None:
        """Complete ``reasons``, after all nodes were tried and none of them is a candidate."""
        rows = np.sort(np.concatenate(self._unexplained))
        have_victims = self._have_victims(rows)
        if not have_victims.all():
            self.reasons[NO_VICTIMS] += len(rows) - int(np.count_nonzero(have_victims))
        self._each(self._filtered, rows[have_victims])

    def _have_victims(self, rows: RowNumbers) -> NDArray[np.bool_]:
        return has_victims(self._handle.cluster, self._pod, rows)

    def _each(self, attempt: Callable[[RowNumbers], T], rows: RowNumbers) -> list[T]:
        """Make an attempt with all of these rows; if it fails, with one after the other.

        An error on one node must not affect the others.
        """
        if not len(rows):
            return []
        try:
            return [attempt(rows)]
        except AttemptFailed as failure:
            if len(rows) == 1:
                self.errors.append(failure.status.message)
                return []
        return [
            found for at in range(len(rows)) for found in self._each(attempt, rows[at : at + 1])
        ]

    # An attempt changes ``reasons``, ``errors`` and ``_unexplained`` only once it cannot fail.

    def _by_resources(self, rows: RowNumbers) -> CandidateColumns | None:
        """Find candidates where only resources can change what filters answer."""
        passed = self._room.accepts(rows)
        if not passed.all():
            self._unexplained.append(rows[~passed])
            rows = rows[passed]
        pool = self._pool(rows)
        return self._candidates(rows, pool, spared_by_resources(self._room, pool))

    def _by_filters(self, rows: RowNumbers) -> CandidateColumns | None:
        """Find candidates by asking all filters again and again."""
        trial, statuses = self._without_lower(rows)
        rows = rows[~refusals(statuses)]
        pool = self._pool(rows)
        spared = spared_by_filters(trial, pool)
        self.reasons.update(count_reasons(statuses))
        return self._candidates(rows, pool, spared)

    def _filtered(self, rows: RowNumbers) -> None:
        """Count why these rows are refused without pods of lower priority."""
        self.reasons.update(count_reasons(self._without_lower(rows)[1]))

    def _pool(self, rows: RowNumbers) -> Pool:
        lower = self._handle.cluster.pods_below(self._pod.priority, rows)
        return Pool.of(lower, self._budgets, self._now)

    def _without_lower(self, rows: RowNumbers) -> tuple[DryRunCluster, fwk.Statuses]:
        """Remove all pods of lower priority from these rows, and judge the rows then."""
        overlay = self._handle.cluster.overlay(rows)
        overlay.remove_below(self._pod.priority)
        nodes = self._handle.cluster.rows_at(rows, overlay)
        state = self._state.clone()
        if self._handle.follows_pods(state):
            lower = self._handle.cluster.pods_below(self._pod.priority, rows)
            lower = lower.take(np.argsort(lower.rows, kind="stable"))
            removed = fwk.PodsOnRows(nodes, lower.infos(), lower.rows)
            self._handle.remove_pods(state, self._pod, removed)
        statuses = self._handle.run_filters(state, self._pod, nodes)
        return DryRunCluster(self._handle, self._pod, state, overlay), statuses

    def _candidates(
        self, rows: RowNumbers, pool: Pool, spared: NDArray[np.bool_]
    ) -> CandidateColumns | None:
        """Return the nodes with victims.

        A node without victims is an error: filters refused it, yet the pod fits without evictions.
        """
        lost = np.flatnonzero(~spared)
        found = CandidateColumns.of(pool.take(lost)) if len(lost) else None
        names = self._handle.cluster.names
        if found is None or len(found.rows) < len(rows):
            with_victims = set(found.rows.tolist()) if found is not None else set()
            self.errors += [
                f'expected at least one victim pod on node "{names[row]}"'
                for row in rows.tolist()
                if row not in with_victims
            ]
        return found


def has_victims(cluster: fwk.ClusterView, pod: Pod, rows: RowNumbers) -> NDArray[np.bool_]:
    """Return which of these rows have pods of a lower priority."""
    found: NDArray[np.bool_] = cluster.counts_below(pod.priority)[rows] > 0
    return found
