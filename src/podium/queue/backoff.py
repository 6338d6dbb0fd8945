"""Pods that failed and wait before the next attempt, longer each time.

Pods that were rejected and pods whose attempt ended in an error are kept apart: only rejected pods
may be tried early, when there is nothing else to do. An error is likely to happen again at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain

from podium.framework.queued_pod import QueuedPod
from podium.queue.heap import Order, PodHeap

_NEVER = -1
_MOST_DOUBLINGS = 63  # more than any maximum; otherwise the number would grow without bound


class Backoff:
    """Pods in two heaps, ordered by the second in which their backoff ends.

    Invariant: a pod with rejectors is in ``_rejected``, any other in ``_failed``. Remove a waiting
    pod before changing its ``rejectors``. ``_rejected`` orders pods that expire in
    the same second as the active queue would.
    """

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
        """Use another order, because the plugin that sorts the active queue was replaced."""
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
        """Add the pod, or move it to its new position."""
        (self._rejected if queued.rejectors else self._failed).push(queued)

    def remove(self, key: str) -> QueuedPod | None:
        return self._rejected.remove(key) or self._failed.remove(key)

    def pop_early(self) -> QueuedPod | None:
        """Remove and return the first rejected pod, whether its backoff has ended or not."""
        return self._rejected.pop()

    def pop_expired(self) -> Iterator[QueuedPod]:
        for heap in (self._rejected, self._failed):
            while (first := heap.peek()) is not None and not self.is_backing_off(first):
                heap.pop()
                yield first

    def is_backing_off(self, queued: QueuedPod) -> bool:
        # Both sides are whole seconds, so that pods that expire in the same second are tried by
        # priority, not in the order of their failures. The wait is up to a second longer.
        return self.expiry(queued) >= self.window(self._now())

    def window(self, moment: float) -> float:
        """Round a moment; all pods whose backoff ends in the same window leave it together."""
        return math.floor(moment)

    def expiry(self, queued: QueuedPod) -> float:
        """Return the second in which backoff ends, -1 without one; it is cached on the pod."""
        if queued.backoff_expiry is None:
            seconds = self.duration(queued)
            queued.backoff_expiry = self.window(queued.timestamp + seconds) if seconds else _NEVER
        return queued.backoff_expiry

    def duration(self, queued: QueuedPod) -> float:
        """Double the backoff with each failure, up to the maximum; errors in a row count apart."""
        count = queued.consecutive_errors or queued.unschedulable_count
        if not count:
            return 0.0
        return min(self._maximum, self._initial * (1 << min(count - 1, _MOST_DOUBLINGS)))

    def count_failure(self, queued: QueuedPod) -> None:
        """Count a failed attempt of a pod that is not here. Its backoff begins now."""
        if queued.rejectors:
            queued.unschedulable_count += 1
            queued.consecutive_errors = 0
        else:
            queued.consecutive_errors += 1
        queued.timestamp = self._now()
        queued.backoff_expiry = None
        queued.was_flushed = False
        queued.flushed_at = 0.0

    def check_invariants(self) -> None:
        for heap, is_rejected in ((self._rejected, True), (self._failed, False)):
            heap.check_invariants()
            for queued in heap:
                assert bool(queued.rejectors) is is_rejected, f"{queued.key} is in the wrong heap"
