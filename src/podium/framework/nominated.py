"""Two-pass filtering: a node must take the pod with its nominated pods there, and without them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.framework.cycle_state import CycleState
from podium.framework.nominator import Nominator
from podium.framework.plugin import Statuses
from podium.framework.profile import Profile, refusals, subset
from podium.framework.status import Status
from podium.state.cluster import ClusterState
from podium.state.column import Column
from podium.state.overlay import Overlay
from podium.state.pod_info import PodInfo
from podium.state.rows import PodsOnRows, Rows, table_of

_NOWHERE: NDArray[np.intp] = np.zeros(0, np.intp)


class NominatedPods:
    """The nominated pods that one pod must leave room for, and the rows they wait for."""

    def __init__(self, cluster: ClusterState, nominator: Nominator, pod: Pod) -> None:
        self.pods: list[PodInfo] = []
        self.pod_rows = self.rows = _NOWHERE
        if len(nominator):
            self._gather(cluster, nominator, pod)

    def _gather(self, cluster: ClusterState, nominator: Nominator, pod: Pod) -> None:
        waiting: list[tuple[int, PodInfo]] = []
        for name, pods in nominator.ahead_of(pod):
            row = cluster.table.live_row(name)
            if row is not None:
                waiting += [(row, other) for other in pods]
        waiting.sort(key=lambda pair: pair[0])
        self.pods = [other for _, other in waiting]
        self.pod_rows = np.array([row for row, _ in waiting], np.intp)
        self.rows = np.unique(self.pod_rows)

    def __bool__(self) -> bool:
        return bool(self.pods)

    def on(self, rows: NDArray[np.intp]) -> tuple[list[PodInfo], NDArray[np.intp]]:
        """Return the pods that wait for one of these rows, and the row of each."""
        inside = np.isin(self.pod_rows, rows)
        return [self.pods[position] for position in np.flatnonzero(inside)], self.pod_rows[inside]


def filter_with_nominated(
    profile: Profile, state: CycleState, pod: Pod, nodes: Rows, nominated: NominatedPods
) -> Statuses:
    """``run_filters`` for nodes of which some have nominated pods."""
    crowded = np.isin(nodes.index, nominated.rows) if nominated else np.zeros(len(nodes), np.bool_)
    if not crowded.any():
        return profile.run_filters(state, pod, nodes)
    first = _with_pods(profile, state, pod, subset(nodes, np.flatnonzero(crowded)), nominated)
    # Pass one decides for the nodes it refuses; the others are judged as they stand.
    again = ~crowded
    again[np.flatnonzero(crowded)] = ~refusals(first)
    second = profile.run_filters(state, pod, subset(nodes, np.flatnonzero(again)))
    verdicts: list[Status] = [*first.values, *second.values]
    index = np.zeros(len(nodes), np.intp)
    index[crowded] = first.index
    index[again] = second.index + len(first.values)
    return Column(verdicts, index)


def _with_pods(
    profile: Profile, state: CycleState, pod: Pod, nodes: Rows, nominated: NominatedPods
) -> Statuses:
    """Pass one: each node's world with its nominated pods on it."""
    pods, rows = nominated.on(nodes.index)
    overlay = Overlay.over(table_of(nodes), nodes.index, nodes.overlay)
    overlay.add(pods, rows)
    world = Rows(nodes.cluster, nodes.index, overlay)
    copy = state.clone()
    profile.add_pods(copy, pod, PodsOnRows(world, pods, rows))
    return profile.run_filters(copy, pod, world)
