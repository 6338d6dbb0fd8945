"""The three sub-queues in which a pod can wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from podium.framework.queued_pod import QueuedPod
from podium.queue.backoff import Backoff
from podium.queue.heap import PodHeap
from podium.queue.unschedulable import UnschedulablePods


@dataclass(frozen=True, slots=True)
class SubQueues:
    """Pods that are active, backing off, or unschedulable (or gated).

    Invariant: a key is in at most one of them. Whoever adds a pod removes it from where it was;
    ``SchedulingQueue.check_invariants`` checks it.
    """

    active: PodHeap
    backoff: Backoff
    unschedulable: UnschedulablePods

    def __iter__(self) -> Iterator[QueuedPod]:
        """Return all waiting pods, the active ones first."""
        return chain(self.active, self.backoff, self.unschedulable)

    def find(self, key: str) -> QueuedPod | None:
        return self.active.get(key) or self.backoff.get(key) or self.unschedulable.get(key)

    def remove(self, key: str) -> QueuedPod | None:
        return self.active.remove(key) or self.backoff.remove(key) or self.unschedulable.remove(key)

    def queue_of(self, key: str) -> str:
        """Return ``active``, ``backoff``, ``unschedulable``, ``gated`` or an empty string."""
        if key in self.active:
            return "active"
        return "backoff" if key in self.backoff else self.unschedulable.queue_of(key)

    def check_invariants(self, is_steady: bool) -> None:
        """Raise ``AssertionError`` if a sub-queue is wrong in itself."""
        self.active.check_invariants(is_steady)
        self.backoff.check_invariants(is_steady)
        self.unschedulable.check_invariants()
