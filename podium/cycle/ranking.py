"""The scored nodes of one attempt, and the choice among equals.

A tie is broken by a hash of (seed, pod uid, attempt, node name): random over pods, the same in
every shell, and independent of row order and of what was kept from earlier pods.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.cycle.scoreboard import Scoreboard
from podium.state.node_table import NodeTable, stable_hash
from podium.state.rows import Rows

_OUT = np.iinfo(np.int64).min
_MIX = np.uint64(0x9E3779B97F4A7C15)


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

    def best(self) -> NDArray[np.intp]:
        """The rows of all nodes with the highest total."""
        places: NDArray[np.intp] = (self.totals == self.totals.max()).nonzero()[0]
        if len(self.totals) == self.nodes.table.size:
            return places
        best: NDArray[np.intp] = self.nodes.index.take(places)
        return best

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
        return sorted(names[row] for row in self.best().tolist())


def break_tie(table: NodeTable, rows: NDArray[np.intp], key: str) -> int:
    """One of the rows, by a hash of the key and each row's name."""
    if len(rows) == 1:
        return int(rows[0])
    mixed = table.name_hash.take(rows)
    mixed ^= np.uint64(stable_hash(key))
    mixed *= _MIX  # brings every bit of the name to the top, where the maximum looks
    return int(rows[mixed.argmax()])
