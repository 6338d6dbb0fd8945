"""What came out of searches, for many nodes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.devices.requests import Shape
from podium.devices.search import Solution

# How a search ended.
TIMED_OUT: Final = -1
FOUND: Final = 0
REFUSED: Final = 1
INVALID_POOLS: Final = 2  # refused, and a pool of the node is invalid
FAILED: Final = 3  # with an error, which ``Allocator.allocate`` raises


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The end of the search on each row that was asked about, and how much it is preferred."""

    endings: NDArray[np.int8]
    scores: NDArray[np.int64]


class KeptOutcomes:
    """The outcomes for claims of one shape, by group of nodes.

    A group that was not searched yet has the ending TIMED_OUT, too: both are searched when they are
    next asked about. ``solutions`` has an entry exactly for the groups that are FOUND.
    """

    __slots__ = ("_generation", "endings", "scores", "shape", "solutions")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.endings = np.empty(0, np.int8)
        self.scores = np.empty(0, np.int64)
        self.solutions: dict[int, Solution] = {}
        self._generation = -1

    def fit_to(self, generation: int, groups: int) -> None:
        """Make room for this many groups; forget everything if they are numbered anew."""
        if generation != self._generation:
            self._generation = generation
            self.endings, self.scores = np.empty(0, np.int8), np.empty(0, np.int64)
            self.solutions.clear()
        if groups > len(self.endings):
            more = max(groups, 2 * len(self.endings), 64) - len(self.endings)
            self.endings = np.concatenate([self.endings, np.full(more, TIMED_OUT, np.int8)])
            self.scores = np.concatenate([self.scores, np.zeros(more, np.int64)])

    def put(
        self, group: int, ending: int, solution: Solution | None = None, score: int = 0
    ) -> None:
        self.endings[group] = ending
        self.scores[group] = score
        if solution is not None:
            self.solutions[group] = solution

    def outcomes(self, groups: NDArray[np.intp]) -> Outcomes:
        return Outcomes(self.endings[groups], self.scores[groups])
