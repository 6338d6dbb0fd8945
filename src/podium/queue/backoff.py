"""Pods that failed and wait a while before the next try, longer each time.

Errors and rejections are kept apart: only what was rejected may be tried early, when nothing else
is to be done. An error is likely to happen again at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain

from podium.framework.queued_pod import QueuedPod
from podium.queue.heap import Order, PodHeap

_NEVER = -1
_MOST_DOUBLINGS = 63  # beyond any maximum; without it a number would grow with each attempt


class Backoff:
    """Two heaps by whole-second expiry, those rejected also by the order of the active pods."""

    def __init__(
        self, initial: float, maximum: float, order: Order, now: Callable[[], float]
    ) -> None:
        self._initial = initial
        self._maximum = maximum
        self._now = now
        self._rejected = PodHeap(self._by_expiry_and(order))
        self._failed = PodHeap(self.expiry)

    def _by_expiry_and(self, order: Order) -> Order:
        return lambda queued: (self.expiry(queued), order(queued))

    def sort_by(self, order: Order) -> None:
        """The active pods have another order now."""
        self._rejected.sort_by(self._by_expiry_and(order))

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __contains__(self, key: str) -> bool:
        return key in self._rejected or key in self._failed

    def __iter__(self) -> Iterator[QueuedPod]:
        return chain(self._rejected, self._failed)

    @property
    def can_pop_early(self) -> bool:
        return bool(self._rejected)

    def get(self, key: str) -> QueuedPod | None:
        return self._rejected.get(key) or self._failed.get(key)

    def push(self, queued: QueuedPod) -> None:
        """Add the pod, or put it where it belongs now."""
        (self._rejected if queued.rejectors else self._failed).push(queued)

    def remove(self, key: str) -> QueuedPod | None:
        return self._rejected.remove(key) or self._failed.remove(key)

    def pop_early(self) -> QueuedPod | None:
        """The rejected pod that is to be tried first, expired or not."""
        return self._rejected.pop()

    def pop_expired(self) -> Iterator[QueuedPod]:
        for heap in (self._rejected, self._failed):
            while (first := heap.peek()) is not None and not self.is_backing_off(first):
                heap.pop()
                yield first

    def is_backing_off(self, queued: QueuedPod) -> bool:
        # Whole seconds on both sides: pods that expire in the same second are tried in their
        # own order, not in the order of their failures. The wait is up to a second longer.
        return self.expiry(queued) >= self.window(self._now())

    def window(self, moment: float) -> float:
        """All that expires in one window expires at once."""
        return math.floor(moment)

    def expiry(self, queued: QueuedPod) -> float:
        """The second in which the wait ends, -1 without a wait. Kept until the next failure."""
        if queued.backoff_expiry is None:
            seconds = self.duration(queued)
            queued.backoff_expiry = self.window(queued.timestamp + seconds) if seconds else _NEVER
        return queued.backoff_expiry

    def duration(self, queued: QueuedPod) -> float:
        """Doubled with each failure, up to the maximum. Errors in a row have their own count."""
        count = queued.consecutive_errors or queued.unschedulable_count
        if not count:
            return 0.0
        return min(self._maximum, self._initial * (1 << min(count - 1, _MOST_DOUBLINGS)))

    def check_invariants(self) -> None:
        for heap, is_rejected in ((self._rejected, True), (self._failed, False)):
            heap.check_invariants()
            for queued in heap:
                assert bool(queued.rejectors) is is_rejected, f"{queued.key} is in the wrong heap"
