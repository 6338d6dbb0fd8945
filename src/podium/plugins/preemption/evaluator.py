"""The preemption evaluator: finds candidates and ranks them. It writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod, PodDisruptionBudget
from podium.framework.status import CLEAR
from podium.plugins.preemption import ranked
from podium.plugins.preemption.budgets import Budgets
from podium.plugins.preemption.candidates import NO_VICTIMS, DryRun, has_victims
from podium.plugins.preemption.ranked import CandidateColumns, Part, RankedCandidates

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
REASON = "PreemptionByScheduler"  # of the condition of a victim
_LEAST_CHUNK = 64
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The candidates, or a ``status`` with the reason why there are none."""

    status: fwk.Status
    candidates: fwk.Candidates = ()
    nominate: fwk.Nominate | None = None


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Finds candidates. ``percentage`` and ``absolute`` say how many are enough."""

    handle: fwk.Handle
    percentage: int = 10
    absolute: int = 100
    budgets: type[Budgets] = Budgets
    dry_run: type[DryRun] = DryRun

    def evaluate(self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses) -> Evaluation:
        """Find candidates for this pod, given the status of every node."""
        reason = self._ineligible(pod, statuses)
        if reason:
            return Evaluation(fwk.Status.unschedulable(reason))
        rows = statuses.rows_with(fwk.Code.UNSCHEDULABLE)
        if not len(rows):
            return self._no_candidates({}, 0)
        if not has_victims(self.handle.cluster, pod, rows).any():
            return self._no_candidates({NO_VICTIMS: len(rows)}, len(rows))
        search = self._search(state, pod, rows)
        if search.count:
            return Evaluation(fwk.SUCCESS, search.candidates(self.handle.cluster.names))
        search.dry_run.explain()
        if search.dry_run.errors:
            return Evaluation(fwk.Status.error("; ".join(search.dry_run.errors)))
        return self._no_candidates(search.dry_run.reasons, len(rows))

    def best(self, candidates: fwk.Candidates) -> list[fwk.Candidate]:
        """Return the best candidate and all that tie with it, sorted by node name."""
        return [candidates[index] for index in self._tied(candidates)]

    def choose(self, pod: Pod, candidates: fwk.Candidates) -> fwk.Candidate | None:
        """Return one of the best candidates, by a hash of the pod's uid."""
        tied = self._tied(candidates)
        return candidates[tied[fwk.stable_hash(pod.uid) % len(tied)]] if tied else None

    def _tied(self, candidates: fwk.Candidates) -> list[int]:
        return ranked.best(candidates, int(self.handle.clock.now() * 1e9))

    def _ineligible(self, pod: Pod, statuses: fwk.NodeStatuses) -> str:
        """Return why the pod may not preempt now; empty if it may."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        if not pod.nominated_node_name:
            return ""
        node = self.handle.cluster.node(pod.nominated_node_name)
        if node is None or statuses.of(node).code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        leaving = any(info.priority < pod.priority and is_preempted(info.pod) for info in node.pods)
        return TERMINATING if leaving else ""

    def _search(self, state: fwk.CycleState, pod: Pod, rows: NDArray[np.intp]) -> _Search:
        enough = min(len(rows), max(len(rows) * self.percentage // 100, self.absolute))
        budgets = self.budgets(self.handle.cluster.objects(PodDisruptionBudget))
        search = _Search(self.dry_run(self.handle, state, pod, budgets), enough)
        rows = search.dry_run.promising(_rotated(rows, pod))
        factor = 1
        while len(rows) and not search.is_over:
            size, before = factor * max(search.missing, _LEAST_CHUNK), search.count
            search.try_next(rows[:size])
            rows = rows[size:]
            if search.count == before:  # probably the others are not candidates either
                factor *= _GROWTH
        return search

    def _no_candidates(self, reasons: Mapping[str, int], tried: int) -> Evaluation:
        """Return the message for these reasons of the nodes that were tried."""
        total = self.handle.cluster.node_count
        counts = {NOT_HELPFUL: total - tried, **reasons} if tried < total else reasons
        status = fwk.Status.unschedulable(fwk.fit_message(total, counts))
        return Evaluation(status, nominate=CLEAR)


@dataclass(slots=True)
class _Search:
    """The candidates found so far: those that violate no budget, and the others.

    The search is over when there are enough, and at least one of them violates no budget.
    """

    dry_run: DryRun
    enough: int
    harmless: list[Part] = field(default_factory=list)
    breaking: list[Part] = field(default_factory=list)
    harmless_count: int = 0
    breaking_count: int = 0

    def try_next(self, rows: NDArray[np.intp]) -> None:
        """Try these nodes, and take the candidates among them in this order."""
        turn_of = np.argsort(rows, kind="stable")
        ascending = rows[turn_of]
        found = [
            (turn_of[np.searchsorted(ascending, part.rows)], part)
            for part in self.dry_run.candidates(ascending)
        ]
        found.sort(key=lambda pair: int(pair[0].min()))
        for turns, part in found:
            if not self.is_over:
                self._take(part, np.argsort(turns, kind="stable"))

    def _take(self, part: CandidateColumns, order: NDArray[np.intp]) -> None:
        """Take the candidates of a part, up to the one with which the search is over."""
        is_breaking = part.ranks[0, order] > 0
        breaking = self.breaking_count + np.cumsum(is_breaking)
        harmless = self.harmless_count + np.cumsum(~is_breaking)
        count = np.minimum(breaking, self.enough) + np.minimum(harmless, self.enough)
        is_over = (harmless > 0) & (count >= self.enough)
        end = int(is_over.argmax()) + 1 if is_over.any() else len(order)
        order, is_breaking = order[:end], is_breaking[:end]
        self.harmless.append((part, order[~is_breaking & (harmless[:end] <= self.enough)]))
        self.breaking.append((part, order[is_breaking & (breaking[:end] <= self.enough)]))
        self.harmless_count += len(self.harmless[-1][1])
        self.breaking_count += len(self.breaking[-1][1])

    @property
    def count(self) -> int:
        return self.harmless_count + self.breaking_count

    @property
    def is_over(self) -> bool:
        return self.harmless_count > 0 and self.count >= self.enough

    @property
    def missing(self) -> int:
        return self.enough - self.count

    def candidates(self, names: Sequence[str]) -> RankedCandidates:
        return RankedCandidates([*self.harmless, *self.breaking], names)


def _rotated(rows: NDArray[np.intp], pod: Pod) -> NDArray[np.intp]:
    """Rotate by a hash of the pod, so that pods do not all preempt on the first nodes."""
    start = fwk.stable_hash(pod.uid) % len(rows)
    return np.concatenate((rows[start:], rows[:start]))


def is_preempted(pod: Pod) -> bool:
    """Return whether the pod is terminating because of an earlier preemption."""
    if not pod.is_terminating:
        return False
    targets = [c for c in pod.status.conditions if c.type == "DisruptionTarget"]
    return bool(targets) and targets[0].status == "True" and targets[0].reason == REASON
