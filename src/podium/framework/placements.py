"""Placements: sets of nodes, of which one takes all members of a pod group.

Plugins propose them (PlacementGenerate) and compare those that fit (PlacementScore). They are asked
with the feature gate TopologyAwareWorkloadScheduling only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

import numpy as np

from podium.api.pod_groups import SchedulingGroup
from podium.framework.answers import MAX_SCORE
from podium.framework.calls import FAULTS
from podium.framework.plugin import PlacementScorePlugin, Plugin
from podium.framework.profile import Profile
from podium.framework.scores import Scores, as_score
from podium.framework.status import SUCCESS, Status, as_status, text_of
from podium.logs import get_logger
from podium.state.pod_info import PodInfo
from podium.state.rows import Rows

log = get_logger(__name__)

GENERATE: Final = "PlacementGenerate"
SCORE: Final = "PlacementScore"
NORMALIZE: Final = "PlacementScoreExtensionNormalize"
NONE_FEASIBLE: Final = "no feasible placements found"

T = TypeVar("T")


class Placement(NamedTuple):
    """Nodes that a group may use, under a name such as that of their zone."""

    name: str
    nodes: Rows


class Assignment(NamedTuple):
    """A member that found a node."""

    pod: PodInfo
    node_name: str


class GroupAssignments(NamedTuple):
    """The nodes of a group's members in a placement that fits."""

    placement: Placement
    members: Sequence[Assignment]


def run_placement_generate(
    profile: Profile, group: SchedulingGroup, nodes: Rows
) -> tuple[Sequence[Placement], Status]:
    """Ask the first plugin; without one there is a single placement of all nodes."""
    parent = Placement("", nodes)
    if not profile.placement_generators:
        return [parent], SUCCESS
    plugin = profile.placement_generators[0]
    begin = profile.calls.timer()
    try:
        answer = plugin.generate_placements(group, parent)
        found, status = ([], as_status(answer)) if isinstance(answer, Status) else (answer, SUCCESS)
    except FAULTS as fault:
        found, status = [], _fault(plugin, GENERATE, group, fault)
    if status.ok and not found:
        status = Status.unschedulable(NONE_FEASIBLE)
    profile.calls.at(GENERATE)[plugin.name].answered(begin, status)
    return found, status if status.ok else status.by(plugin.name)


def run_placement_scores(
    profile: Profile, group: SchedulingGroup, candidates: Sequence[GroupAssignments]
) -> Scores | Status:
    """Return the total score of each candidate, or the error of the first plugin that fails."""
    scores: list[Scores] = []
    for plugin in profile.placement_scores:
        given = _ask(profile, plugin, SCORE, group, partial(_scores, plugin, group, candidates))
        if isinstance(given, Status):
            return _failed(f"running {SCORE} plugins", plugin, given)
        scores.append(given)
    total = np.zeros(len(candidates), np.int64)
    for plugin, raw in zip(profile.placement_scores, scores, strict=True):
        normal = _ask(profile, plugin, NORMALIZE, group, partial(_normalized, plugin, group, raw))
        if isinstance(normal, Status):
            return _failed(f"running NormalizePlacementScore on {SCORE} plugins", plugin, normal)
        outside = normal[(normal < 0) | (normal > MAX_SCORE)]
        if len(outside):
            what = f'plugin "{plugin.name}" returns an invalid score {outside[0]}, it should in '
            what += f"the range of [0, {MAX_SCORE}] after normalizing"
            return Status.error(f"applying score defaultWeights on {SCORE} plugins: {what}")
        total += normal * profile.placement_weights.get(plugin.name, 1)
    return total


def _scores(
    plugin: PlacementScorePlugin, group: SchedulingGroup, candidates: Sequence[GroupAssignments]
) -> Scores:
    found = [as_score(plugin.score_placement(group, each)) for each in candidates]
    return np.array(found, np.int64)


def _normalized(plugin: PlacementScorePlugin, group: SchedulingGroup, scores: Scores) -> Scores:
    return np.asarray(plugin.normalize_placement_scores(group, scores.copy()), np.int64)


def _ask(
    profile: Profile, plugin: Plugin, point: str, group: SchedulingGroup, call: Callable[[], T]
) -> T | Status:
    begin = profile.calls.timer()
    answer: T | Status
    try:
        answer, status = call(), SUCCESS
    except FAULTS as fault:
        answer = status = _fault(plugin, point, group, fault)
    profile.calls.at(point)[plugin.name].answered(begin, status)
    return answer


def _fault(plugin: Plugin, point: str, group: SchedulingGroup, fault: BaseException) -> Status:
    log.error("plugin failed", plugin=plugin.name, point=point, group=group.key)
    return Status.error(text_of(fault))


def _failed(what: str, plugin: Plugin, status: Status) -> Status:
    return Status.error(f'{what}: plugin "{plugin.name}" failed with: {status.message}')
