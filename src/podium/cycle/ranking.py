"""The scored nodes of one attempt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.cycle.scoreboard import Scoreboard
from podium.cycle.tied import Tied
from podium.state.rows import Rows, table_of


class Ranking:
    """Feasible nodes with their totals: those of the scoreboard unless others are given."""

    __slots__ = ("_given", "_totals", "nodes", "scoreboard")

    def __init__(
        self,
        nodes: Rows,
        scoreboard: Scoreboard | None = None,
        totals: NDArray[np.int64] | None = None,
    ) -> None:
        self.nodes = nodes
        self.scoreboard = scoreboard
        self._given = self._totals = totals

    @property
    def names(self) -> list[str]:
        return self.nodes.names

    @property
    def own_totals(self) -> NDArray[np.int64] | None:
        """The totals if they were given: with what extenders add, they are not the scoreboard's."""
        return self._given

    @property
    def totals(self) -> NDArray[np.int64]:
        """The total of each node; all equal without Score plugins."""
        if self._totals is None:
            board = self.scoreboard
            ones = np.ones(len(self.nodes), np.int64)
            self._totals = ones if board is None else self.nodes.take(board.total)
        return self._totals

    @property
    def by_plugin(self) -> dict[str, NDArray[np.int8]]:
        """Normalized scores, before the weight, of the plugins that took part."""
        if self.scoreboard is None:
            return {}
        index = self.nodes.index
        return {name: share.normalized[index] for name, share in self.scoreboard.shares.items()}

    def is_best(self) -> NDArray[np.bool_]:
        """Return which nodes have the highest total."""
        is_best: NDArray[np.bool_] = self.totals == self.totals.max()
        return is_best

    def best(self) -> Tied:
        return Tied.of(self.nodes, self.is_best())

    def best_names(self) -> list[str]:
        names = table_of(self.nodes).names
        return sorted(names[row] for row in self.best().rows.tolist())
