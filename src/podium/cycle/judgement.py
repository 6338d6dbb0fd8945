"""Who is asked about which nodes: PreFilter and Filter for the pods of one class.

The first pod of a class has every candidate judged. For the next one, plugins with a signature are
asked again only about rows that changed in an aspect that they read, and about all rows when an
aspect changed that they read anywhere in the cluster. Plugins without a signature are asked for
every pod, about every row that no filter before them refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.combined import CombinedVerdicts
from podium.cycle.judged import Judged, LastAnswer
from podium.cycle.verdicts import NO_ROWS, OUT, PENDING, RowNumbers, Verdicts, shallow_copy
from podium.framework.cycle_state import CycleState, PodsToActivate, without
from podium.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin, Statuses
from podium.framework.pre_filtered import PreFilterAnswer, PreFiltered, combine
from podium.framework.profile import Profile
from podium.framework.reading import Reading
from podium.framework.status import SUCCESS
from podium.state.aspects import Changes, Reader
from podium.state.cluster import ClusterState
from podium.state.rows import NodeInfo, Rows

_NOT_JUDGED: Final = (OUT, PENDING)
_NOT_REFUSED: Final = np.zeros(1, np.int32)  # the status index of rows that are judged first
_MANY_STATUSES: Final = 1024  # start over: reasons that vary by node would grow without end
_MANY: Final = 24  # from this many changed rows on, arrays are cheaper than a walk per row

_ToAsk = tuple[list[tuple[int, FilterPlugin]], bool]
_NONE: Final[frozenset[int]] = frozenset()
_NOTHING: Final[frozenset[str]] = frozenset()


class Judgement:
    """The PreFilter and Filter answers for one class of pods.

    ``unsigned`` are the plugins that have no signature for these pods. Invariants:

    * ``state``, ``_pre_answers`` and ``kept`` hold only what plugins with a signature said, as if
      the others were not in the profile; so they are right for every pod of the class.
    * ``_pre_answers`` are up to date with ``_reader``. So is ``kept``, but for the changes that are
      ``_missed``: a pod that PreFilter refuses leaves ``kept`` behind, and the next one catches up.
    * ``kept`` was made for the nodes ``_kept_names`` (``None``: all) with the plugins ``_skipped``
      left out.
    * All verdicts that ``refresh`` returns come from ``_combined``, or all from ``kept`` if there
      is none: each numbers its sets of feasible rows, so that equal numbers mean equal sets.
    * ``_last_answers[i]`` is what filter ``i`` said last about all candidates, while its part of
      ``kept`` has not been changed row by row since.
    * ``_outdated`` are the plugins whose answers are those of another class (``derived``). The next
      refresh asks them about everything, and empties it.
    """

    __slots__ = (
        "_combined", "_filters", "_judged", "_kept_names", "_last_answers", "_missed", "_outdated",
        "_pre", "_pre_answers", "_pre_is_kept", "_reader", "_skipped", "_walks", "cluster", "kept",
        "profile", "reading", "state", "unsigned",
    )  # fmt: skip

    def __init__(
        self, profile: Profile, cluster: ClusterState, pod: Pod, unsigned: frozenset[str] = _NOTHING
    ) -> None:
        self.profile = profile
        self.cluster = cluster
        self.unsigned = unsigned
        self.state = CycleState()
        self.reading: Reading = profile.readings.of(pod, unsigned)
        self.kept = Verdicts(cluster, len(profile.filters))
        self._filters = list(enumerate(profile.filters))
        self._combined: CombinedVerdicts | None = None
        self._judged: Judged | None = None  # what was returned last: mostly it is so again
        self._pre = PreFiltered()
        self._pre_answers: dict[str, PreFilterAnswer] = {}
        self._pre_is_kept = True
        if unsigned:
            self._leave_out_unsigned()
        self._reader = Reader(cluster)
        self._missed: Changes | None = None
        self._outdated = _NOTHING
        self._kept_names: frozenset[str] | None = None
        self._skipped: frozenset[str] = frozenset()
        self._last_answers: dict[int, LastAnswer] = {}
        self._walks: dict[tuple[int, int, frozenset[int]], _ToAsk] = {}

    def derived(self, pod: Pod, differing: frozenset[str]) -> Judgement:
        """Return the judgement of a class that only these plugins tell from this one."""
        other = shallow_copy(self)
        other.state = without(self.state, differing)
        other.reading = self.profile.readings.like(self.reading, pod, differing)
        other.kept = self.kept.copy()
        other._judged = None
        other._pre_answers = self._pre_answers.copy()
        other._reader = self._reader.copy()
        filters, answers = self.profile.filters, self._last_answers.items()
        other._last_answers = {i: last for i, last in answers if filters[i].name not in differing}
        if other.reading is not self.reading:
            other._walks = {}
        other._outdated = self._outdated | differing
        return other

    def _leave_out_unsigned(self) -> None:
        """Keep no answers of the plugins without a signature: they are asked for every pod."""
        profile, unsigned = self.profile, self.unsigned
        self._filters = [pair for pair in self._filters if pair[1].name not in unsigned]
        self._pre_is_kept = unsigned.isdisjoint(each.name for each in profile.pre_filters)
        if not self._pre_is_kept or len(self._filters) < len(profile.filters):
            self._combined = CombinedVerdicts(profile, self.kept, unsigned)

    def refresh(self, pod: Pod) -> Judged:
        """Bring everything up to date, and judge this pod of the class."""
        changes = self._reader.catch_up()
        if changes.fresh:
            self.state, self._pre_answers = CycleState(), {}
        self.state.put(PodsToActivate())  # what plugins left for the last pod must not be seen
        if self._pre_is_kept and not (
            changes.fresh or self._outdated or self.reading.pre_filters & changes.aspects
        ):
            state, pre = self.state.layer() if self.unsigned else self.state, self._pre
        else:
            state, pre = self._pre_filter(pod, changes)
        if self._missed is not None:
            changes, self._missed = self._missed.followed_by(changes), None
        if not pre.status.ok:
            self._missed = changes
            return Judged(pre, state, self.kept)
        names = pre.node_names if self._pre_is_kept else self._names_of_signed(pre)
        kept = self.kept
        if changes.fresh or names != self._kept_names or len(kept.statuses) > _MANY_STATUSES:
            kept.start_over(self._rows_of(names))
            self._last_answers, self._walks, self._kept_names = {}, {}, names
            self._sweep(pod, kept.candidates, _NONE)
            moved = True
        else:
            moved, asked_anew = self._catch_up(pod, changes)
            pending = kept.pending() if kept.grows else NO_ROWS
            if len(pending) or asked_anew:
                moved |= self._sweep(pod, pending, asked_anew)
        self._skipped, self._outdated = self.state.skip_filter, _NOTHING
        if moved:
            kept.settle()
        if self._combined is None:
            judged = self._judged
            if judged is None or judged.pre is not pre or judged.state is not state:
                judged = self._judged = Judged(pre, state, kept)
            return judged
        candidates = kept.candidates if names == pre.node_names else self._rows_of(pre.node_names)
        self._combined.refresh(state, pod, candidates)
        return Judged(pre, state, self._combined)

    def _rows_of(self, names: frozenset[str] | None) -> RowNumbers:
        if names is None:
            return self.cluster.table.live_rows()
        rows = (self.cluster.table.live_row(name) for name in names)
        return np.array(sorted(row for row in rows if row is not None), np.intp)

    # --- PreFilter -------------------------------------------------------------------------------

    def _pre_filter(self, pod: Pod, changes: Changes) -> tuple[CycleState, PreFiltered]:
        """Run the PreFilters that are outdated or have no signature. Return the pod's state too."""
        unsigned, kept, ask = self.unsigned, self._pre_answers, self.profile.pre_filter
        nodes = self.cluster.rows()
        outdated = {
            plugin: kept.pop(plugin.name)
            for plugin, read in self.reading.far_pre_filters
            if read & changes.aspects and plugin.name in kept
        }
        if self._outdated:
            outdated = self._with_outdated(outdated)
        if outdated and not unsigned and self._answer_as_before(outdated, pod, nodes):
            return self.state, self._pre
        state = self.state.layer() if unsigned else self.state

        def answer_of(plugin: PreFilterPlugin) -> PreFilterAnswer:
            if plugin.name in unsigned:
                return ask(plugin, state, pod, nodes)
            answer = kept[plugin.name] = ask(plugin, self.state, pod, nodes)
            return answer

        self._pre = combine(self.profile.pre_filters, kept, answer_of, state)
        if len(self._pre.answers) < len(self.profile.pre_filters):
            state = self._forget_unreached(state)
        self.state.skip_filter = self._pre.skipped - self.unsigned
        state.skip_filter = self._pre.skipped
        return state, self._pre

    def _forget_unreached(self, state: CycleState) -> CycleState:
        """Return the state without what plugins have put in that this pod did not get to.

        PostFilter must not find it. They are asked again when a pod gets to them.
        """
        reached = self._pre.answers
        unreached = [each.name for each in self.profile.pre_filters if each.name not in reached]
        for name in unreached:
            self._pre_answers.pop(name, None)
        state = without(state, unreached)
        self.state = state.base
        return state

    def _with_outdated(
        self, far: Mapping[PreFilterPlugin, PreFilterAnswer]
    ) -> dict[PreFilterPlugin, PreFilterAnswer]:
        """Add the plugins that have answered for another class, in the order of the profile."""
        kept = self._pre_answers
        stale = [each for each in self.profile.pre_filters if each.name in self._outdated]
        both = {**far, **{each: kept.pop(each.name) for each in stale if each.name in kept}}
        return {each: both[each] for each in self.profile.pre_filters if each in both}

    def _answer_as_before(
        self, outdated: Mapping[PreFilterPlugin, PreFilterAnswer], pod: Pod, nodes: Rows
    ) -> bool:
        """Ask these again, up to the first that says something else; true when there is none.

        Those that the last pod did not get to are not asked.
        """
        kept, reached = self._pre_answers, self._pre.answers
        for plugin, before in outdated.items():
            if plugin.name in reached:
                answer = self.profile.pre_filter(plugin, self.state, pod, nodes)
                kept[plugin.name] = answer
                if answer != before:
                    return False
        return True

    def _names_of_signed(self, pre: PreFiltered) -> frozenset[str] | None:
        """Return the nodes that PreFilters with a signature want; ``pre`` has all answers."""
        if pre.narrowed_by.isdisjoint(self.unsigned):
            return pre.node_names
        wanted = [pre.answers[name][0] for name in pre.narrowed_by - self.unsigned]
        names = [each for each in wanted if each is not None]
        return frozenset.intersection(*names) if names else None

    # --- Filter, by plugins with a signature -----------------------------------------------------

    def _catch_up(self, pod: Pod, changes: Changes) -> tuple[bool, frozenset[int]]:
        """Judge changed rows. Return whether feasibility changed, and the filters to ask anew.

        Rows are left pending, for ``_sweep``, when there are many of them.
        """
        kept, skipped = self.kept, self.state.skip_filter
        kept.grows = False
        asked_anew, moved = _NONE, False
        if self.reading.filters & changes.aspects:
            asked_anew = frozenset(
                filter_index
                for filter_index, plugin in self.reading.far_filters.items()
                if self.reading.by_name[plugin.name].cluster & changes.aspects
                and plugin.name not in skipped
            )
        if self._outdated:
            asked_anew |= {
                filter_index
                for filter_index, plugin in self._filters
                if plugin.name in self._outdated and plugin.name not in skipped
            }
        if skipped != self._skipped:
            asked_anew |= self._follow_skips()
        # Rows from ``known`` on have no node yet; pending ones were released just now.
        known, first_of = len(kept.first), kept.first.item
        rows = [row for row in changes.rows if row < known and first_of(row) not in _NOT_JUDGED]
        if len(rows) >= _MANY:
            kept.first[rows] = PENDING
            kept.grows = True
        else:
            for row in rows:
                moved |= self._walk(pod, row, changes.rows[row], asked_anew)
        return moved, asked_anew

    def _follow_skips(self) -> frozenset[int]:
        """Release rows that newly skipping filters refused. Return filters that no longer skip."""
        self._last_answers, self._walks = {}, {}
        now, before = self.state.skip_filter, self._skipped
        active_again = set()
        for filter_index, plugin in self._filters:
            if plugin.name in now and plugin.name not in before:
                self.kept.grows |= self.kept.release(filter_index)
            elif plugin.name in before and plugin.name not in now:
                active_again.add(filter_index)
        return frozenset(active_again)

    def _walk(self, pod: Pod, row: int, aspects: int, asked_anew: frozenset[int]) -> bool:
        """Judge one changed row, filter by filter; true when its feasibility changed.

        Filters up to the old refuser that ``_sweep`` will ask anyway are left to it. Those after it
        have never seen the row, and are asked now.
        """
        kept = self.kept
        was, now, status = kept.first.item(row), kept.fits, SUCCESS
        to_ask, still_refused = self._to_ask(was, aspects, asked_anew)
        node = NodeInfo(self.cluster, row)
        for filter_index, plugin in to_ask:
            self._last_answers.pop(filter_index, None)
            status = self.profile.filter_one(plugin, self.state, pod, node)
            if not status.ok:
                now = filter_index
                break
        else:
            if still_refused:
                return False
        if now != was or now != kept.fits:
            kept.set_row(row, now, status)
        # The row counts as fitting, but ``_sweep`` has still to ask the filters in ``asked_anew``.
        kept.grows |= now == kept.fits and was < now
        return (was == kept.fits) != (now == kept.fits)

    def _to_ask(self, was: int, aspects: int, asked_anew: frozenset[int]) -> _ToAsk:
        """Find the filters whose answer about a row may have changed, or that never saw it.

        Also whether the old refuser is not among them, so that its refusal stands unless an
        earlier filter refuses the row.
        """
        key = was, aspects, asked_anew
        found = self._walks.get(key)
        if found is None:
            found = self._walks[key] = self._find_to_ask(*key)
        return found

    def _find_to_ask(self, was: int, aspects: int, asked_anew: frozenset[int]) -> _ToAsk:
        to_ask: list[tuple[int, FilterPlugin]] = []
        for filter_index, plugin in self._filters:
            if plugin.name in self.state.skip_filter:
                continue
            is_outdated = filter_index not in asked_anew and self._depends(plugin, aspects)
            if filter_index > was or is_outdated:
                to_ask.append((filter_index, plugin))
            elif filter_index == was:
                return to_ask, True
        return to_ask, False

    def _depends(self, plugin: Plugin, aspects: int) -> bool:
        reads = self.reading.by_name[plugin.name]
        return bool((reads.node | reads.cluster) & aspects)

    def _sweep(self, pod: Pod, pending: RowNumbers, asked_anew: frozenset[int]) -> bool:
        """Ask the filters in order: about pending rows, and about all rows where asked anew.

        True when that changed anything.
        """
        kept = self.kept
        moved = len(pending) > 0
        view: Rows | None = None
        for filter_index, plugin in self._filters:
            if plugin.name in self.state.skip_filter:
                continue
            rows = kept.reaching(filter_index) if filter_index in asked_anew else pending
            if not len(rows):
                continue
            if view is None or view.index is not rows:  # most filters are asked about the same rows
                view = Rows(self.cluster, rows)
            statuses = self.profile.filter_all(plugin, self.state, pod, view)
            if self._take_in(filter_index, rows, statuses):
                pending = kept.pending()
                moved = True
        kept.finish_pending(pending)
        return moved

    def _take_in(self, filter_index: int, rows: RowNumbers, statuses: Statuses) -> bool:
        """Store what a filter said about these rows; true when that changed which are pending."""
        kept = self.kept
        are_all = rows is kept.candidates  # ``reaching`` returns this very array for all rows
        last = self._last_answers.pop(filter_index, None)
        before: NDArray[np.intp] | NDArray[np.int32]
        if last is not None and are_all and not kept.grows:
            if last.equals(statuses):
                self._last_answers[filter_index] = last
                return False
            before = last.status_index
        elif kept.is_news(filter_index, rows, statuses):
            before = _NOT_REFUSED if kept.is_new else kept.said_by(filter_index, rows)
        else:
            return False
        of_values = np.array([kept.index_of(status) for status in statuses.values], np.intp)
        now = of_values.take(statuses.index)
        if are_all and filter_index in self.reading.far_filters:
            self._last_answers[filter_index] = LastAnswer(statuses, now)
        # Between two equal pods few rows change: write to those alone.
        changed = (now != before).nonzero()[0]
        if len(changed):
            kept.set_rows(filter_index, rows[changed], now[changed])
        return len(changed) > 0

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` naming the first invariant that does not hold."""
        names = [plugin.name for plugin in self.profile.filters]
        signed = set(names) - self.unsigned
        said = {status.plugin for status in self.kept.statuses if not status.ok}
        assert said <= signed, f"kept verdicts of {sorted(said - signed)}, which have no signature"
        assert self.unsigned.isdisjoint(self._pre_answers), "kept an answer without a signature"
        self.kept.check_invariants(names)
        for filter_index, last in self._last_answers.items():
            candidates = self.kept.candidates
            reach = candidates[self.kept.first[candidates] >= filter_index]
            mine = self.kept.said_by(filter_index, candidates)
            said_by = dict(zip(candidates.tolist(), last.status_index.tolist(), strict=True))
            kept_by = dict(zip(candidates.tolist(), mine.tolist(), strict=True))
            outdated = [row for row in reach.tolist() if said_by[row] != kept_by[row]]
            assert not outdated, f"{names[filter_index]}: rows {outdated} do not have its answer"
