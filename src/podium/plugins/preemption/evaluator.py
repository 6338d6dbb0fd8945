"""The preemption evaluator: finds candidates and ranks them. It writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod, PodDisruptionBudget
from podium.framework.status import CLEAR
from podium.plugins.preemption.budgets import Budgets
from podium.plugins.preemption.candidates import DryRun, started

_Rank = TypeVar("_Rank", tuple[int, int, int, int], int)

NOT_HELPFUL = fwk.Status.unresolvable("Preemption is not helpful for scheduling")
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
_PRIORITY_OFFSET = 1 << 31  # makes negative priorities positive, so that fewer victims sum to less
_LEAST_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The candidates, or a ``status`` with the reason why there are none."""

    status: fwk.Status
    candidates: tuple[fwk.Candidate, ...] = ()
    nominate: fwk.Nominate | None = None


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Finds candidates. ``percentage`` and ``absolute`` say how many are enough."""

    handle: fwk.Handle
    percentage: int = 10
    absolute: int = 100
    budgets: type[Budgets] = Budgets

    def evaluate(self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses) -> Evaluation:
        """Find candidates for this pod, given the status of every node."""
        reason = self._ineligible(pod, statuses)
        if reason:
            return Evaluation(fwk.Status.unschedulable(reason))
        search = self._search(state, pod, statuses)
        if not search.candidates:
            return self._without_candidates(search)
        return Evaluation(fwk.SUCCESS, tuple(search.candidates))

    def best(self, candidates: fwk.Candidates) -> list[fwk.Candidate]:
        """Return the best candidate and all that tie with it, sorted by node name."""
        now = int(self.handle.clock.now() * 1e9)
        least_harm = _lowest(candidates, _harm)
        tied = _lowest(least_harm, lambda candidate: -_earliest(candidate, now))
        return sorted(tied, key=attrgetter("node"))

    def _ineligible(self, pod: Pod, statuses: fwk.NodeStatuses) -> str:
        """Return why the pod may not preempt now; empty if it may."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        if not pod.nominated_node_name:
            return ""
        node = self.handle.cluster.node(pod.nominated_node_name)
        if node is None or statuses.of(node).code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        leaving = any(
            info.priority < pod.priority and _is_preempted(info.pod) for info in node.pods
        )
        return TERMINATING if leaving else ""

    def _search(self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses) -> _Search:
        rows = statuses.rows_with(fwk.Code.UNSCHEDULABLE)
        enough = min(len(rows), max(len(rows) * self.percentage // 100, self.absolute))
        budgets = self.budgets(self.handle.cluster.objects(PodDisruptionBudget))
        search = _Search(DryRun(self.handle, state, pod, budgets), enough)
        rows = _rotated(rows, pod)
        while len(rows) and not search.is_over:
            size = max(search.missing, _LEAST_CHUNK)
            search.take(search.dry_run.candidates(rows[:size]))
            rows = rows[size:]
        return search

    def _without_candidates(self, search: _Search) -> Evaluation:
        if search.dry_run.errors:
            return Evaluation(fwk.Status.error("; ".join(search.dry_run.errors)))
        tried = search.dry_run.statuses
        rows = np.array(sorted(tried), np.intp)
        nodes = self.handle.cluster.rows_at(rows)
        explicit = fwk.Column.of(tried[row] for row in rows.tolist())
        total = self.handle.cluster.node_count
        reasons = fwk.NodeStatuses(nodes, explicit, NOT_HELPFUL).reasons(total)
        status = fwk.Status.unschedulable(fwk.fit_message(total, reasons))
        return Evaluation(status, nominate=CLEAR)


@dataclass(slots=True)
class _Search:
    """The candidates found so far.

    The search is over when there are enough, and at least one of them violates no budget.
    """

    dry_run: DryRun
    enough: int
    harmless: list[fwk.Candidate] = field(default_factory=list)
    breaking: list[fwk.Candidate] = field(default_factory=list)

    def take(self, candidates: list[fwk.Candidate]) -> None:
        for candidate in candidates:
            if self.is_over:
                return
            found = self.breaking if candidate.violations else self.harmless
            if len(found) < self.enough:
                found.append(candidate)

    @property
    def is_over(self) -> bool:
        return bool(self.harmless) and len(self.harmless) + len(self.breaking) >= self.enough

    @property
    def missing(self) -> int:
        return self.enough - len(self.harmless) - len(self.breaking)

    @property
    def candidates(self) -> list[fwk.Candidate]:
        return self.harmless + self.breaking


def _lowest(
    candidates: fwk.Candidates, rank: Callable[[fwk.Candidate], _Rank]
) -> list[fwk.Candidate]:
    ranks = [rank(candidate) for candidate in candidates]
    lowest = min(ranks, default=None)
    return [each for each, rank in zip(candidates, ranks, strict=True) if rank == lowest]


def _harm(candidate: fwk.Candidate) -> tuple[int, int, int, int]:
    """Return a rank (lower is better): violated budgets, highest priority, sum, victims."""
    priorities = [info.priority for info in candidate.victims]
    weight = sum(priorities) + _PRIORITY_OFFSET * len(priorities)
    return candidate.violations, priorities[0], weight, len(priorities)


def _earliest(candidate: fwk.Candidate, now: int) -> int:
    """Return the earliest start among the victims of highest priority; later is better."""
    victims = candidate.victims
    highest = victims[0].priority
    return min([started(info, now) for info in victims if info.priority == highest])


def _rotated(rows: NDArray[np.intp], pod: Pod) -> NDArray[np.intp]:
    """Rotate by a hash of the pod, so that pods do not all preempt on the first nodes."""
    return np.roll(rows, -(fwk.stable_hash(pod.uid) % len(rows))) if len(rows) else rows


def _is_preempted(pod: Pod) -> bool:
    """Return whether the pod is terminating because of an earlier preemption."""
    if not pod.is_terminating:
        return False
    targets = [c for c in pod.status.conditions if c.type == "DisruptionTarget"]
    return bool(targets) and targets[0].status == "True" and targets[0].reason == REASON


REASON = "PreemptionByScheduler"
