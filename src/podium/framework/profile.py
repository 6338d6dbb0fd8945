"""One profile's plugins in order; runs each extension point by upstream's rules.

A plugin's exception is caught here, and from Reserve on in ``binding.py``: it becomes
``Code.ERROR`` for this pod, with the traceback in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.api.read_only import make_read_only
from podium.framework.answers import (
    MAX_SCORE,
    AttemptFailed,
    as_scores,
    as_statuses,
    check_range,
    reported_error,
    verdict_of,
    verdicts_of,
)
from podium.framework.calls import FAULTS, Calls, fault_of, source_of
from podium.framework.cycle_state import CycleState
from podium.framework.diagnosis import NodeStatuses, Rejections
from podium.framework.plugin import (
    FilterPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    Statuses,
    is_in_tree,
)
from podium.framework.plugins_by_point import PluginsByPoint
from podium.framework.points import Point
from podium.framework.pre_filtered import PreFilterAnswer, PreFiltered, combine
from podium.framework.preemption import (
    PostFilterAnswer,
    PostFiltering,
    PreemptionPlugin,
    preempting,
    unasked,
)
from podium.framework.reading import Readings
from podium.framework.scores import Scores, as_score
from podium.framework.signature import Signers
from podium.framework.status import SUCCESS, Code, Nominate, PreFilterResult, Status, as_status
from podium.state.column import Column
from podium.state.rows import NodeInfo, PodsOnRows, Rows


class Profile(PluginsByPoint):
    """The plugins of one scheduler name, by extension point, in order."""

    def __init__(
        self,
        name: str,
        plugins: Mapping[Point, Sequence[Plugin]],
        weights: Mapping[str, int],
        calls: Calls | None = None,
        placement_weights: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(plugins)
        self.name = name
        self.calls = calls or Calls(name)
        self._now = self.calls.timer
        self._pre_filtering = self.calls.at("PreFilter")
        self._filtering = self.calls.at("Filter")
        self._pre_scoring = self.calls.at("PreScore")
        self._scoring = self.calls.at("Score")
        self.weights = dict(weights)
        self.placement_weights = dict(placement_weights or {})
        self._extensions = [p for p in self.pre_filters if isinstance(p, PreFilterExtensions)]
        judging = (*self.pre_filters, *self.filters, *self.pre_scores, *self.scores)
        self.judges = tuple({plugin.name: plugin for plugin in judging}.values())
        everyone = {plugin for plugins in self.plugins.values() for plugin in plugins}
        self.calls.sources |= {plugin.name: source_of(plugin) for plugin in everyone}
        self.has_outside_plugins = not all(map(is_in_tree, everyone))
        # A plugin from outside may compare nodes in `score_all`: only in-tree plugins are known to
        # return the same in both forms.
        self._scores_few_one_by_one = frozenset(
            p.name for p in self.scores if is_in_tree(p) and type(p).score is not ScorePlugin.score
        )
        # The judging plugins that never have a signature, in order.
        self.unsigned = tuple(p.name for p in self.judges if p.sign is None)
        self.signers = Signers(name, self.judges)
        self.sign = self.signers.sign  # what the judging plugins look at in a pod
        self.readings = Readings(self.judges, self.pre_filters, self.filters, self.pre_scores)

    def guard(self, pod: Pod) -> None:
        """Make the pod's maps read-only before plugins from outside see it."""
        if self.has_outside_plugins:
            make_read_only(pod)

    # --- queue -----------------------------------------------------------------------------------

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status:
        """Ask PreEnqueue; the first refusal gates the pod. The plugin ``first`` is asked first."""
        self.guard(pod)
        refusal = self._gated(pod, first)
        self.calls.report_queueing()
        return refusal or SUCCESS

    def _gated(self, pod: Pod, first: str) -> Status | None:
        plugins: Sequence[PreEnqueuePlugin] = self.pre_enqueues
        if first:  # the sort keeps the others in order
            plugins = sorted(plugins, key=lambda plugin: plugin.name != first)
        for plugin in plugins:
            status = self.calls.at("PreEnqueue").ask(plugin, pod, partial(plugin.pre_enqueue, pod))
            if not status.ok:
                return status.by(plugin.name)
        return None

    # --- PreFilter -------------------------------------------------------------------------------

    def run_pre_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> PreFiltered:
        """Run the PreFilters in order, until one of them ends it."""
        return combine(
            self.pre_filters, {}, lambda plugin: self.pre_filter(plugin, state, pod, nodes), state
        )

    def pre_filter(
        self, plugin: PreFilterPlugin, state: CycleState, pod: Pod, nodes: Rows
    ) -> PreFilterAnswer:
        """Run one PreFilter; a fault ends the attempt."""
        begin, names = self._now(), None
        state._asked = plugin.name
        try:
            answer = plugin.pre_filter(state, pod, nodes)
            if isinstance(answer, PreFilterResult):
                names, answer = frozenset(answer.node_names), None
            status = as_status(answer)
        except FAULTS as fault:
            status = fault_of(plugin, "PreFilter", pod, fault)
        self._pre_filtering[plugin.name].answered(begin, status)
        if status is SUCCESS or status.ok or status.is_skip:
            return names, status
        if status.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
            return None, status.by(plugin.name)
        text = f'running PreFilter plugin "{plugin.name}": {status.message}'
        raise AttemptFailed(Status.error(text).by(plugin.name)) from status.cause

    def follows_pods(self, state: CycleState) -> bool:
        return bool(self._followers(state))

    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        for plugin in self._followers(state):
            self._follow("AddPod", plugin, pod, partial(plugin.add_pods, state, pod, others))

    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        for plugin in self._followers(state):
            self._follow("RemovePod", plugin, pod, partial(plugin.remove_pods, state, pod, others))

    def _follow(
        self, what: str, plugin: Plugin, pod: Pod, call: Callable[[], Status | None]
    ) -> None:
        status = self.calls.at(f"PreFilterExtension{what}").ask(plugin, pod, call)
        if not status.ok:
            text = f'running {what} on PreFilter plugin "{plugin.name}": {status.message}'
            raise AttemptFailed(Status.error(text).by(plugin.name))

    def _followers(self, state: CycleState) -> list[PreFilterExtensions]:
        return [plugin for plugin in self._extensions if plugin.name not in state.skip_filter]

    # --- Filter ----------------------------------------------------------------------------------

    def run_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        """Return the first refusal of each node by the filters in order; ignores nominations."""
        verdicts: list[Status] = [SUCCESS]
        index = np.zeros(len(nodes), np.intp)
        standing = np.arange(len(nodes))
        for plugin in self.filters:
            if plugin.name in state.skip_filter:
                continue
            if not len(standing):
                break
            rows = nodes if len(standing) == len(nodes) else subset(nodes, standing)
            statuses = self.filter_all(plugin, state, pod, rows)
            refused = refusals(statuses)
            if refused.any():
                index[standing] = np.where(refused, statuses.index + len(verdicts), 0)
                verdicts += statuses.values
                standing = standing[~refused]
        return Column(verdicts, index)

    def filter_all(
        self, plugin: FilterPlugin, state: CycleState, pod: Pod, nodes: Rows
    ) -> Statuses:
        """Ask one plugin about these nodes. Refusals name the plugin; a fault ends the attempt."""
        begin = self._now()
        try:
            statuses = as_statuses(plugin.filter_all(state, pod, nodes), nodes)
        except FAULTS as fault:
            raise self._filter_failed(plugin, pod, fault, begin) from fault
        verdicts = verdicts_of(plugin, statuses)
        self._filtering[plugin.name].note(begin, len(nodes))
        return verdicts

    def filter_one(
        self, plugin: FilterPlugin, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status:
        """Ask one plugin about one node, by the same rules."""
        begin = self._now()
        try:
            status = as_status(plugin.filter(state, pod, node))
        except FAULTS as fault:
            raise self._filter_failed(plugin, pod, fault, begin) from fault
        self._filtering[plugin.name].note(begin)
        return verdict_of(plugin, status)

    def count_refusals(self, rejections: Rejections) -> None:
        """Count how many nodes each filter refused in an attempt, kept answers included."""
        for plugin, nodes in rejections.refused.items():
            if plugin:  # empty for an extender
                self._filtering[plugin].rejections += nodes

    def _filter_failed(
        self, plugin: Plugin, pod: Pod, fault: BaseException, begin: float
    ) -> AttemptFailed:
        self._filtering[plugin.name].failed(begin)
        text = f'running "{plugin.name}" filter plugin: '
        return AttemptFailed(reported_error(plugin, "Filter", pod, fault, text))

    # --- PostFilter ------------------------------------------------------------------------------

    def run_post_filters(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterAnswer:
        """Ask PostFilter plugins until one helps; join the reasons of those that do not."""
        return unasked(self.post_filtering(state, pod, statuses))

    def post_filtering(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> PostFiltering:
        """Run PostFilter step by step, so that extenders can be asked about preemptions."""
        nominate: Nominate | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self.post_filters:
            begin = self._now()
            try:
                if isinstance(plugin, PreemptionPlugin):
                    wish, status = yield from preempting(plugin, state, pod, statuses)
                else:
                    wish, status = plugin.post_filter(state, pod, statuses)
                status = as_status(status)
            except FAULTS as fault:
                if isinstance(fault, GeneratorExit) and isinstance(plugin, PreemptionPlugin):
                    raise  # the driver has closed this generator
                text = f'running PostFilter plugin "{plugin.name}": '
                wish, status = None, reported_error(plugin, "PostFilter", pod, fault, text)
            self.calls.at("PostFilter")[plugin.name].answered(begin, status)
            if status.ok:
                return wish, status
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return wish, status.by(plugin.name)
            if not status.is_rejection:
                return None, Status(Code.ERROR, status.details, plugin.name, status.cause)
            nominate = wish or nominate
            reasons += status.reasons
            rejector = rejector or plugin.name
        return nominate, Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)

    # --- Score -----------------------------------------------------------------------------------

    def pre_score(self, plugin: PreScorePlugin, state: CycleState, pod: Pod, nodes: Rows) -> Status:
        """Run one PreScore. It returns success or skip; anything else ends the attempt."""
        begin = self._now()
        state._asked = plugin.name
        try:
            status = as_status(plugin.pre_score(state, pod, nodes))
        except FAULTS as fault:
            status = fault_of(plugin, "PreScore", pod, fault)
        self._pre_scoring[plugin.name].answered(begin, status)
        if status.ok or status.is_skip:
            return status
        text = f'running PreScore plugin "{plugin.name}": {status.message}'
        raise AttemptFailed(Status.error(text).by(plugin.name)) from status.cause

    def score_all(self, plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        begin = self._now()
        try:
            if len(nodes) <= _FEW and plugin.name in self._scores_few_one_by_one:
                few = [as_score(plugin.score(state, pod, node)) for node in nodes]
                scores = np.array(few, np.int64)
            else:
                scores = as_scores(plugin.score_all(state, pod, nodes), nodes)
        except FAULTS as fault:
            raise self._score_failed(plugin, pod, fault, begin) from fault
        self._scoring[plugin.name].note(begin, len(nodes))
        return scores

    def score_one(self, plugin: ScorePlugin, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """Score one node, for a plugin that does not normalize. The score must be in 0..100."""
        begin = self._now()
        try:
            score = as_score(plugin.score(state, pod, node))
        except FAULTS as fault:
            raise self._score_failed(plugin, pod, fault, begin) from fault
        self._scoring[plugin.name].note(begin)
        if not 0 <= score <= MAX_SCORE:
            check_range(plugin, np.array([score], np.int64))
        return score

    def _score_failed(
        self, plugin: Plugin, pod: Pod, fault: BaseException, begin: float
    ) -> AttemptFailed:
        self._scoring[plugin.name].failed(begin)
        text = f'running Score plugins: plugin "{plugin.name}" failed with: '
        return AttemptFailed(reported_error(plugin, "Score", pod, fault, text))

    def normalize(
        self, plugin: ScorePlugin, state: CycleState, pod: Pod, scores: Scores, nodes: Rows
    ) -> Scores:
        """Return the normalized scores, which must be in 0..100."""
        begin, count = self._now(), self.calls.at("ScoreExtensionNormalize")[plugin.name]
        try:
            normalized = as_scores(plugin.normalize_score(state, pod, scores, nodes), nodes)
        except FAULTS as fault:
            count.failed(begin)
            text = f'running Normalize on Score plugins: plugin "{plugin.name}" failed with: '
            raise AttemptFailed(
                reported_error(plugin, "NormalizeScore", pod, fault, text)
            ) from fault
        count.note(begin)
        check_range(plugin, normalized)
        return normalized


_FEW = 4  # below this many nodes the per-node form is cheaper than arrays of one


def subset(nodes: Rows, positions: NDArray[np.intp]) -> Rows:
    """Return the nodes at these positions of a view."""
    return Rows(nodes.cluster, nodes.index[positions], nodes.overlay)


def refusals(statuses: Statuses) -> NDArray[np.bool_]:
    """Return which nodes were refused."""
    first, *others = [status.ok for status in statuses.values] or [True]
    if not others:
        return np.full(len(statuses), not first, np.bool_)
    refused: NDArray[np.bool_]
    if first and not any(others):  # the usual case, and quickly found
        refused = statuses.index != 0
    else:
        refused = statuses.map(lambda status: not status.ok).to_array(np.bool_)
    return refused
