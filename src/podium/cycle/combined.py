"""The verdicts about one pod where some filters have no signature: kept answers and new ones.

A row belongs to the first filter in the profile's order that refuses it, whether that filter's
answer is kept or new: decisions, counts and messages are those of asking every filter in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.verdicts import NO_ROWS, FeasibleVersion, RowNumbers, TrackedRows, Verdicts
from podium.framework.cycle_state import CycleState
from podium.framework.diagnosis import UNKNOWN, NodeStatuses, Rejections
from podium.framework.plugin import Statuses
from podium.framework.profile import Profile, refusals
from podium.framework.status import Status
from podium.state.column import Column
from podium.state.rows import Rows


class _Answer(NamedTuple):
    """What one filter without a signature said about these rows, some of which it refused."""

    rows: RowNumbers
    statuses: Statuses
    refused: NDArray[np.bool_]


class CombinedVerdicts:
    """The kept verdicts, and what the filters without a signature say about the present pod.

    Invariants, after ``refresh``:

    * ``_answers`` holds, filter by filter, the new answers that refuse a row. A row is refused by
      at most one of them, and by no filter with a signature that comes before.
    * ``_is_refused`` marks these rows; it is ``None`` when there are none.
    * ``feasible`` are the candidates that are feasible in ``kept`` and not refused here; its
      version stays the same while consecutive pods have the same set.
    """

    def __init__(self, profile: Profile, kept: Verdicts, unsigned: frozenset[str]) -> None:
        self.filters = [
            (index, each) for index, each in enumerate(profile.filters) if each.name in unsigned
        ]
        signed = [i for i, each in enumerate(profile.filters) if each.name not in unsigned]
        self._last_signed = max(signed, default=-1)
        self._profile = profile
        self._kept = kept
        self._tracked = TrackedRows()
        self._candidates = NO_ROWS
        self._answers: list[_Answer] = []
        self._is_refused: NDArray[np.bool_] | None = None

    @property
    def feasible(self) -> RowNumbers:
        return self._tracked.rows

    @property
    def version(self) -> FeasibleVersion:
        return self._tracked.version

    def refresh(self, state: CycleState, pod: Pod, candidates: RowNumbers) -> None:
        """Ask each filter about the candidates that no filter before it refuses."""
        self._candidates, self._answers, self._is_refused = candidates, [], None
        for filter_index, plugin in self.filters:
            if plugin.name in state.skip_filter:
                continue
            rows = self._reaching(filter_index)
            if not len(rows):
                continue
            nodes = Rows(self._kept.cluster, rows)
            statuses = self._profile.filter_all(plugin, state, pod, nodes)
            refused = refusals(statuses)
            if refused.any():
                self._take_in(_Answer(rows, statuses, refused))
        self._tracked.update(self._standing(self._kept.feasible))

    def _take_in(self, answer: _Answer) -> None:
        self._answers.append(answer)
        size = len(self._kept.first)
        if len(answer.rows) == size:  # nothing was refused before
            self._is_refused = answer.refused.copy()  # later filters add to it
            return
        if self._is_refused is None:
            self._is_refused = np.zeros(size, np.bool_)
        self._is_refused[answer.rows] = answer.refused

    def _reaching(self, filter_index: int) -> RowNumbers:
        kept = self._kept
        if filter_index > self._last_signed:
            return self._standing(kept.feasible)
        if kept.none_refused:
            return self._standing(kept.candidates)
        return self._standing(np.flatnonzero(kept.first > filter_index))

    def _standing(self, rows: RowNumbers) -> RowNumbers:
        """Keep the rows that are candidates and not refused here so far."""
        if self._is_narrowed:
            rows = np.intersect1d(rows, self._candidates, assume_unique=True)
        refused = self._is_refused
        if refused is None:
            return rows
        return np.flatnonzero(~refused) if len(rows) == len(refused) else rows[~refused[rows]]

    @property
    def _is_narrowed(self) -> bool:
        """Whether PreFilters without a signature leave fewer candidates than are kept."""
        return self._candidates is not self._kept.candidates

    def node_statuses(self, absent: Status) -> NodeStatuses:
        kept = self._kept
        by_row = kept.status_index.astype(np.intp)
        values = list(kept.statuses)
        for rows, statuses, refused in self._answers:
            by_row[rows[refused]] = statuses.index[refused] + len(values)
            values += statuses.values
        nodes = Rows(kept.cluster, self._candidates)
        return NodeStatuses(nodes, Column(values, by_row[self._candidates]), absent)

    def rejections(self) -> Rejections:
        kept = self._kept
        if self._is_narrowed:
            return self.node_statuses(absent=UNKNOWN).by_plugin()
        if self._is_refused is None:
            return kept.rejections()
        rejections = Rejections()
        if not kept.none_refused:
            counts = kept.counts().copy()
            for rows, _, refused in self._answers:  # a later kept filter may refuse some as well
                index = kept.status_index[rows[refused]]
                counts -= np.bincount(index, minlength=len(counts))
            rejections = kept.rejections_among(counts)
        for _, statuses, refused in self._answers:
            for status, size in zip(statuses.values, _sizes(statuses, refused), strict=True):
                rejections.count(status, size)
        return rejections


def _sizes(statuses: Statuses, refused: NDArray[np.bool_]) -> list[int]:
    """Return how many nodes have each status."""
    if len(statuses.values) == 2 and statuses.values[0].ok and not statuses.values[1].ok:
        count = int(np.count_nonzero(refused))  # five times as fast as what follows
        return [len(refused) - count, count]
    sizes: list[int] = np.bincount(statuses.index, minlength=len(statuses.values)).tolist()
    return sizes
