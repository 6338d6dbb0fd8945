"""The possible victims of a dry run as columns, in the order in which they are spared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.plugins.preemption.budgets import Budgets


@dataclass(frozen=True, slots=True)
class Pool:
    """Pods sorted by row and then by the order of sparing them.

    On each row those whose eviction would violate a budget come first; in both groups the most
    important ones do. All columns have one element per pod.
    """

    pods: fwk.PlacedPods
    rows: NDArray[np.intp]
    priorities: NDArray[np.int64]
    starts: NDArray[np.int64]
    is_breaking: NDArray[np.bool_]

    @classmethod
    def of(cls, pods: fwk.PlacedPods, budgets: Budgets, now: int) -> Pool:
        """Sort these pods."""
        rows, priorities, starts = pods.rows, pods.priorities, pods.starts(now)
        nothing = np.zeros(len(pods), np.bool_)
        pool = cls(pods, rows, priorities, starts, nothing).sorted_by_importance()
        if not budgets:
            return pool
        breaking = budgets.violated_by(pool.pods.infos(), pool.rows)
        pool = cls(pool.pods, pool.rows, pool.priorities, pool.starts, breaking)
        # The sort is stable: pods of both groups stay in the order of importance.
        return pool.take(np.lexsort((~breaking, pool.rows))) if breaking.any() else pool

    def sorted_by_importance(self) -> Pool:
        """Return the same pods, the most important ones of each row first."""
        return self.take(np.lexsort((self.starts, -self.priorities, self.rows)))

    def take(self, positions: NDArray[np.intp]) -> Pool:
        """Return the pods at these positions, in this order."""
        return Pool(
            self.pods.take(positions),
            self.rows.take(positions),
            self.priorities.take(positions),
            self.starts.take(positions),
            self.is_breaking.take(positions),
        )

    def turns(self) -> list[NDArray[np.intp]]:
        """Return the positions of the first pod of each row, then of the second, and so on."""
        if not len(self.rows):
            return []
        ranks = np.arange(len(self.rows)) - self.rows.searchsorted(self.rows)
        by_rank = ranks.argsort(kind="stable")
        ends = np.bincount(ranks).cumsum().tolist()
        return [by_rank[start:end] for start, end in zip([0, *ends], ends, strict=False)]
