"""Which node a loop that only binds takes next, and which pods must leave it first. No I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from podium.api.objects import Node, Pod
from podium.api.resources import PODS, allocatable, spec_requests


@dataclass
class _NodeRoom:
    """What a node has and which pods are on it, by key."""

    name: str
    has: dict[str, int]
    pods: dict[str, Pod] = field(default_factory=dict)

    def victims(self, pod: Pod) -> list[Pod] | None:
        """Return the pods of lower priority that make room for this one; ``None`` if none can."""
        left = Counter(self.has)
        for other in self.pods.values():
            left.subtract(_requests(other))
        left.subtract(_requests(pod))
        chosen: list[Pod] = []
        lower = (other for other in self.pods.values() if other.priority < pod.priority)
        for other in sorted(lower, key=lambda other: other.priority):
            if not _is_short(left):
                break
            left.update(_requests(other))
            chosen.append(other)
        return None if _is_short(left) else chosen


class Rooms:
    """The nodes in turn. Whether a pod fits matters only if other pods can be evicted for it."""

    def __init__(self) -> None:
        self._nodes: dict[str, _NodeRoom] = {}
        self._order: list[_NodeRoom] = []
        self._next = 0
        self._node_of: dict[str, str] = {}  # by the key of the pod
        self._priorities: Counter[int] = Counter()  # of all pods that are on a node

    @property
    def is_empty(self) -> bool:
        return not self._order

    def see_node(self, old: Node | None, new: Node | None) -> None:
        if new is None:
            assert old is not None
            gone = self._nodes.pop(old.name)
            self._order.remove(gone)
        elif (known := self._nodes.get(new.name)) is not None:
            known.has = allocatable(new)
        else:
            known = self._nodes[new.name] = _NodeRoom(new.name, allocatable(new))
            self._order.append(known)

    def see_pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            assert old is not None
            self.remove(old)
        elif new.node_name and not new.is_terminating and new.key not in self._node_of:
            self._put(new, new.node_name)

    def take(self, pod: Pod) -> tuple[str, list[Pod]]:
        """Put the pod on the next node; return its name, and the pods to delete before."""
        lowest = min((value for value, pods in self._priorities.items() if pods), default=None)
        node, victims = self._following(), list[Pod]()
        if lowest is not None and lowest < pod.priority:
            node, victims = self._with_room(pod)
        for victim in victims:
            self.remove(victim)
        self._put(pod, node.name)
        return node.name, victims

    def _with_room(self, pod: Pod) -> tuple[_NodeRoom, list[Pod]]:
        for _ in self._order:
            node = self._following()
            victims = node.victims(pod)
            if victims is not None:
                return node, victims
        return self._following(), []

    def _following(self) -> _NodeRoom:
        self._next = (self._next + 1) % len(self._order)
        return self._order[self._next]

    def _put(self, pod: Pod, node_name: str) -> None:
        self._node_of[pod.key] = node_name
        self._priorities[pod.priority] += 1
        if (node := self._nodes.get(node_name)) is not None:
            node.pods[pod.key] = pod

    def remove(self, pod: Pod) -> None:
        name = self._node_of.pop(pod.key, None)
        if name is None:
            return
        self._priorities[pod.priority] -= 1
        if (node := self._nodes.get(name)) is not None:
            node.pods.pop(pod.key, None)


def _requests(pod: Pod) -> dict[str, int]:
    return {**spec_requests(pod)[0], PODS: 1}


def _is_short(left: Counter[str]) -> bool:
    return any(amount < 0 for amount in left.values())
