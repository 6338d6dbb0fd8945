"""assert_forms_agree: a plugin says the same about a node, asked for one or for all at once.

The form over all nodes is there for speed, and may not have a rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.framework.answers import MAX_SCORE, AttemptFailed
from podium.framework.args import Args
from podium.framework.cycle_state import CycleState
from podium.framework.plugin import PreFilterExtensions, ScorePlugin
from podium.framework.profile import Profile
from podium.framework.status import as_status
from podium.state.pod_info import PodInfo
from podium.state.rows import PodsOnRows, Rows
from podium.testing.cases import each_generated, replica
from podium.testing.handle import FakeHandle
from podium.testing.subject import Objects, Subject, error_of


def assert_forms_agree(
    plugin: Any,
    pod: Pod | None = None,
    objects: Objects | FakeHandle = (),
    *,
    like: Objects = (),
    args: Args | None = None,
) -> None:
    """``filter`` and ``filter_all`` agree, and ``score`` and ``score_all``, and in a dry run also
    ``add_pod`` and ``add_pods``, ``remove_pod`` and ``remove_pods``.

    Judged are this pod on a cluster of these objects; without a pod, generated pods on generated
    clusters, for which hypothesis must be installed. Nodes and pods that are ``like`` yours, with
    the labels and resources that the plugin looks at, are then mixed in.
    """
    if pod is not None:
        check_forms(Subject(plugin, objects, args), pod)
        return
    each_generated(lambda case: check_forms(Subject(plugin, case.objects, args), case.pod), like)


def check_forms(subject: Subject, pod: Pod) -> None:
    """On all nodes, on some of them, and with pods that a dry run puts there or takes away."""
    profile, state = subject.profile, CycleState()
    nodes = subject.handle.rows
    if not len(nodes) or not _prepared(profile, state, pod, nodes):
        return
    for rows in _views(nodes.index):
        some = Rows(subject.cluster, rows)
        check_filters(profile, (state, state), pod, some)
        check_scores(profile, state, pod, some)
    for move in _moves(subject):
        _check_dry_run(subject, state, pod, move)


def _prepared(profile: Profile, state: CycleState, pod: Pod, nodes: Rows) -> bool:
    """Run PreFilter; false when there is nothing to ask the filters."""
    try:
        return profile.run_pre_filters(state, pod, nodes).status.ok
    except AttemptFailed as failed:
        error_of(failed)
        return False


def _views(rows: NDArray[np.intp]) -> Sequence[NDArray[np.intp]]:
    """All rows, and parts of them, for which columns cannot be read in place."""
    return [view for view in (rows, rows[1:], rows[::2]) if len(view)]


def check_filters(
    profile: Profile, states: tuple[CycleState, CycleState], pod: Pod, nodes: Rows
) -> None:
    """Each filter that takes part: the first state for asking one by one, the other for all."""
    for plugin in profile.filters:
        if plugin.name in states[0].skip_filter:
            continue
        one_by_one = [as_status(plugin.filter(states[0], pod, node)) for node in nodes]
        together = list(plugin.filter_all(states[1], pod, nodes).map(as_status))
        _compare(f"{plugin.name}: filter and filter_all", one_by_one, together, nodes)


def check_scores(profile: Profile, state: CycleState, pod: Pod, nodes: Rows) -> None:
    """Each score that takes part; after normalizing it is in 0..100."""
    state = state.fork()
    try:
        skipped = {
            plugin.name
            for plugin in profile.pre_scores
            if profile.pre_score(plugin, state, pod, nodes).is_skip
        }
    except AttemptFailed as failed:
        error_of(failed)
        return
    for plugin in profile.scores:
        if plugin.name not in skipped:
            _check_score(plugin, state, pod, nodes)


def _check_score(plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: Rows) -> None:
    one_by_one = [plugin.score(state, pod, node) for node in nodes]
    scores = np.asarray(plugin.score_all(state, pod, nodes), np.int64)
    _compare(f"{plugin.name}: score and score_all", one_by_one, scores.tolist(), nodes)
    normalized = plugin.normalize_score(state, pod, scores, nodes)
    outside = [score for score in normalized.tolist() if not 0 <= score <= MAX_SCORE]
    assert not outside, f"{plugin.name}: normalized scores must be in 0..100, not {outside}"


def _compare(what: str, one_by_one: list[Any], together: list[Any], nodes: Rows) -> None:
    assert len(together) == len(nodes), f"{what}: {len(together)} answers for {len(nodes)} nodes"
    for name, alone, among in zip(nodes.names, one_by_one, together, strict=True):
        assert alone == among, f"{what} differ about node {name}: {alone} alone, {among} among all"


# --- dry runs -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Move:
    """Pods that come to their rows, or leave them."""

    infos: list[PodInfo]
    rows: NDArray[np.intp]
    comes: bool


def _moves(subject: Subject) -> Iterator[_Move]:
    """All running pods leave their nodes; all come a second time."""
    live = set(subject.handle.rows.index.tolist())
    infos = [info for info in subject.cluster.pods.values() if info.row in live]
    if infos:
        rows = np.array([info.row for info in infos], np.intp)
        yield _Move(infos, rows, comes=False)
        twins = [PodInfo(replica(info.pod, f"{info.uid}-twin")) for info in infos]
        yield _Move(twins, rows, comes=True)


def _check_dry_run(subject: Subject, state: CycleState, pod: Pod, move: _Move) -> None:
    """What PreFilters know follows the pods one by one, or all at once."""
    rows = np.unique(move.rows)
    overlay = subject.cluster.overlay(rows)
    (overlay.add if move.comes else overlay.remove)(move.infos, move.rows)
    nodes = Rows(subject.cluster, rows, overlay)
    others = PodsOnRows(nodes, move.infos, move.rows)
    alone, together = state.clone(), state.clone()
    for plugin in subject.profile.pre_filters:
        if isinstance(plugin, PreFilterExtensions) and plugin.name not in state.skip_filter:
            follow = plugin.add_pod if move.comes else plugin.remove_pod
            for info, node in others:
                follow(alone, pod, info, node)
            (plugin.add_pods if move.comes else plugin.remove_pods)(together, pod, others)
    check_filters(subject.profile, (alone, together), pod, nodes)
