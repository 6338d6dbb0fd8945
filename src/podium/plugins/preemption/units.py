"""What preemption evicts as one: a pod, or all scheduled pods of a group that is evicted whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podium import framework as fwk
from podium.api.objects import CompositePodGroup, Pod
from podium.api.pod_groups import SchedulingGroup
from podium.framework.cluster_view import MAX_DEPTH, ClusterView
from podium.plugins.preemption.budgets import Budgets


class Unit(NamedTuple):
    """Pods that are evicted together or not at all.

    ``rank`` is 0 for a pod without a group, 1 for pods of a PodGroup, also a single one, and 2 for
    those of a CompositePodGroup.
    """

    pods: tuple[fwk.PodInfo, ...]
    priority: int
    rank: int
    started: int

    @property
    def is_group(self) -> bool:
        return bool(self.rank)

    @property
    def importance(self) -> tuple[int, int, int, int]:
        """A value that sorts units, the most important one first."""
        return -self.priority, -self.rank, -len(self.pods), self.started


class Units:
    """Finds the units of placed pods, as the groups are now."""

    def __init__(self, cluster: ClusterView, now: int) -> None:
        self._cluster = cluster
        self._trees = cluster.trees
        self._now = now

    def priority_of(self, pod: Pod) -> int:
        """Return the priority of the topmost known group, or the pod's own without a group."""
        lineage = self._lineage(pod)
        return lineage[-1].priority if lineage else pod.priority

    def _lineage(self, pod: Pod) -> list[SchedulingGroup]:
        group = self._trees.group_of(pod)
        return [] if group is None else self._trees.lineage(group)[:MAX_DEPTH]

    def of(self, pods: Iterable[fwk.PodInfo]) -> Iterator[Unit]:
        """Return the units that these pods belong to. A group may have pods on other nodes, too.

        The topmost group that is evicted whole counts.
        """
        seen: set[str] = set()
        for info in pods:
            lineage = self._lineage(info.pod)
            whole = next((each for each in reversed(lineage) if each.is_evicted_whole), None)
            priority = lineage[-1].priority if lineage else info.pod.priority
            if whole is None:
                yield self._unit((info,), priority, bool(info.pod.group_key))
            elif whole.entity_key not in seen:
                seen.add(whole.entity_key)
                rank = 2 if isinstance(whole, CompositePodGroup) else 1
                yield self._unit(self._scheduled(whole, info), priority, rank)

    def _scheduled(self, group: SchedulingGroup, info: fwk.PodInfo) -> tuple[fwk.PodInfo, ...]:
        placed, leaves = self._cluster.pods, self._trees.leaves(group)
        members = (pod for leaf in leaves for pod in self._cluster.members(leaf.key).scheduled())
        return tuple(placed[pod.uid] for pod in members if pod.uid in placed) or (info,)

    def _unit(self, pods: tuple[fwk.PodInfo, ...], priority: int, rank: int) -> Unit:
        return Unit(pods, priority, rank, min(info.started(self._now) for info in pods))


def split_by_budgets(
    units: Iterable[Unit], budgets: Budgets
) -> tuple[list[tuple[Unit, int]], list[Unit]]:
    """Separate the units whose eviction violates a budget, with how many of their pods do."""
    violating, harmless = [], []
    left: dict[str, int] = {}
    for unit in units:
        count = sum(budgets.overdraws(info, left) for info in unit.pods) if budgets else 0
        if count:
            violating.append((unit, count))
        else:
            harmless.append(unit)
    return violating, harmless
