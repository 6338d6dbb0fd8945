"""The dry run of preemption for a single pod in a cluster with pod groups.

A group that is evicted whole is one victim with all its pods, those on other nodes included. Nodes
without pods of groups are tried as always: all at once, as columns.
"""

from __future__ import annotations

import numpy as np

from podium import framework as fwk
from podium.framework.diagnosis import count_reasons
from podium.framework.profile import refusals
from podium.plugins.preemption.candidates import DryRun, RowNumbers
from podium.plugins.preemption.ranked import PRIORITY_OFFSET, CandidateColumns
from podium.plugins.preemption.sparing import DryRunCluster
from podium.plugins.preemption.units import Unit, Units, split_by_budgets


class UnitDryRun(DryRun):
    """Finds candidates for one pod; nodes with pods of groups are tried one by one."""

    def candidates(self, rows: RowNumbers) -> list[CandidateColumns]:
        pods = self._handle.cluster.pods_on
        has_groups = np.fromiter(
            (any(info.pod.group_key for info in pods(row)) for row in rows.tolist()),
            np.bool_, count=len(rows),
        )  # fmt: skip
        found = super().candidates(rows[~has_groups]) if not has_groups.all() else []
        for row in np.flatnonzero(has_groups).tolist():
            tried = self._each(self._by_units, rows[row : row + 1])
            found += [one for one in tried if one is not None]
        return found

    def _by_units(self, rows: RowNumbers) -> CandidateColumns | None:
        """Try one row: remove all units of lower priority, and put back what can stay.

        The dry run changes this row alone; pods of a unit on other nodes only count as victims.
        """
        row, cluster = int(rows[0]), self._handle.cluster
        here = list(cluster.pods_on(row))
        units = Units(cluster, self._now).of(here)
        lower = sorted(
            (unit for unit in units if unit.priority < self._pod.priority),
            key=lambda unit: unit.importance,
        )
        trial = DryRunCluster(self._handle, self._pod, self._state.clone(), cluster.overlay(rows))
        for unit in lower:
            _change(trial, row, _on(unit, row), comes=False)
        statuses = self._filter(trial, rows)
        if refusals(statuses)[0]:
            self.reasons.update(count_reasons(statuses))
            return None
        victims, violations = self._victims(trial, row, lower)
        if not victims:
            name = cluster.names[row]
            self.errors.append(f'expected at least one victim pod on node "{name}"')
            return None
        return self._column(row, sorted(victims, key=lambda unit: unit.importance), violations)

    def _filter(self, trial: DryRunCluster, rows: RowNumbers) -> fwk.Statuses:
        nodes = self._handle.cluster.rows_at(rows, trial.overlay)
        return self._handle.run_filters(trial.state, self._pod, nodes)

    def _victims(self, trial: DryRunCluster, row: int, lower: list[Unit]) -> tuple[list[Unit], int]:
        """Return the units that cannot stay, and how many of their pods violate a budget."""
        violating, harmless = split_by_budgets(lower, self._budgets)
        victims, violations = [], 0
        for unit, count in [*violating, *((unit, 0) for unit in harmless)]:
            _change(trial, row, _on(unit, row), comes=True)
            if refusals(self._filter(trial, np.array([row], np.intp)))[0]:
                _change(trial, row, _on(unit, row), comes=False)
                victims.append(unit)
                violations += count
        return victims, violations

    def _column(self, row: int, victims: list[Unit], violations: int) -> CandidateColumns:
        pods = [info for unit in victims for info in unit.pods]
        highest = victims[0].priority
        weight = sum(unit.priority * len(unit.pods) for unit in victims)
        earliest = min(unit.started for unit in victims if unit.priority == highest)
        ranks = violations, highest, weight + PRIORITY_OFFSET * len(pods), len(pods), -earliest
        return CandidateColumns(
            np.array([row], np.intp),
            self._handle.cluster.placed(pods),
            np.array([len(pods)], np.intp),
            np.array(ranks, np.int64).reshape(5, 1),
        )


def _on(unit: Unit, row: int) -> list[fwk.PodInfo]:
    return [info for info in unit.pods if info.row == row]


def _change(trial: DryRunCluster, row: int, infos: list[fwk.PodInfo], *, comes: bool) -> None:
    """Add pods to a row of the dry run, or remove them; plugins follow."""
    handle, overlay = trial.handle, trial.overlay
    rows = np.full(len(infos), row, np.intp)
    nodes = handle.cluster.rows_at(np.array([row], np.intp), overlay)
    moved = fwk.PodsOnRows(nodes, infos, rows)
    if comes:
        overlay.add(infos, rows)
        handle.add_pods(trial.state, trial.pod, moved)
    else:
        overlay.remove(infos, rows)
        handle.remove_pods(trial.state, trial.pod, moved)
