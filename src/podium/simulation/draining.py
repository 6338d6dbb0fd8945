"""Drain nodes: evict their pods as budgets allow, and schedule the replacements."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from podium.api.objects import Node, Pod, Taint
from podium.simulation.budgets import Budgets, pods_on
from podium.simulation.kinds import NODE, POD
from podium.simulation.replacing import is_replaced, replacement, stays_with_node
from podium.simulation.results import Blocked, DrainResult, Move, ScheduleResult, Victim
from podium.simulation.world import World

CORDONED = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


class Drain:
    """One drain. ``schedule`` places what is pending, and is called after each round."""

    def __init__(
        self, world: World, schedule: Callable[[], ScheduleResult], *, ignores_budgets: bool
    ) -> None:
        self._world = world
        self._schedule = schedule
        self._budgets = None if ignores_budgets else Budgets(world)
        self._evicted: list[Pod] = []
        self._lost: list[str] = []
        self._victims: list[Victim] = []
        self._last = ScheduleResult()

    def run(self, nodes: tuple[str, ...]) -> DrainResult:
        before = {queued.key for queued in self._world.scheduling.queue.pods()}
        for name in nodes:
            self._cordon(name)
        pods = [pod for pod in pods_on(self._world, nodes) if not pod.is_terminating]
        waiting = [pod for pod in pods if not stays_with_node(pod)]
        rounds = 0
        while waiting:
            left = self._evict(waiting)
            if len(left) == len(waiting):
                break
            waiting, rounds = left, rounds + 1
        return DrainResult(
            nodes=nodes,
            moves=tuple(Move(pod.key, pod.node_name, self._node_of(pod)) for pod in self._evicted),
            unplaced=tuple(each for each in self._last.unplaced if each.pod not in before),
            victims=tuple(self._victims),
            blocked=tuple(self._blocked(pod) for pod in waiting),
            lost=tuple(self._lost),
            left=tuple(pod.key for pod in pods if stays_with_node(pod)),
            rounds=rounds,
        )

    def _cordon(self, name: str) -> None:
        node = self._world.find(NODE, name)
        assert isinstance(node, Node)
        others = tuple(each for each in node.spec.taints if each.key != CORDONED.key)
        spec = replace(node.spec, unschedulable=True, taints=(*others, CORDONED))
        self._world.put(replace(node, spec=spec))

    def _evict(self, waiting: Iterable[Pod]) -> list[Pod]:
        """Evict what budgets allow, and schedule the replacements; return the other pods."""
        left, replaced = [], []
        for pod in waiting:
            self._world.check()
            if self._budgets is not None and self._budgets.blocking(pod):
                left.append(pod)
                continue
            if self._budgets is not None:
                self._budgets.change(pod, -1)
            if self._leave(pod):
                replaced.append(pod)
        self._last = self._schedule()
        self._victims += self._last.victims
        for pod in replaced:
            if self._budgets is not None and self._node_of(pod):
                self._budgets.change(pod, 1)  # the replacement is healthy
        return left

    def _leave(self, pod: Pod) -> bool:
        """Remove a pod from its node. Return whether a controller replaces it."""
        self._world.delete(POD, pod.key)
        if not is_replaced(pod):
            self._lost.append(pod.key)
            return False
        self._evicted.append(pod)
        self._world.put(replacement(pod))
        return True

    def _node_of(self, pod: Pod) -> str:
        found = self._world.pod(pod.key)
        return "" if found is None else found.node_name

    def _blocked(self, pod: Pod) -> Blocked:
        budgets = self._budgets.blocking(pod) if self._budgets is not None else []
        return Blocked(pod.key, pod.node_name, tuple(budgets))
