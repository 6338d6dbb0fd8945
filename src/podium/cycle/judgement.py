"""A profile's Filter answers for one class of pods, kept up to date row by row.

The first pod of its class has every candidate judged. For the next equal pod only rows that changed
in an aspect that some plugin reads are judged again, and plugins that read the whole cluster are
asked anew. Judging from scratch is the same code with every row pending.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.feasible_version import FeasibleVersion
from podium.cycle.last_answer import LastAnswer
from podium.framework.cycle_state import CycleState, PodsToActivate
from podium.framework.diagnosis import UNKNOWN, NodeStatuses, Rejections
from podium.framework.plugin import FilterPlugin, Plugin
from podium.framework.pre_filtered import PreFiltered, left_out_by
from podium.framework.profile import Profile
from podium.framework.reading import Reading
from podium.framework.status import SUCCESS, Status
from podium.state.aspects import Changes
from podium.state.changes import Reader
from podium.state.cluster import ClusterState
from podium.state.column import Column
from podium.state.rows import NodeInfo, Rows

OUT: Final = -1  # not a candidate: no node, or excluded by PreFilter
PENDING: Final = 32767  # not refused so far, and not yet seen by the filters to come
_SET_ASIDE: Final = (OUT, PENDING)
_MANY_STATUSES: Final = 1024  # reasons that differ from node to node are not worth keeping
_MANY: Final = 24  # from this many changed rows on, arrays are cheaper than a walk per row

_NOBODY: NDArray[np.intp] = np.zeros(0, np.intp)
_ToAsk = tuple[list[tuple[int, FilterPlugin]], bool]


class Judgement:
    """``first[row]`` is the filter that refused the row, or the number of filters if none did."""

    def __init__(self, profile: Profile, cluster: ClusterState, pod: Pod) -> None:
        self.profile = profile
        self.cluster = cluster
        self.state = CycleState()
        self.pre = PreFiltered()
        self.version = FeasibleVersion(0, 0)
        self.first: NDArray[np.int16] = np.zeros(0, np.int16)
        self.verdict: NDArray[np.int32] = np.zeros(0, np.int32)  # places in ``statuses``
        self.statuses: list[Status] = [SUCCESS]
        self.feasible = _NOBODY
        self._places: dict[Status, int] = {SUCCESS: 0}
        self._rejections: Rejections | None = None
        self._sizes: NDArray[np.intp] | None = None  # how many candidates have each verdict
        self._candidates = _NOBODY
        self._answers: dict[int, LastAnswer] = {}  # by place, what was said last of all candidates
        self._grows = False  # whether a row may have become feasible in this refresh
        self._walks: dict[tuple[int, int, frozenset[int]], _ToAsk] = {}
        self._is_judged = False
        self._reader = Reader(cluster)
        self.reading: Reading = profile.reading(pod)
        self._skipped: frozenset[str] = frozenset()

    def refresh(self, pod: Pod) -> None:
        """Bring everything up to date for this pod, which equals the one before."""
        self.state.put(PodsToActivate())
        changes = self._reader.catch_up()
        if len(self.statuses) > _MANY_STATUSES or not self._pre_filter(pod, changes):
            changes = self._start_over(pod)
        if not self.pre.status.ok:
            self._set_aside()
            return
        if changes.fresh or not self._is_judged:
            self._judge_all(pod)
        else:
            self._judge_changed(pod, changes)
        self._is_judged = True
        self._skipped = self.state.skip_filter

    def verdicts(self) -> NodeStatuses:
        """The status of every candidate as it stands."""
        return self._statuses(self.verdict[self._candidates].astype(np.intp))

    def _statuses(self, index: NDArray[np.intp]) -> NodeStatuses:
        nodes = Rows(self.cluster, self._candidates)
        return NodeStatuses(nodes, Column(self.statuses, index), self._absent())

    def rejections(self) -> Rejections:
        """How many nodes each plugin refused for each reason. Shared: do not change it."""
        if self._rejections is None:
            self._rejections = self._count_rejections()
        return self._rejections

    @property
    def _nobody_refused(self) -> bool:
        """Whether since all rows were judged no filter has refused one."""
        return len(self.statuses) == 1

    def _count_rejections(self) -> Rejections:
        if self._nobody_refused:
            return Rejections()
        if self._sizes is None:
            rows = self._candidates
            index = self.verdict if len(rows) == len(self.verdict) else self.verdict[rows]
            self._sizes = np.bincount(index, minlength=len(self.statuses))
        counts = Rejections()
        for place in self._sizes.nonzero()[0].tolist():
            counts.count(self.statuses[place], self._sizes.item(place))
        return counts

    def _set_aside(self) -> None:
        """PreFilter refuses the pod: what is kept of its nodes misses changes from here on."""
        self._is_judged = False
        self._candidates = self.feasible = _NOBODY
        self._rejections = self._sizes = None

    def _absent(self) -> Status:
        if self.pre.node_names is None:
            return UNKNOWN
        return left_out_by(self.pre.narrowed_by)

    def _find_candidates(self) -> NDArray[np.intp]:
        rows = self.cluster.table.live_rows()
        names = self.pre.node_names
        if names is None:
            return rows
        inside = (self.cluster.table.live_row(name) for name in names)
        return np.array(sorted(row for row in inside if row is not None), np.intp)

    # --- PreFilter -------------------------------------------------------------------------------

    def _pre_filter(self, pod: Pod, changes: Changes) -> bool:
        """Run the PreFilters whose answers are outdated; false when the others cannot stand."""
        answers = self.pre.answers
        outdated = changes.fresh or self.reading.pre_filters & changes.aspects
        if not outdated:
            return True
        kept = (
            {}
            if changes.fresh
            else {n: a for n, a in answers.items() if not self._outdated(n, changes)}
        )
        before = self.pre
        nodes = self.cluster.rows()
        self.pre = self.profile.run_pre_filters(self.state, pod, nodes, kept)
        # Fewer or other plugins than before ran, or they want other nodes: nothing kept fits.
        return changes.fresh or (
            self.pre.answers.keys() == before.answers.keys()
            and self.pre.node_names == before.node_names
        )

    def _start_over(self, pod: Pod) -> Changes:
        self.state = CycleState()
        self.state.put(PodsToActivate())
        changes = Changes(fresh=True)
        self._pre_filter(pod, changes)
        return changes

    def _outdated(self, name: str, changes: Changes) -> bool:
        return bool(self.reading.by_name[name].cluster & changes.aspects)

    # --- Filter ----------------------------------------------------------------------------------

    def _judge_all(self, pod: Pod) -> None:
        size = self.cluster.table.size
        self._candidates = self._find_candidates()
        is_whole = len(self._candidates) == size
        self.first = np.full(size, PENDING if is_whole else OUT, np.int16)
        if not is_whole:
            self.first[self._candidates] = PENDING
        self.verdict = np.zeros(size, np.int32)
        self._rejections = self._sizes = None
        self.statuses, self._places = [SUCCESS], {SUCCESS: 0}
        self._answers, self._walks = {}, {}
        self._grows = True
        self._sweep(pod, self._candidates, frozenset())
        self._settle_feasible()

    def _judge_changed(self, pod: Pod, changes: Changes) -> None:
        skipped = self.state.skip_filter
        asked_anew: frozenset[int] = frozenset()
        if self.reading.filters & changes.aspects:
            asked_anew = frozenset(
                place
                for place, plugin in self.reading.far_filters.items()
                if self._outdated(plugin.name, changes) and plugin.name not in skipped
            )
        pending = False
        self._grows = False
        if self.state.skip_filter != self._skipped:
            self._answers, self._walks = {}, {}
            asked_anew |= self._newly_active()
            pending = self._release_newly_skipped()
        known, first_of = len(self.first), self.first.item
        rows = [row for row in changes.rows if row < known and first_of(row) not in _SET_ASIDE]
        moved = False
        if len(rows) >= _MANY:
            self.first[rows] = PENDING
            pending = True
        else:
            for row in rows:
                moved |= self._walk(pod, row, changes.rows[row], asked_anew)
        self._grows |= pending
        if pending or asked_anew:
            moved |= self._sweep(pod, self._pending(), asked_anew)
        if moved:
            self._settle_feasible()

    def _newly_active(self) -> frozenset[int]:
        active = self._skipped - self.state.skip_filter
        return frozenset(
            place for place, plugin in enumerate(self.profile.filters) if plugin.name in active
        )

    def _release_newly_skipped(self) -> bool:
        """Rows that a filter refused go on when that filter no longer takes part."""
        released = False
        for place, plugin in enumerate(self.profile.filters):
            if plugin.name in self.state.skip_filter and plugin.name not in self._skipped:
                stuck = self.first == place
                self.first[stuck] = PENDING
                released |= bool(stuck.any())
        return released

    def _walk(self, pod: Pod, row: int, aspects: int, asked_anew: frozenset[int]) -> bool:
        """Judge one changed row, filter by filter; true when its feasibility changed.

        Filters that will be asked anew about all rows need not be asked about this one before.
        """
        was = self.first.item(row)
        to_ask, stays = self._to_ask(was, aspects, asked_anew)
        now, verdict = len(self.profile.filters), SUCCESS
        node = NodeInfo(self.cluster, row)
        for place, plugin in to_ask:
            self._answers.pop(place, None)
            verdict = self.profile.filter_one(plugin, self.state, pod, node)
            if not verdict.ok:
                now = place
                break
        else:
            if stays:
                return False
        fits = len(self.profile.filters)
        if now != was or now != fits:
            self.first[row] = now
            self._write(np.array([row]), np.array([self._place(verdict)]))
        self._grows |= was < now == fits
        return (was == fits) != (now == fits)

    def _to_ask(self, was: int, aspects: int, asked_anew: frozenset[int]) -> _ToAsk:
        """The filters whose answer about a row may be another one; and whether the one that refused
        it before, which is not among them, still does."""
        key = was, aspects, asked_anew
        found = self._walks.get(key)
        if found is None:
            found = self._walks[key] = self._find_to_ask(*key)
        return found

    def _find_to_ask(self, was: int, aspects: int, asked_anew: frozenset[int]) -> _ToAsk:
        to_ask: list[tuple[int, FilterPlugin]] = []
        for place, plugin in enumerate(self.profile.filters):
            if plugin.name in self.state.skip_filter:
                continue
            if place > was or (place not in asked_anew and self._depends(plugin, aspects)):
                to_ask.append((place, plugin))
            elif place == was:
                return to_ask, True
        return to_ask, False

    def _depends(self, plugin: Plugin, aspects: int) -> bool:
        reads = self.reading.by_name[plugin.name]
        return bool((reads.node | reads.cluster) & aspects)

    def _sweep(self, pod: Pod, pending: NDArray[np.intp], asked_anew: frozenset[int]) -> bool:
        """Run the filters in order: on pending rows, and on all rows where asked anew.

        True when that changed anything.
        """
        moved = len(pending) > 0
        for place, plugin in enumerate(self.profile.filters):
            if plugin.name in self.state.skip_filter:
                continue
            rows = self._reaching(place) if place in asked_anew else pending
            if len(rows) and self._judge_rows(pod, place, plugin, rows):
                pending = self._pending()
                moved = True
        if len(pending):
            self.first[self._where(pending)] = len(self.profile.filters)
            if not self._nobody_refused:
                # A filter that refused some of them may skip now.
                self._write(pending, np.zeros(len(pending), np.intp))
        return moved

    def _pending(self) -> NDArray[np.intp]:
        """The rows on their way through the filters: none unless some may become feasible."""
        return np.flatnonzero(self.first == PENDING) if self._grows else _NOBODY

    def _reaching(self, place: int) -> NDArray[np.intp]:
        """The rows that no filter before this one refuses."""
        reaching = self.first >= place
        if np.count_nonzero(reaching) == len(self._candidates):
            return self._candidates
        return np.flatnonzero(reaching)

    def _judge_rows(
        self, pod: Pod, place: int, plugin: FilterPlugin, rows: NDArray[np.intp]
    ) -> bool:
        """Ask one filter about these rows; true when that changed which rows are pending."""
        statuses = self.profile.filter_all(plugin, self.state, pod, Rows(self.cluster, rows))
        last = self._take_last(place, rows)
        if last is not None and last.equals(statuses):
            self._answers[place] = last
            return False
        before = self._before(place, rows, statuses) if last is None else last.verdicts
        if before is None:
            return False
        places = np.array([self._place(status) for status in statuses.values], np.intp)
        now = places.take(statuses.index)
        if rows is self._candidates and place in self.reading.far_filters:
            self._answers[place] = LastAnswer(statuses, now)
        # Between two equal pods few rows change: write to those alone.
        changed = (now != before).nonzero()[0]
        if len(changed):
            self._change(place, rows[changed], now[changed])
        return len(changed) > 0

    def _take_last(self, place: int, rows: NDArray[np.intp]) -> LastAnswer | None:
        """What this filter said last of all candidates, where that still stands in the columns."""
        last = self._answers.pop(place, None)
        return None if self._grows or rows is not self._candidates else last

    def _before(
        self, place: int, rows: NDArray[np.intp], statuses: Column[Status]
    ) -> NDArray[np.int32] | None:
        """What stands of this filter; ``None`` when it refused none of the rows, nor does now."""
        all_fit = len(statuses.values) == 1 and statuses.values[0].ok
        if all_fit and self._nobody_refused:
            return None
        where = self._where(rows)
        stuck = self.first[where] == place  # refused here before
        if all_fit and not stuck.any():
            return None
        return np.where(stuck, self.verdict[where], 0)

    def _change(self, place: int, rows: NDArray[np.intp], verdicts: NDArray[np.intp]) -> None:
        """These verdicts of one filter are news: the rows stop there, or go on."""
        self._write(rows, verdicts)
        refused = verdicts > 0
        self.first[rows] = np.where(refused, place, PENDING)
        self._grows |= not refused.all()

    def _where(self, rows: NDArray[np.intp]) -> NDArray[np.intp] | slice:
        """Whole columns are read and written in place."""
        return slice(None) if len(rows) == len(self.first) else rows

    def _write(self, rows: NDArray[np.intp], verdicts: NDArray[np.intp]) -> None:
        """Set verdicts, and keep count of how many nodes have each."""
        self._rejections = None
        if self._sizes is not None:
            missing = len(self.statuses) - len(self._sizes)
            self._sizes = np.append(self._sizes, np.zeros(missing, np.intp))
            np.subtract.at(self._sizes, self.verdict[rows], 1)
            np.add.at(self._sizes, verdicts, 1)
        self.verdict[rows] = verdicts

    def _place(self, status: Status) -> int:
        place = self._places.get(status)
        if place is None:
            place = self._places[status] = len(self.statuses)
            self.statuses.append(status)
        return place

    def _settle_feasible(self) -> None:
        if self._nobody_refused:
            feasible = self._candidates
        else:
            feasible = np.flatnonzero(self.first == len(self.profile.filters))
        if feasible is not self.feasible and not np.array_equal(feasible, self.feasible):
            feasible.flags.writeable = False  # plugins see it as it is
            self.feasible = feasible
            number = self.version.number + 1
            grown_at = number if self._grows else self.version.grown_at
            self.version = FeasibleVersion(number, grown_at)
