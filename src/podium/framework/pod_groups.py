"""What plugins may do about a whole pod group, in the cycle that places its members together."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import NamedTuple

from podium.api.pod_groups import SchedulingGroup
from podium.framework.calls import FAULTS
from podium.framework.group_trial import GroupTrial, Nominations
from podium.framework.plugin import PermitPlugin
from podium.framework.profile import Profile
from podium.framework.status import SUCCESS, Code, Status, as_status, text_of
from podium.logs import get_logger

log = get_logger(__name__)

POINT = "PlacementFeasible"
POST_FILTER = "PodGroupPostFilter"


class PlacementProgress(NamedTuple):
    """How many members are not tried yet, and how many have a node, running ones included."""

    remaining: int
    scheduled: int


class PlacementFeasiblePlugin(PermitPlugin):
    """A Permit that can tell early whether a group may still reach what it waits for."""

    @abstractmethod
    def placement_feasible(
        self, group: SchedulingGroup, progress: PlacementProgress
    ) -> Status | None:
        """Success: the group has enough. Wait: it may still get there. A rejection: it cannot."""


def run_placement_feasible(
    profile: Profile, group: SchedulingGroup, progress: PlacementProgress
) -> Status:
    """Ask every plugin: a rejection ends it, then one that waits counts more than success."""
    found = SUCCESS
    for plugin in profile.permits:
        if not isinstance(plugin, PlacementFeasiblePlugin):
            continue
        status = _ask(profile, plugin, partial(plugin.placement_feasible, group, progress))
        if status.code is Code.UNSCHEDULABLE:
            return status.by(plugin.name)
        if status.is_wait:
            found = status.by(plugin.name)
        elif not status.ok:
            return Status.error(_problem(status))
    return found


async def run_pod_group_post_filters(
    profile: Profile, trial: GroupTrial
) -> tuple[Nominations, Status]:
    """Ask plugins until one helps; join the reasons of those that do not."""
    reasons: list[str] = []
    rejector = ""
    for plugin in profile.pod_group_post_filters:
        count, begin = profile.calls.at(POST_FILTER)[plugin.name], profile.calls.timer()
        try:
            nominations, answer = await plugin.pod_group_post_filter(trial)
            status = as_status(answer)
        except Exception as fault:
            nominations, status = {}, Status.error(text_of(fault))
            log.error("plugin failed", plugin=plugin.name, point=POST_FILTER, group=trial.group.key)
        count.answered(begin, status)
        if status.ok:
            return nominations, status
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return nominations, status.by(plugin.name)
        if status.code is not Code.UNSCHEDULABLE:
            text = f'error in "{plugin.name}" PodGroupPostFilter plugins: {status.message}'
            return {}, Status.error(text).by(plugin.name)
        reasons += status.reasons
        rejector = rejector or plugin.name
    return {}, Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)


def _ask(profile: Profile, plugin: PermitPlugin, call: partial[Status | None]) -> Status:
    count, begin = profile.calls.at(POINT)[plugin.name], profile.calls.timer()
    try:
        status = as_status(call())
    except FAULTS as fault:
        status = Status.error(text_of(fault))
    count.answered(begin, status)
    return status


def _problem(status: Status) -> str:
    if status.code is Code.ERROR:
        return f"running PlacementFeasible plugin: {status.message}"
    return f"unexpected status from PlacementFeasible plugin: {status.code.value}"
