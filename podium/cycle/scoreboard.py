"""A profile's scores for one kind of pod, kept up to date row by row.

``total`` is at any time the weighted sum of ``normalized`` over the plugins that take part; places
of rows that are not feasible hold whatever was there, and are not read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.changes import Changes, Reader
from podium.framework.cycle_state import CycleState
from podium.framework.plugin import ScorePlugin, Scores
from podium.framework.profile import Profile, check_range
from podium.framework.reads import Reads
from podium.framework.status import Status
from podium.state.cluster import ClusterState
from podium.state.rows import Rows

Places = NDArray[np.intp]


class Scoreboard:
    """Scores by plugin and row, and their total."""

    def __init__(self, profile: Profile, cluster: ClusterState, reads: dict[str, Reads]) -> None:
        self.profile = profile
        self.cluster = cluster
        self.reads = reads
        self.total: NDArray[np.int64] = np.zeros(0, np.int64)
        self.normalized: dict[str, NDArray[np.int64]] = {}
        self._raw: dict[str, NDArray[np.int64]] = {}
        self._known: dict[str, NDArray[np.bool_]] = {}
        self._answers: dict[str, Status] = {}
        self._reader = Reader(cluster)
        self._state: CycleState | None = None  # where the PreScores have put what they found
        self._version = -1

    @property
    def nbytes(self) -> int:
        return self.total.nbytes * (1 + 2 * len(self._raw))

    def refresh(self, state: CycleState, pod: Pod, feasible: Places, version: int) -> None:
        """Score these rows; ``version`` is the same as long as they are, negative when unknown."""
        changes = self._reader.catch_up()
        if changes.fresh or len(self.total) != self.cluster.table.size or state is not self._state:
            changes = self._start_over()
            self._state = state
        moved = changes.fresh or version < 0 or version != self._version
        self._version = version
        nodes = Rows(self.cluster, feasible)
        again = self._pre_score(state, pod, nodes, changes, moved)
        self._take_part(state)
        for plugin in self.profile.scores:
            if plugin.name in self.normalized:
                self._score(state, pod, nodes, plugin, _Outdated(changes, moved, again))

    def _start_over(self) -> Changes:
        size = self.cluster.table.size
        self.total = np.zeros(size, np.int64)
        self.normalized, self._raw, self._known, self._answers = {}, {}, {}, {}
        return Changes(fresh=True)

    # --- PreScore --------------------------------------------------------------------------------

    def _pre_score(
        self, state: CycleState, pod: Pod, nodes: Rows, changes: Changes, moved: bool
    ) -> frozenset[str]:
        """Run the PreScores whose answers are outdated; their names."""
        again = [
            plugin
            for plugin in self.profile.pre_scores
            if changes.fresh
            or self.reads[plugin.name].cluster & changes.aspects
            or (moved and self.reads[plugin.name].feasible)
        ]
        for plugin in again:
            self._answers[plugin.name] = self.profile.pre_score(plugin, state, pod, nodes)
        if again:
            state.skip_score = frozenset(n for n, a in self._answers.items() if a.is_skip)
        return frozenset(plugin.name for plugin in again)

    def _take_part(self, state: CycleState) -> None:
        """Make room for plugins that score from now on, and take out those that skip."""
        for plugin in self.profile.scores:
            name = plugin.name
            takes_part = name not in state.skip_score
            if takes_part and name not in self.normalized:
                size = len(self.total)
                self._raw[name] = np.zeros(size, np.int64)
                self.normalized[name] = np.zeros(size, np.int64)
                self._known[name] = np.zeros(size, np.bool_)
            elif not takes_part and name in self.normalized:
                self.total -= self.profile.weights[name] * self.normalized.pop(name)
                del self._raw[name], self._known[name]

    # --- Score, NormalizeScore -------------------------------------------------------------------

    def _score(
        self, state: CycleState, pod: Pod, nodes: Rows, plugin: ScorePlugin, outdated: _Outdated
    ) -> None:
        rows = self._unknown_rows(nodes, plugin, outdated)
        if len(rows):
            some = nodes if len(rows) == len(nodes) else Rows(self.cluster, rows)
            scores = self.profile.score_all(plugin, state, pod, some)
            self._raw[plugin.name][rows] = scores
            self._known[plugin.name][rows] = True
        if not _normalizes(plugin):
            if len(rows):
                check_range(plugin, scores)
                self._count(plugin, rows, scores)
        elif len(rows) or outdated.moved:
            raw = nodes.take(self._raw[plugin.name])
            scores = self.profile.normalize(plugin, state, pod, raw, nodes)
            self._count(plugin, nodes.index, scores)

    def _unknown_rows(self, nodes: Rows, plugin: ScorePlugin, outdated: _Outdated) -> Places:
        """The feasible rows whose score must be asked for."""
        reads, changes = self.reads[plugin.name], outdated.changes
        known = self._known[plugin.name]
        if plugin.name in outdated.again or reads.cluster & changes.aspects:
            known[:] = False
            return nodes.index
        if not outdated.moved and not reads.node & changes.aspects:
            return _NONE
        # Ascending, as every view of nodes: scores of all nodes are put where these rows say.
        dirty = sorted(r for r, a in changes.rows.items() if a & reads.node and r < len(known))
        if dirty:
            known[dirty] = False
        if outdated.moved:
            return _NONE if known.all() else nodes.index[~known[nodes.index]]
        if not dirty:
            return _NONE
        places = np.searchsorted(nodes.index, dirty)
        return np.array(
            [
                row
                for row, place in zip(dirty, places.tolist(), strict=True)
                if place < len(nodes) and nodes.index[place] == row
            ],
            np.intp,
        )

    def _count(self, plugin: ScorePlugin, rows: Places, scores: Scores) -> None:
        """Put these scores into the total, in the place of the old ones."""
        normalized = self.normalized[plugin.name]
        weight = self.profile.weights[plugin.name]
        where = slice(None) if len(rows) == len(normalized) else rows
        more = scores - normalized[where]
        if more.any():
            self.total[where] += weight * more
            normalized[where] = scores


class _Outdated:
    """Why scores may have to be asked for again."""

    __slots__ = ("again", "changes", "moved")

    def __init__(self, changes: Changes, moved: bool, again: frozenset[str]) -> None:
        self.changes = changes
        self.moved = moved
        self.again = again


_NONE: Places = np.zeros(0, np.intp)


def _normalizes(plugin: ScorePlugin) -> bool:
    return type(plugin).normalize_score is not ScorePlugin.normalize_score
