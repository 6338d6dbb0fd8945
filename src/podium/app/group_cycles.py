"""What a ``GroupScheduler`` is built from, as feature gates choose it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from podium.api.objects import CompositePodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.app.core import Core
from podium.app.feature_gates import LiveOptions
from podium.cycle.group_cycle import GroupCycle
from podium.cycle.group_placements import PlacementGroupCycle
from podium.cycle.group_trees import TreeCycle
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.live.group_scheduler import StartGroupCycle
from podium.metrics import GroupMetrics, Metrics, PlacementMetrics


def group_parts(core: Core, options: LiveOptions, metrics: Metrics) -> dict[str, Any]:
    """Return the parts that a group scheduler has beside those of every scheduler.

    The metrics of groups are added to ``metrics``, unless they are there already.
    """
    counts = metrics.groups = metrics.groups or options.group_metrics(metrics.release)
    return {
        "profiles": core.profiles,
        "counts": counts,
        "start_group_cycle": group_cycles(core, counts),
        "policy_rule": options.policy_rule,
    }


def group_cycles(core: Core, counts: GroupMetrics) -> StartGroupCycle:
    """Return what starts the cycle of a group; ``counts`` are those that the gates ask for."""
    start = core.start_cycle
    if isinstance(counts, PlacementMetrics):
        more: dict[str, Any] = {"start_within": core.start_placement_cycle, "counts": counts}

        def start_group(
            profile: Profile, group: SchedulingGroup, members: Sequence[QueuedPod]
        ) -> PlacementGroupCycle:
            kind = TreeCycle if isinstance(group, CompositePodGroup) else PlacementGroupCycle
            return kind(core.services, profile, group, members, start, **more)

        return start_group
    return partial(GroupCycle, core.services, start_cycle=start)
