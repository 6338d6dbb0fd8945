"""How many more pods like one fit, where, and what runs out first.

Where only a node's own free resources decide, the number is worked out for all nodes at once.
Otherwise pods are added and scheduled until no more fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from itertools import count, islice
from typing import Final, NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.errors import SimulationError, did_you_mean
from podium.framework.answers import AttemptFailed
from podium.framework.cycle_state import CycleState
from podium.framework.plugin import Statuses
from podium.framework.profile import Profile, refusals
from podium.framework.resource_filter import FilterRule
from podium.framework.status import Status
from podium.simulation.results import FitResult, Limit, NodeCount
from podium.simulation.world import World
from podium.state.column import Column
from podium.state.overlay import Overlay
from podium.state.pod_info import PodInfo
from podium.state.rows import Rows

Reasons = Counter[str]  # the number of nodes that gave each reason
_FIRST_BATCH, _LARGEST_BATCH = 16, 4096
_NO_PODS: Final = (), np.zeros(0, np.intp)


class Judged(NamedTuple):
    """What PreFilter and Filter say about one pod: a status for each node of ``nodes``."""

    nodes: Rows
    statuses: Statuses
    reasons: Reasons
    state: CycleState


def profile_of(world: World, pod: Pod) -> Profile:
    """Return the profile of a pod; raise ``SimulationError`` if there is none."""
    profiles = world.core.profiles
    profile = profiles.get(pod.scheduler_name)
    if profile is None:
        hint = did_you_mean(pod.scheduler_name, profiles)
        raise SimulationError(f'{pod.key}: no profile is named "{pod.scheduler_name}"{hint}')
    return profile


def judge(world: World, pod: Pod) -> Judged:
    """Ask the filters about all nodes. A plugin that fails is a ``SimulationError``."""
    world.check()
    profile, cluster = profile_of(world, pod), world.core.cluster
    cluster.begin_cycle()
    nodes, state = cluster.rows(), CycleState()
    try:
        entered = profile.run_pre_enqueue(pod)
        pre = profile.run_pre_filters(state, pod, nodes)
        if not (entered.ok and pre.status.ok):
            return _refused(nodes, pre.status if entered.ok else entered, state)
        if pre.node_names is not None:
            names = [cluster.table.live_row(name) for name in sorted(pre.node_names)]
            rows = np.array(sorted(row for row in names if row is not None), np.intp)
            statuses = profile.run_filters(state, pod, Rows(cluster, rows))
            reasons = _reasons(statuses)
            reasons["node(s) didn't match the pod's required nodes"] += len(nodes) - len(rows)
            return Judged(Rows(cluster, rows), statuses, reasons, state)
        statuses = profile.run_filters(state, pod, nodes)
    except AttemptFailed as failure:
        raise SimulationError(f"{pod.key}: {failure.status.message}") from failure
    return Judged(nodes, statuses, _reasons(statuses), state)


def _refused(nodes: Rows, status: Status, state: CycleState) -> Judged:
    none = nodes.index[:0]
    reasons = Counter(dict.fromkeys(status.reasons, len(nodes)))
    return Judged(Rows(nodes.cluster, none), Column([], none), reasons, state)


def _reasons(statuses: Statuses) -> Reasons:
    found: Reasons = Counter()
    sizes = np.bincount(statuses.index, minlength=len(statuses.values)).tolist()
    for status, size in zip(statuses.values, sizes, strict=True):
        if size and not status.ok:
            found.update(dict.fromkeys(status.reasons, size))
    return found


def fit_by_needs(world: World, pod: Pod) -> FitResult | None:
    """Work the answer out from free resources; ``None`` if something else decides, too."""
    profile = profile_of(world, pod)
    if profile.has_outside_plugins or len(world.core.nominator):
        return None
    judged = judge(world, pod)
    if not len(judged.nodes):
        return FitResult(pod.key, 0, (), limits(judged.reasons), limits(judged.reasons))
    rule = FilterRule(profile, judged.state, pod)
    needs = [(name, amount) for name, amount in rule.needs if amount > 0]
    if not (rule.decided_by_needs and needs):
        return None
    rows = judged.nodes.index[~refusals(judged.statuses)]
    nodes = Rows(world.core.cluster, rows)
    room = np.min([nodes.free(name) // amount for name, amount in needs], axis=0)
    left = _when_full(world, pod, judged.state, rows, room)
    if left is None:
        return None
    counts = zip(nodes.names, room.tolist(), strict=True)
    by_node = sorted((NodeCount(*each) for each in counts if each[1]), key=_largest_first)
    full = left + judged.reasons
    return FitResult(pod.key, int(room.sum()), tuple(by_node), limits(full), limits(judged.reasons))


def _when_full(
    world: World, pod: Pod, state: CycleState, rows: NDArray[np.intp], room: NDArray[np.int64]
) -> Reasons | None:
    """Return why full nodes take no more; ``None`` if the filters still accept one.

    So the plugins themselves confirm what was worked out.
    """
    cluster, profile = world.core.cluster, profile_of(world, pod)
    overlay = Overlay(cluster.table, rows)
    amounts = overlay.amounts_of([PodInfo(pod)])
    overlay.add_summed(amounts * room, lambda: _NO_PODS)
    statuses = profile.run_filters(state, pod, Rows(cluster, rows, overlay))
    return _reasons(statuses) if refusals(statuses).all() else None


def limits(reasons: Reasons) -> tuple[Limit, ...]:
    """Return the reasons by how many nodes have them, the most frequent first."""
    listed = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Limit(reason, nodes) for reason, nodes in listed if nodes)


class Trial(Protocol):
    """A fork of a simulation, in which pods are added until no more fit."""

    @property
    def pods(self) -> Mapping[str, Pod]: ...
    def add(self, *objects: Pod) -> object: ...
    def schedule(self) -> object: ...
    def judge(self, pod: Pod) -> Judged: ...


def fit_by_trial(trial: Trial, pod: Pod, most: int) -> FitResult:
    """Add pods in growing batches, and schedule them, until one of them finds no node."""
    start, number, batch = trial.judge(pod).reasons, 0, _FIRST_BATCH
    nodes: Counter[str] = Counter()
    others = _copies(pod, trial.pods)
    is_full = False
    while number < most and not is_full:
        copies = list(islice(others, min(batch, most - number)))
        trial.add(*copies)
        trial.schedule()
        placed = [trial.pods[each.key].node_name for each in copies]
        nodes.update(filter(None, placed))
        is_full = not all(placed)
        number, batch = number + len(copies), min(2 * batch, _LARGEST_BATCH)
    end = trial.judge(pod).reasons
    by_node = sorted((NodeCount(*each) for each in nodes.items()), key=_largest_first)
    return FitResult(
        pod.key, nodes.total(), tuple(by_node), limits(end), limits(start), is_complete=is_full
    )


def _copies(pod: Pod, taken: Container[str]) -> Iterator[Pod]:
    """Yield pods like this one, under names that no other has."""
    for number in count():
        name = f"{pod.name}-{number}"
        if f"{pod.namespace}/{name}" not in taken:
            meta = replace(pod.metadata, name=name, uid=f"{pod.uid}*{number}")
            yield replace(pod, metadata=meta)


def _largest_first(each: NodeCount) -> tuple[int, str]:
    return -each.pods, each.node
