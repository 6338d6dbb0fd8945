"""The scores of a profile for one class of pods, kept up to date row by row.

Entries of rows that are not feasible may be outdated: their total is the sum of the shares all the
same, but no decision reads it. Plugins without a
signature are asked for every pod: their old scores are taken out of the total, the new ones put in.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.share import FEW, Share
from podium.cycle.tied import Tied
from podium.cycle.verdicts import UNTRACKED, FeasibleVersion, RowNumbers, shallow_copy
from podium.framework.answers import check_range
from podium.framework.cycle_state import CycleState
from podium.framework.plugin import ScorePlugin
from podium.framework.profile import Profile
from podium.framework.reading import Reading
from podium.framework.scores import Scores
from podium.framework.status import Status
from podium.state.aspects import Changes, Reader
from podium.state.cluster import ClusterState
from podium.state.rows import NodeInfo, Rows

_NONE: Final[RowNumbers] = np.zeros(0, np.intp)


class Scoreboard:
    """Scores by plugin and row, and their total.

    Invariants, after ``refresh`` (``check_invariants``):

    * ``total[row]`` is the sum of ``weight * normalized[row]`` over ``shares``, for every row.
    * ``shares`` has the plugins that score this pod: all but those whose PreScore skips.
    * On the rows that were scored last, ``normalized`` is what the plugin says about the pod now.
    * ``_tied``, while it is known, holds exactly the rows scored last whose total is ``_top``, and
      no row scored last has a higher one.
    * What plugins with a signature have put into the state is in ``_state``: the kept state of the
      class. A new state means that all of them must prepare again.
    * ``_outdated`` are the plugins that have not scored a pod of this class (``derived``). The next
      refresh asks them about all nodes, and empties it.
    """

    __slots__ = (
        "_answers", "_outdated", "_prepares_unsigned", "_reader", "_rows", "_skipped", "_state",
        "_tied", "_top", "_unsigned", "_version", "cluster", "profile", "reading", "shares",
        "total",
    )  # fmt: skip

    def __init__(
        self,
        profile: Profile,
        cluster: ClusterState,
        reading: Reading,
        unsigned: frozenset[str] = frozenset(),
    ) -> None:
        self.profile = profile
        self.cluster = cluster
        self.reading = reading
        self.total: NDArray[np.int64] = np.zeros(0, np.int64)
        self.shares: dict[str, Share] = {}
        self._unsigned = unsigned
        self._prepares_unsigned = bool(unsigned) and any(
            each.name in unsigned for each in profile.pre_scores
        )
        self._answers: dict[str, Status] = {}  # of PreScores
        self._skipped: frozenset[str] = frozenset()  # those of them that skip
        self._reader = Reader(cluster)
        self._state: CycleState | None = None
        self._version = UNTRACKED
        self._tied: Tied | None = None
        self._top = 0
        self._rows: RowNumbers | None = None  # those that were scored last
        self._outdated: frozenset[str] = frozenset()

    def derived(
        self, reading: Reading, states: tuple[CycleState, CycleState], differing: frozenset[str]
    ) -> Scoreboard:
        """Return the scoreboard of a class that only these plugins tell from this one.

        ``states`` are the kept states of this class and of the other.
        """
        if self._state is not states[0]:
            return Scoreboard(self.profile, self.cluster, reading)
        other = shallow_copy(self)
        other.reading, other._state, other._tied = reading, states[1], None
        other._answers, other._reader = self._answers.copy(), self._reader.copy()
        other._outdated = self._outdated | differing
        other.total, other.shares = np.zeros(len(self.total), np.int64), {}
        for name, share in self.shares.items():
            if name in differing:
                other.shares[name] = other._new_share(share.plugin)
            else:
                share.is_shared = True
                other.shares[name] = share
                share.add_to(other.total)
        return other

    def refresh(self, state: CycleState, pod: Pod, nodes: Rows, version: FeasibleVersion) -> None:
        """Score these nodes, the feasible ones."""
        changes = self._reader.catch_up()
        kept = state.base if self._unsigned else state
        if changes.fresh or len(self.total) != self.cluster.table.size or kept is not self._state:
            changes = self._start_over()
            self._state = kept
        outdated = _Outdated(changes, self._version, version, self._outdated)
        self._outdated = frozenset()
        self._version, self._rows = version, nodes.index
        if (
            outdated.moved
            or outdated.again
            or self._prepares_unsigned
            or self.reading.pre_scores & changes.aspects
        ):
            self._pre_score(state, pod, nodes, outdated)
            self._take_part()
        state.skip_score = self._skipped
        if outdated.moved:
            self._tied = None
        near: list[Share] = []
        for name, share in self.shares.items():
            if outdated.stands(share):
                continue
            if share.is_shared:
                share = self.shares[name] = share.copy()
            if outdated.is_near(share) and (
                not outdated.grown or self._finish_known(kept, pod, nodes, share, outdated)
            ):
                near.append(share)
            else:
                mine = state if share.reads is None else kept
                self._score(mine, pod, nodes, share, outdated)
        for row, aspects in changes.rows.items():
            if row < len(self.total):
                outdated_here = [share for share in near if share.watches_row & aspects]
                self._touch_up(kept, pod, nodes, outdated_here, row)
                self._untie(row)

    def _finish_known(
        self, state: CycleState, pod: Pod, nodes: Rows, share: Share, outdated: _Outdated
    ) -> bool:
        """Score rows that became feasible and have no score one by one; false if they are many."""
        if share.missing is None:
            unknown = np.flatnonzero(~share.known)
            if len(unknown) > FEW:
                return False
            share.missing = set(unknown.tolist())
        node_aspects = 0 if share.reads is None else share.reads.node
        for row in tuple(share.missing):
            # A row that changed in an aspect of the plugin is scored with the other changed rows.
            if not outdated.changes.rows.get(row, 0) & node_aspects:
                self._touch_up(state, pod, nodes, [share], row)
        return True

    def best(self, nodes: Rows) -> Tied:
        """Return the nodes with the highest total among those that were scored last."""
        if not self._tied:
            totals = nodes.take(self.total)
            self._top = int(totals.max())
            self._tied = Tied.of(nodes, totals == self._top)
        return self._tied

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
        self.shares, self._answers, self._skipped = {}, {}, frozenset()
        return Changes(fresh=True)

    def _touch_up(
        self, state: CycleState, pod: Pod, nodes: Rows, shares: list[Share], row: int
    ) -> None:
        """Score one changed row, if it is feasible, for plugins that look at no other."""
        if not shares:
            return
        rows = nodes.index  # ascending
        position = row if len(rows) == len(self.total) else int(rows.searchsorted(row))
        is_feasible = position < len(rows) and rows.item(position) == row
        node = NodeInfo(self.cluster, row)
        for share in shares:
            if share.known.item(row) is not is_feasible:
                share.set_known(row, is_feasible)
            if share.missing is not None:
                share.keep_missing(row, is_feasible)
            if is_feasible:
                score = self.profile.score_one(share.plugin, state, pod, node)
                more = score - share.score_of(row)
                if more:
                    share.set_score(row, score)
                    self.total[row] += share.weight * more

    # --- PreScore --------------------------------------------------------------------------------

    def _pre_score(self, state: CycleState, pod: Pod, nodes: Rows, outdated: _Outdated) -> None:
        """Run the PreScores whose answers are outdated, or have no signature."""
        changes = outdated.changes
        kept = state.base if self._unsigned else state
        for plugin in self.profile.pre_scores:
            name, mine = plugin.name, state
            if name not in self._unsigned:
                mine = kept
                reads = self.reading.by_name[name]
                if not (
                    changes.fresh
                    or name in outdated.again
                    or reads.for_scores & changes.aspects
                    or (outdated.moved and reads.feasible)
                ):
                    continue
            self._answers[name] = self.profile.pre_score(plugin, mine, pod, nodes)
            outdated.again.add(name)
        if outdated.again:
            self._skipped = frozenset(n for n, a in self._answers.items() if a.is_skip)

    def _take_part(self) -> None:
        """Make room for plugins that score from now on, and take out those that skip."""
        is_in_order = True
        for plugin in self.profile.scores:
            name = plugin.name
            if name in self._skipped:
                share = self.shares.pop(name, None)
                if share is not None:
                    self._tied = None
                    share.add_to(self.total, -1)
            elif name not in self.shares:
                self.shares[name] = self._new_share(plugin)
                is_in_order = False
        if not is_in_order:
            found = self.shares
            self.shares = {p.name: found[p.name] for p in self.profile.scores if p.name in found}

    def _new_share(self, plugin: ScorePlugin) -> Share:
        weight, reads = self.profile.weights[plugin.name], self.reading.by_name.get(plugin.name)
        return Share(plugin, weight, reads, len(self.total))

    # --- Score, NormalizeScore -------------------------------------------------------------------

    def _score(
        self, state: CycleState, pod: Pod, nodes: Rows, share: Share, outdated: _Outdated
    ) -> None:
        rows = self._unknown_rows(nodes, share, outdated)
        share.missing = None
        if len(rows):
            some = nodes if len(rows) == len(nodes) else Rows(self.cluster, rows)
            scores = self.profile.score_all(share.plugin, state, pod, some)
            share.know(rows, self._version)
            if share.normalizes:
                share.set_raw(rows, scores)
            else:
                check_range(share.plugin, scores)
                self._count(share, rows, scores)
        if share.normalizes and (len(rows) or outdated.moved):
            raw = share.raw_of(nodes)
            scores = self.profile.normalize(share.plugin, state, pod, raw, nodes)
            self._count(share, nodes.index, scores)

    def _unknown_rows(self, nodes: Rows, share: Share, outdated: _Outdated) -> RowNumbers:
        """The feasible rows whose score must be asked for."""
        reads, changes = share.reads, outdated.changes
        if (
            changes.fresh
            or reads is None
            or share.plugin.name in outdated.again
            or reads.for_scores & changes.aspects
            or (outdated.moved and reads.feasible)
        ):
            share.is_forgotten = True
            return nodes.index
        if not outdated.grown and not reads.node & changes.aspects:
            return _NONE
        # Ascending, as every view of nodes: scores of all nodes are put where these rows say.
        dirty = sorted(r for r, a in changes.rows.items() if a & reads.node and r < len(self.total))
        share.forget(dirty)
        if share.known.all():
            return _NONE
        unknown: RowNumbers = nodes.index[~nodes.take(share.known)]
        return unknown

    def _count(self, share: Share, rows: RowNumbers, scores: Scores) -> None:
        """Put these scores into the total, in the place of the old ones."""
        if share.is_new:
            more = share.begin(rows, scores)
            if isinstance(more, int):  # what is the same for all nodes does not change the best
                if more:
                    self.total += more
                    self._top += more
                return
        else:
            changed = share.replace(rows, scores)
            if changed is None:
                return
            more = changed
        self._tied = None
        if len(rows) == len(self.total):
            self.total += more  # a sum into a slice is written twice
        else:
            self.total[rows] += more

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` naming the first invariant that does not hold."""
        total = np.zeros(len(self.total), np.int64)
        for share in self.shares.values():
            total += share.weight * share.normalized.astype(np.int64)
            if share.missing is not None:
                unknown = set(np.flatnonzero(~share.known).tolist())
                assert share.missing == unknown, f"{share.plugin.name}: other rows are missing"
        assert np.array_equal(total, self.total), "the total is not the sum of the shares"
        if self._tied and self._rows is not None:
            totals = self.total[self._rows]
            assert int(totals.max()) == self._top, "a node is above the top"
            best = self._rows[totals == self._top]
            assert sorted(self._tied.rows.tolist()) == best.tolist(), "the best are others"


class _Outdated:
    """Why scores may have to be asked for again; ``again`` are plugins that prepare anew.

    The feasible rows have ``moved`` when some came or went, and ``grown`` when some came.
    """

    __slots__ = ("again", "aspects", "changes", "few", "grown", "moved")

    def __init__(
        self,
        changes: Changes,
        old: FeasibleVersion,
        new: FeasibleVersion,
        again: frozenset[str] = frozenset(),
    ) -> None:
        unknown = changes.fresh or new.number < 0 or new.placement != old.placement
        self.changes = changes
        self.aspects = changes.aspects
        self.moved = unknown or new.number != old.number
        self.grown = unknown or new.grown_at > old.number
        self.few = not unknown and len(changes.rows) <= FEW
        self.again = set(again)

    def stands(self, share: Share) -> bool:
        """Whether nothing that the plugin looks at has changed."""
        return share.stands_always or not (
            self.moved
            or (share.watches_row | share.watches_all) & self.aspects
            or share.is_new
            or share.reads is None
            or (self.again and share.plugin.name in self.again)
        )

    def is_near(self, share: Share) -> bool:
        """Whether at most the changed rows must be scored, and each on its own."""
        return (
            self.few
            and share.reads is not None
            and not share.normalizes
            and not share.watches_all & self.aspects
            and not (self.moved and share.reads.feasible)
            and share.plugin.name not in self.again
        )
