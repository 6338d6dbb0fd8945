"""Two-pass filtering: a node must take the pod with its nominated pods there, and without them."""

from __future__ import annotations

from functools import partial

import numpy as np

from podium.api.objects import Pod
from podium.framework.cycle_state import CycleState
from podium.framework.nominated_rows import NominatedPods
from podium.framework.plugin import Statuses
from podium.framework.profile import Profile, refusals, subset
from podium.framework.status import Status
from podium.state.column import Column
from podium.state.overlay import Overlay
from podium.state.rows import PodsOnRows, Rows, table_of


def filter_with_nominated(
    profile: Profile, state: CycleState, pod: Pod, nodes: Rows, nominated: NominatedPods | None
) -> Statuses:
    """Run the filters on nodes of which some have nominated pods."""
    if nominated is None:
        return profile.run_filters(state, pod, nodes)
    crowded = nominated.are_on(nodes.index)
    if not crowded.any():
        return profile.run_filters(state, pod, nodes)
    some = subset(nodes, np.flatnonzero(crowded))
    first = filter_crowded(profile, state, pod, some, nominated)
    # Pass one decides for the nodes it refuses; the others are judged as they stand.
    again = ~crowded
    again[np.flatnonzero(crowded)] = ~refusals(first)
    second = profile.run_filters(state, pod, subset(nodes, np.flatnonzero(again)))
    verdicts: list[Status] = [*first.values, *second.values]
    index = np.zeros(len(nodes), np.intp)
    index[crowded] = first.index
    index[again] = second.index + len(first.values)
    return Column(verdicts, index)


def filter_crowded(
    profile: Profile, state: CycleState, pod: Pod, nodes: Rows, nominated: NominatedPods
) -> Statuses:
    """Pass one: judge each node with its nominated pods on it."""
    overlay = Overlay.over(table_of(nodes), nodes.index, nodes.overlay)
    overlay.add_summed(nominated.requested(nodes.index), partial(nominated.on, nodes.index))
    crowded = Rows(nodes.cluster, nodes.index, overlay)
    if not profile.follows_pods(state):
        return profile.run_filters(state, pod, crowded)
    copy = state.clone()
    profile.add_pods(copy, pod, PodsOnRows(crowded, *nominated.on(nodes.index)))
    return profile.run_filters(copy, pod, crowded)
