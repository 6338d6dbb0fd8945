"""Candidates as columns, so that they are compared without a look at single victims."""

from __future__ import annotations

from collections.abc import Sequence
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

_PRIORITY_OFFSET = 1 << 31  # makes negative priorities positive, so that fewer victims sum to less


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
        firsts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        ends = np.append(firsts[1:], len(rows))
        counts = ends - firsts
        ranks = (
            np.add.reduceat(breaking.astype(np.int64), firsts),
            priorities[firsts],
            np.add.reduceat(priorities, firsts) + _PRIORITY_OFFSET * counts,
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
        self._names = names
        self._rows: list[int] = []
        self._found: list[tuple[CandidateColumns, int]] = []
        for part, positions in parts:
            self._rows += part.rows[positions].tolist()
            self._found += [(part, position) for position in positions.tolist()]
        self.ranks: Ranks = np.concatenate([part.ranks[:, at] for part, at in parts], axis=1)

    @property
    def nodes(self) -> list[str]:
        """The name of each candidate's node."""
        return [self._names[row] for row in self._rows]

    @overload
    def __getitem__(self, index: int) -> fwk.Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[fwk.Candidate]: ...
    def __getitem__(self, index: int | slice) -> fwk.Candidate | Sequence[fwk.Candidate]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        part, position = self._found[index]
        victims, violations = part.victims_of(position), part.violations_of(position)
        return fwk.Candidate(self._names[self._rows[index]], victims, violations)

    def __len__(self) -> int:
        return len(self._found)


def best(candidates: fwk.Candidates, now: int) -> list[int]:
    """Return the indices of the candidates that tie for the best, in the order of node names."""
    if isinstance(candidates, RankedCandidates):
        ranks, nodes = candidates.ranks, candidates.nodes
    else:  # an extender has changed them
        ranks, nodes = _ranks_of(candidates, now), [candidate.node for candidate in candidates]
    tied = np.arange(len(candidates))
    for rank in ranks:
        numbers = rank[tied]
        tied = tied[numbers == numbers.min(initial=numbers[0])] if len(tied) else tied
    return sorted(tied.tolist(), key=nodes.__getitem__)


def _ranks_of(candidates: fwk.Candidates, now: int) -> Ranks:
    ranks = [_ranks(candidate, now) for candidate in candidates]
    return np.array(ranks, np.int64).reshape(len(ranks), 5).T


def _ranks(candidate: fwk.Candidate, now: int) -> tuple[int, int, int, int, int]:
    priorities = [info.priority for info in candidate.victims]
    weight = sum(priorities) + _PRIORITY_OFFSET * len(priorities)
    earliest = min(
        info.started(now) for info in candidate.victims if info.priority == priorities[0]
    )
    return candidate.violations, priorities[0], weight, len(priorities), -earliest
