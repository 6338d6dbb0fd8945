"""Pods that are being tried, and what happened in the cluster meanwhile.

What would have woken a pod while it was tried must not be lost: it is asked about when the pod
comes back.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass

from podium.framework.events import ClusterEvent

POPPED = "PodPopped"


@dataclass(frozen=True, slots=True)
class Happening:
    """An event with what it was about. ``label`` is its name in metrics."""

    event: ClusterEvent
    label: str
    old: object | None = None
    new: object | None = None


class InFlight:
    """Pods by uid and happenings, both numbered in one order; what no pod can ask for is gone."""

    def __init__(self) -> None:
        self._turn = 0
        # An OrderedDict finds its first key at once; a dict passes all that were deleted before.
        self._since: OrderedDict[str, int] = OrderedDict()
        self._happenings: deque[tuple[int, Happening]] = deque()

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, uid: str) -> bool:
        return uid in self._since

    def start(self, uid: str) -> None:
        self._since[uid] = self._next()

    def record(self, happening: Happening) -> None:
        """Keep it for all pods that are in flight now."""
        if self._since:
            self._happenings.append((self._next(), happening))

    def since(self, uid: str) -> list[Happening] | None:
        """What happened since the pod was taken; ``None`` when it is not in flight."""
        taken = self._since.get(uid)
        if taken is None:
            return None
        found = []
        for turn, happening in reversed(self._happenings):
            if turn < taken:
                break
            found.append(happening)
        found.reverse()
        return found

    def done(self, uid: str) -> None:
        if self._since.pop(uid, None) is None:
            return
        if not self._since:
            self._happenings.clear()
            return
        oldest = next(iter(self._since.values()))
        while self._happenings and self._happenings[0][0] < oldest:
            self._happenings.popleft()

    def counts(self) -> Counter[str]:
        """How many of each are kept, by label; the pods are counted as ``PodPopped``."""
        counts = Counter(happening.label for _, happening in self._happenings)
        if self._since:
            counts[POPPED] = len(self._since)
        return counts

    def _next(self) -> int:
        self._turn += 1
        return self._turn

    def check_invariants(self) -> None:
        pods, events = list(self._since.values()), [turn for turn, _ in self._happenings]
        assert pods == sorted(set(pods)), "pods in flight are out of order"
        assert events == sorted(set(events)), "events are out of order"
        assert not set(pods) & set(events), "a pod and an event came at once"
        assert not events or (pods and pods[0] < events[0]), "an event is kept for nobody"
