"""The scored nodes of one attempt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.cycle.scoreboard import Places, Scoreboard
from podium.cycle.tied import Tied
from podium.state.rows import Rows

_OUT = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Ranking:
    """Feasible nodes with their totals."""

    nodes: Rows
    totals: NDArray[np.int64]
    scoreboard: Scoreboard | None = None

    @property
    def names(self) -> list[str]:
        return self.nodes.names

    @property
    def by_plugin(self) -> dict[str, NDArray[np.int8]]:
        """Normalized scores, before the weight, of the plugins that took part."""
        if self.scoreboard is None:
            return {}
        index = self.nodes.index
        return {name: share.normalized[index] for name, share in self.scoreboard.shares.items()}

    def best(self) -> Tied:
        """All nodes with the highest total."""
        places: Places = (self.totals == self.totals.max()).nonzero()[0]
        return Tied.of(self.nodes.table, self.nodes.index.take(places))

    def runners_up(self, most: int) -> list[int]:
        """The rows that come next after the best."""
        is_best = self.totals == self.totals.max()
        totals = np.where(is_best, _OUT, self.totals)
        found = []
        for _ in range(min(most, int(np.count_nonzero(~is_best)))):
            place = int(totals.argmax())
            totals[place] = _OUT
            found.append(self.nodes.index.item(place))
        return found

    def best_names(self) -> list[str]:
        names = self.nodes.table.names
        return sorted(names[row] for row in self.best().rows.tolist())
