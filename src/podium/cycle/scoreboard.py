"""The scores of a profile for one class of pods, kept up to date row by row.

``total`` is at any time the weighted sum of what the plugins that take part have scored; entries of
rows that are not feasible hold whatever was there, and are not read.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.feasible_version import UNTRACKED, FeasibleVersion
from podium.cycle.tied import Tied
from podium.framework.answers import check_range
from podium.framework.cycle_state import CycleState
from podium.framework.dependencies import Dependencies
from podium.framework.plugin import ScorePlugin, Scores
from podium.framework.profile import Profile
from podium.framework.reading import Reading
from podium.framework.status import Status
from podium.state.aspects import Changes
from podium.state.changes import Reader
from podium.state.cluster import ClusterState
from podium.state.rows import NodeInfo, Rows

RowNumbers = NDArray[np.intp]

_FEW: Final = 8  # up to this many changed rows are scored one by one
_NONE: Final[RowNumbers] = np.zeros(0, np.intp)


class Share:
    """What one plugin adds to the total."""

    __slots__ = (
        "is_new",
        "known",
        "normalized",
        "normalizes",
        "plugin",
        "raw",
        "reads",
        "score_of",
        "watches",
        "weight",
    )

    def __init__(self, plugin: ScorePlugin, weight: int, reads: Dependencies, size: int) -> None:
        self.plugin = plugin
        self.weight = weight
        self.reads = reads
        self.watches = reads.node | reads.for_scores
        self.normalizes = _normalizes(plugin)
        self.is_new = True  # all zero, so there is nothing to take back
        self.normalized: NDArray[np.int8] = np.zeros(size, np.int8)  # 0 to 100
        self.score_of = self.normalized.item  # by row
        self.raw: NDArray[np.int64] = np.empty(size if self.normalizes else 0, np.int64)
        self.known: NDArray[np.bool_] = np.zeros(size, np.bool_)  # rows whose raw score stands


class Scoreboard:
    """Scores by plugin and row, and their total."""

    def __init__(self, profile: Profile, cluster: ClusterState, reading: Reading) -> None:
        self.profile = profile
        self.cluster = cluster
        self.reading = reading
        self.total: NDArray[np.int64] = np.zeros(0, np.int64)
        self.shares: dict[str, Share] = {}
        self._answers: dict[str, Status] = {}
        self._reader = Reader(cluster)
        self._state: CycleState | None = None  # where the PreScores have put what they found
        self._version = UNTRACKED
        self._tied: Tied | None = None  # the feasible rows with the highest total, while known
        self._top = 0

    def refresh(self, state: CycleState, pod: Pod, nodes: Rows, version: FeasibleVersion) -> None:
        """Score these nodes, the feasible ones."""
        changes = self._reader.catch_up()
        if changes.fresh or len(self.total) != self.cluster.table.size or state is not self._state:
            changes = self._start_over()
            self._state = state
        outdated = _Outdated(changes, self._version, version)
        self._version = version
        if outdated.moved or self.reading.pre_scores & changes.aspects:
            self._pre_score(state, pod, nodes, outdated)
            self._take_part(state)
        if outdated.moved:
            self._tied = None
        near: list[Share] = []
        for share in self.shares.values():
            if outdated.stands(share):
                continue
            if outdated.is_near(share):
                near.append(share)
            else:
                self._score(state, pod, nodes, share, outdated)
        for row, aspects in changes.rows.items():
            if row < len(self.total):
                outdated_here = [share for share in near if share.reads.node & aspects]
                self._touch_up(state, pod, nodes, outdated_here, row)
                self._untie(row)

    def best(self, nodes: Rows) -> Tied:
        """Those with the highest total among the nodes that were scored last."""
        if not self._tied:
            totals = nodes.take(self.total)
            self._top = int(totals.max())
            self._tied = Tied.of(nodes, totals == self._top)
        return self._tied

    def scores_of(self, row: int) -> dict[str, int]:
        """Every plugin's normalized score, before the weight."""
        return {name: share.score_of(row) for name, share in self.shares.items()}

    def _untie(self, row: int) -> None:
        """A changed row may have left the best, or stand above them now."""
        if self._tied is None:
            return
        if self.total.item(row) < self._top:
            self._tied.discard(row)
        else:
            self._tied = None

    def _start_over(self) -> Changes:
        self.total = np.zeros(self.cluster.table.size, np.int64)
        self.shares, self._answers = {}, {}
        return Changes(fresh=True)

    def _touch_up(
        self, state: CycleState, pod: Pod, nodes: Rows, shares: list[Share], row: int
    ) -> None:
        """Score one changed row, if it is feasible, for plugins that look at no other."""
        feasible = nodes.index
        position = row if len(feasible) == len(self.total) else int(feasible.searchsorted(row))
        is_feasible = position < len(feasible) and feasible.item(position) == row
        node = NodeInfo(self.cluster, row)
        for share in shares:
            share.known[row] = is_feasible
            if is_feasible:
                score = self.profile.score_one(share.plugin, state, pod, node)
                self.total[row] += share.weight * (score - share.score_of(row))
                share.normalized[row] = score

    # --- PreScore --------------------------------------------------------------------------------

    def _pre_score(self, state: CycleState, pod: Pod, nodes: Rows, outdated: _Outdated) -> None:
        """Run the PreScores whose answers are outdated."""
        changes = outdated.changes
        for plugin in self.profile.pre_scores:
            reads = self.reading.by_name[plugin.name]
            if (
                changes.fresh
                or reads.for_scores & changes.aspects
                or (outdated.moved and reads.feasible)
            ):
                self._answers[plugin.name] = self.profile.pre_score(plugin, state, pod, nodes)
                outdated.again.add(plugin.name)
        if outdated.again:
            state.skip_score = frozenset(n for n, a in self._answers.items() if a.is_skip)

    def _take_part(self, state: CycleState) -> None:
        """Make room for plugins that score from now on, and take out those that skip."""
        for plugin in self.profile.scores:
            name = plugin.name
            if name in state.skip_score:
                share = self.shares.pop(name, None)
                if share is not None:
                    self._tied = None
                    self.total -= share.weight * share.normalized.astype(np.int64)
            elif name not in self.shares:
                weight, size = self.profile.weights[name], len(self.total)
                self.shares[name] = Share(plugin, weight, self.reading.by_name[name], size)

    # --- Score, NormalizeScore -------------------------------------------------------------------

    def _score(
        self, state: CycleState, pod: Pod, nodes: Rows, share: Share, outdated: _Outdated
    ) -> None:
        rows = self._unknown_rows(nodes, share, outdated)
        if len(rows):
            some = nodes if len(rows) == len(nodes) else Rows(self.cluster, rows)
            scores = self.profile.score_all(share.plugin, state, pod, some)
            where = self._where(rows)
            share.known[where] = True
            if not share.normalizes:
                check_range(share.plugin, scores)
                self._count(share, rows, scores)
            else:
                share.raw[where] = scores
        if share.normalizes and (len(rows) or outdated.moved):
            raw = nodes.take(share.raw)
            scores = self.profile.normalize(share.plugin, state, pod, raw, nodes)
            self._count(share, nodes.index, scores)

    def _unknown_rows(self, nodes: Rows, share: Share, outdated: _Outdated) -> RowNumbers:
        """The feasible rows whose score must be asked for."""
        reads, changes, known = share.reads, outdated.changes, share.known
        if changes.fresh:
            return nodes.index
        if share.plugin.name in outdated.again or reads.for_scores & changes.aspects:
            known[:] = False
            return nodes.index
        if not outdated.grown and not reads.node & changes.aspects:
            return _NONE
        # Ascending, as every view of nodes: scores of all nodes are put where these rows say.
        dirty = sorted(r for r, a in changes.rows.items() if a & reads.node and r < len(known))
        if dirty:
            known[dirty] = False
        here = nodes.take(known)
        if here.all():
            return _NONE
        unknown: RowNumbers = nodes.index[~here]
        return unknown

    def _count(self, share: Share, rows: RowNumbers, scores: Scores) -> None:
        """Put these scores into the total, in the place of the old ones."""
        where = self._where(rows)
        if share.is_new:
            self._tied = None
            share.is_new = False
            self._add(rows, scores if share.weight == 1 else share.weight * scores)
            share.normalized[where] = scores
            return
        more = scores - share.normalized[where]
        if np.count_nonzero(more):
            self._tied = None
            self._add(rows, share.weight * more)
            share.normalized[where] = scores

    def _add(self, rows: RowNumbers, more: NDArray[np.int64]) -> None:
        if len(rows) == len(self.total):
            self.total += more  # a sum into a slice is written twice
        else:
            self.total[rows] += more

    def _where(self, rows: RowNumbers) -> RowNumbers | slice:
        """Whole columns are written in place."""
        return slice(None) if len(rows) == len(self.total) else rows


class _Outdated:
    """Why scores may have to be asked for again; ``again`` are the PreScores that were.

    The feasible rows have ``moved`` when some came or went, and ``grown`` when some came.
    """

    __slots__ = ("again", "aspects", "changes", "few", "grown", "moved")

    def __init__(self, changes: Changes, old: FeasibleVersion, new: FeasibleVersion) -> None:
        unknown = changes.fresh or new.number < 0
        self.changes = changes
        self.aspects = changes.aspects
        self.moved = unknown or new.number != old.number
        self.grown = unknown or new.grown_at > old.number
        self.few = not self.grown and len(changes.rows) <= _FEW
        self.again: set[str] = set()

    def stands(self, share: Share) -> bool:
        """Whether nothing that the plugin looks at has changed."""
        return not (
            self.moved
            or share.watches & self.aspects
            or share.is_new
            or (self.again and share.plugin.name in self.again)
        )

    def is_near(self, share: Share) -> bool:
        """Whether at most the changed rows must be scored, and each on its own."""
        return (
            self.few
            and not share.normalizes
            and not share.reads.for_scores & self.aspects
            and share.plugin.name not in self.again
        )


def _normalizes(plugin: ScorePlugin) -> bool:
    return type(plugin).normalize_score is not ScorePlugin.normalize_score
