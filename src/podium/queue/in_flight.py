"""Pods in flight, that is, being tried, and what changed in the cluster meanwhile.

A change that would have woken a pod during its attempt must not be lost. It is kept, and the
hints are asked about it when the pod comes back to the queue.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass

from podium.api.objects import Pod
from podium.framework.event_rules import EventRules
from podium.framework.events import ClusterEvent

POPPED = "PodPopped"


@dataclass(frozen=True, slots=True)
class ClusterChange:
    """A cluster event with the object before and after it; ``label`` is its name in metrics."""

    event: ClusterEvent
    label: str
    old: object | None = None
    new: object | None = None


def own_changes(rules: EventRules, old: Pod | None, new: Pod) -> list[ClusterChange]:
    """Return the changes that an update of a pod stands for to that pod itself."""
    events = rules.own_events(old or new, new)
    return [ClusterChange(event, event.label, old, new) for event in events]


class InFlight:
    """The pods in flight by uid, and the changes that they have to be asked about.

    Invariants: pods and changes are numbered by one counter, so a pod's changes are those with a
    higher number than its own. Both are in ascending order. Every kept change is newer than the
    oldest pod in flight; without a pod in flight no change is kept.
    """

    def __init__(self) -> None:
        self._number = 0
        # An OrderedDict finds its first key at once; a dict walks over all keys deleted before.
        self._since: OrderedDict[str, int] = OrderedDict()
        self._changes: deque[tuple[int, ClusterChange]] = deque()

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, uid: str) -> bool:
        return uid in self._since

    def start(self, uid: str) -> None:
        self._since[uid] = self._next()

    def record(self, change: ClusterChange) -> None:
        """Keep a change for all pods that are in flight now."""
        if self._since:
            self._changes.append((self._next(), change))

    def since(self, uid: str) -> list[ClusterChange] | None:
        """Return the changes since the pod was popped; ``None`` if it is not in flight."""
        taken = self._since.get(uid)
        if taken is None:
            return None
        found = []
        for number, change in reversed(self._changes):
            if number < taken:
                break
            found.append(change)
        found.reverse()
        return found

    def done(self, uid: str) -> None:
        if self._since.pop(uid, None) is None:
            return
        if not self._since:
            self._changes.clear()
            return
        oldest = next(iter(self._since.values()))
        while self._changes and self._changes[0][0] < oldest:
            self._changes.popleft()

    def counts(self) -> Counter[str]:
        """Count the kept changes by label; the pods in flight count as ``PodPopped``."""
        counts = Counter(change.label for _, change in self._changes)
        if self._since:
            counts[POPPED] = len(self._since)
        return counts

    def _next(self) -> int:
        self._number += 1
        return self._number

    def check_invariants(self) -> None:
        pods, events = list(self._since.values()), [number for number, _ in self._changes]
        assert pods == sorted(set(pods)), "pods in flight are out of order"
        assert events == sorted(set(events)), "events are out of order"
        assert not set(pods) & set(events), "a pod and an event have the same number"
        assert not events or (pods and pods[0] < events[0]), "a kept event is needed by no pod"
