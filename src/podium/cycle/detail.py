"""What an attempt knew about every node, kept with its record: who refused it, or its scores.

It answers "why not node X" as of the attempt, however much the cluster has changed since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.cycle.found import Found
from podium.cycle.ranking import Ranking
from podium.cycle.share import copy_unless_read_only
from podium.cycle.verdicts import NO_ROWS, RowNumbers
from podium.framework.diagnosis import UNKNOWN, NodeStatuses
from podium.framework.extender import EXTENDER
from podium.framework.status import SUCCESS, Status
from podium.state.rows import table_of

_SMALL: Final = 256  # as many statuses can be numbered by one byte
_NO_INDEX: Final[NDArray[np.uint8]] = np.zeros(0, np.uint8)


class ScoredNode(NamedTuple):
    """A node with its total, and every plugin's normalized score before the weight.

    ``raw`` has the scores before they were normalized, of the plugins that do so.
    """

    name: str
    total: int
    scores: dict[str, int]
    raw: Mapping[str, int] = MappingProxyType({})


class NodeVerdict(NamedTuple):
    """What an attempt said about one node.

    ``status`` is a success if all filters let the pod pass. A node that fits is not among the
    feasible ones when the attempt did not look for others, as with a nominated node. ``scored`` is
    there if feasible nodes were compared. ``rank`` counts from 1; equal totals share a rank.
    """

    status: Status
    is_feasible: bool = False
    scored: ScoredNode | None = None
    rank: int = 0


class _Share(NamedTuple):
    """One plugin's scores by row; ``raw`` is there if the plugin normalizes them."""

    name: str
    weight: int
    normalized: NDArray[np.int8]
    raw: NDArray[np.int64] | None

    @property
    def nbytes(self) -> int:
        """Return the memory of its arrays, except those of one repeated value."""
        arrays = (self.normalized, self.raw)
        return sum(each.nbytes for each in arrays if each is not None and each.strides[0])


class Detail:
    """The verdicts and scores of one attempt by row.

    Arrays that nobody writes to are shared with the attempt, the others are copied. Totals are
    worked out when they are read: to keep them would cost as much as everything else.
    """

    __slots__ = ("_absent", "_feasible", "_index", "_names", "_rows", "_shares", "_statuses",
                 "_totals")  # fmt: skip

    def __init__(self, names: Sequence[str], found: Found, ranking: Ranking | None) -> None:
        """``names`` are those of all rows; without a ranking the nodes were not compared."""
        self._names = names
        self._feasible = found.feasible.index
        self._rows, self._index, self._statuses = NO_ROWS, _NO_INDEX, [SUCCESS]
        self._absent = UNKNOWN
        if len(self._feasible) < len(table_of(found.feasible).live_rows()):
            self._keep_statuses(found.statuses)
        self._shares: list[_Share] = []
        self._totals: NDArray[np.int64] | None = None
        if ranking is not None and ranking.scoreboard is not None:
            self._totals = ranking.own_totals
            self._shares = [
                _Share(
                    name,
                    share.weight,
                    copy_unless_read_only(share.normalized),
                    copy_unless_read_only(share.raw) if share.normalizes else None,
                )
                for name, share in ranking.scoreboard.shares.items()
            ]

    def _keep_statuses(self, known: NodeStatuses) -> None:
        self._rows, self._absent = known.nodes.index, known.absent
        self._statuses = known.statuses.values  # it only grows, so the index stays right
        kind = np.uint8 if len(self._statuses) <= _SMALL else np.int32
        self._index = known.statuses.index.astype(kind)

    @property
    def nbytes(self) -> int:
        """Return the memory that this detail has for itself, roughly."""
        own = sum(share.nbytes for share in self._shares)
        return own + self._index.nbytes + (0 if self._totals is None else self._totals.nbytes)

    # --- reading ---------------------------------------------------------------------------------

    def of_node(self, name: str) -> NodeVerdict | None:
        """Return what the attempt said about this node; ``None`` if it did not exist then."""
        try:
            row = self._names.index(name)
        except ValueError:
            return None
        position = self._position(row)
        if position is None:
            return NodeVerdict(self._status(row))
        if not self._shares:
            return NodeVerdict(SUCCESS, True)
        totals = self.totals()
        rank = 1 + int(np.count_nonzero(totals > totals[position]))
        return NodeVerdict(SUCCESS, True, self._scored(position, totals), rank)

    def best(self, chosen: str, most: int) -> tuple[ScoredNode, ...]:
        """Return the chosen node and the next best ones; none if nodes were not compared."""
        if not self._shares:
            return ()
        totals = self.totals()
        first = self._position(self._names.index(chosen))
        if first is None:
            return ()
        order = np.argsort(-totals, kind="stable")[:most].tolist()
        others = [position for position in order if position != first]
        return tuple(self._scored(each, totals) for each in [first, *others][:most])

    def totals(self) -> NDArray[np.int64]:
        """Return the total of each feasible node."""
        if self._totals is not None:
            return self._totals
        totals = np.zeros(len(self._feasible), np.int64)
        for share in self._shares:
            totals += share.weight * share.normalized[self._feasible].astype(np.int64)
        return totals

    def _position(self, row: int) -> int | None:
        """Return the place of a row among the feasible ones."""
        return _place(self._feasible, row)

    def _status(self, row: int) -> Status:
        place = _place(self._rows, row)
        return self._absent if place is None else self._statuses[int(self._index[place])]

    def _scored(self, position: int, totals: NDArray[np.int64]) -> ScoredNode:
        row = int(self._feasible[position])
        scores = {share.name: int(share.normalized[row]) for share in self._shares}
        total = int(totals[position])
        if self._totals is not None:
            weighted = sum(share.weight * scores[share.name] for share in self._shares)
            scores[EXTENDER] = total - weighted
        raw = {each.name: int(each.raw[row]) for each in self._shares if each.raw is not None}
        return ScoredNode(self._names[row], total, scores, raw)


def _place(rows: RowNumbers, row: int) -> int | None:
    """Return where a row is among these; they are in no order where nodes were sampled."""
    found = np.flatnonzero(rows == row)
    return int(found[0]) if len(found) else None
