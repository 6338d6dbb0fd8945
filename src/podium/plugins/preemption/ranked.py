"""Candidates as columns, so that they are compared without a look at single victims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.plugins.preemption.pool import Pool

Ranks = NDArray[np.int64]
"""Five numbers for each candidate, in the order in which they decide; lower is better.

Violated budgets, the highest priority, the sum of priorities, the number of victims, and the
negated start of the first victim: the latest start is best.
"""

PRIORITY_OFFSET = 1 << 31  # makes negative priorities positive, so that fewer victims sum to less


@dataclass(frozen=True, slots=True)
class CandidateColumns:
    """Nodes with their victims; ``rows``, ``ends`` and ``ranks`` have one element per node.

    The victims of a node are adjacent, from most to least important, and ``ends`` is where they
    end.
    """

    rows: NDArray[np.intp]
    victims: fwk.PlacedPods
    ends: NDArray[np.intp]
    ranks: Ranks

    @classmethod
    def of(cls, victims: Pool) -> CandidateColumns:
        """Return the nodes of these victims, of which there is at least one, by row."""
        breaking = victims.is_breaking
        if breaking.any():
            victims = victims.sorted_by_importance()
            breaking = victims.is_breaking
        rows, priorities = victims.rows, victims.priorities
        is_last = np.ones(len(rows), np.bool_)
        np.not_equal(rows[1:], rows[:-1], out=is_last[:-1])
        ends = is_last.nonzero()[0] + 1
        firsts = np.zeros_like(ends)
        firsts[1:] = ends[:-1]
        counts = ends - firsts
        ranks = (
            np.add.reduceat(breaking.astype(np.int64), firsts),
            priorities[firsts],
            np.add.reduceat(priorities, firsts) + PRIORITY_OFFSET * counts,
            counts,
            -victims.starts[firsts],
        )
        return cls(rows[firsts], victims.pods, ends, np.array(ranks, np.int64))

    def victims_of(self, position: int) -> tuple[fwk.PodInfo, ...]:
        first = int(self.ends[position - 1]) if position else 0
        return tuple(self.victims.take(np.arange(first, self.ends[position])).infos())

    def violations_of(self, position: int) -> int:
        return int(self.ranks[0, position])


Part = tuple[CandidateColumns, NDArray[np.intp]]
"""Candidates, and the positions of those among them that are meant."""


class RankedCandidates(Sequence[fwk.Candidate]):
    """The candidates that a search found. A ``Candidate`` is made when it is read."""

    def __init__(self, parts: Sequence[Part], names: Sequence[str]) -> None:
        """``names`` are those of the nodes, by row."""
        self._parts = parts
        self._names = names
        self._rows: list[int] = np.concatenate([part.rows[at] for part, at in parts]).tolist()
        self.ranks: Ranks = np.concatenate([part.ranks[:, at] for part, at in parts], axis=1)

    def nodes(self, indices: Iterable[int]) -> list[str]:
        """Return the names of the nodes of these candidates."""
        names, rows = self._names, self._rows
        return [names[rows[index]] for index in indices]

    @overload
    def __getitem__(self, index: int) -> fwk.Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[fwk.Candidate]: ...
    def __getitem__(self, index: int | slice) -> fwk.Candidate | Sequence[fwk.Candidate]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        part, position = self._find(range(len(self))[index])
        victims, violations = part.victims_of(position), part.violations_of(position)
        return fwk.Candidate(self._names[self._rows[index]], victims, violations)

    def _find(self, index: int) -> tuple[CandidateColumns, int]:
        """Return the part that a candidate belongs to, and its position there."""
        for part, positions in self._parts:
            if index < len(positions):
                return part, int(positions[index])
            index -= len(positions)
        raise IndexError(index)

    def __len__(self) -> int:
        return len(self._rows)


def best(candidates: fwk.Candidates, now: int) -> list[int]:
    """Return the indices of the candidates that tie for the best, in the order of node names."""
    if isinstance(candidates, RankedCandidates):
        tied = _lowest(candidates.ranks).tolist()
        names = candidates.nodes(tied)
    elif candidates:  # an extender has changed them
        tied = _lowest(_ranks_of(candidates, now)).tolist()
        names = [candidates[index].node for index in tied]
    else:
        return []
    return [tied[at] for at in sorted(range(len(tied)), key=names.__getitem__)]


def _lowest(ranks: Ranks) -> NDArray[np.intp]:
    """Return the positions of the columns that are lowest when compared from top to bottom."""
    tied = np.arange(ranks.shape[1])
    for rank in ranks:
        numbers = rank.take(tied)
        tied = tied[numbers == numbers.min()]
    return tied


def _ranks_of(candidates: fwk.Candidates, now: int) -> Ranks:
    ranks = [_ranks(candidate, now) for candidate in candidates]
    return np.array(ranks, np.int64).T


def _ranks(candidate: fwk.Candidate, now: int) -> tuple[int, int, int, int, int]:
    priorities = [info.priority for info in candidate.victims]
    weight = sum(priorities) + PRIORITY_OFFSET * len(priorities)
    earliest = min(
        info.started(now) for info in candidate.victims if info.priority == priorities[0]
    )
    return candidate.violations, priorities[0], weight, len(priorities), -earliest
