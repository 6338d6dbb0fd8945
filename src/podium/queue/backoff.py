"""Pods that failed and wait before the next attempt, longer each time.

Pods that were rejected and pods whose attempt ended in an error are kept apart: only rejected pods
may be tried early, when there is nothing else to do (``rejected.py`` says which). An error is
likely to happen again at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain

from podium.framework.queued_pod import QueuedPod
from podium.queue.heap import Order, PodHeap
from podium.queue.rejected import RejectedPods

_NEVER = -1
_MOST_DOUBLINGS = 63  # more than any maximum; otherwise the number would grow without bound


class Backoff:
    """Rejected and failed pods, ordered by the second in which their backoff ends.

    Invariant: a pod with rejectors is in ``_rejected``, any other in ``_failed``. Remove a waiting
    pod before changing its ``rejectors`` or ``failed_as``. ``_rejected`` orders pods that expire in
    the same second as the active queue would.
    """

    def __init__(
        self, initial: float, maximum: float, order: Order, now: Callable[[], float]
    ) -> None:
        self._initial = initial
        self._maximum = maximum
        self._now = now
        self._rejected = RejectedPods(self._by_expiry_and(order))
        self._failed = PodHeap(self.expiry)

    def _by_expiry_and(self, order: Order) -> Order:
        return lambda queued: (self.expiry(queued), order(queued))

    def use(self, initial: float, maximum: float, order: Order) -> None:
        """Use another order, and other pauses for failures from now on."""
        self._initial = initial
        self._maximum = maximum
        self._rejected.sort_by(self._by_expiry_and(order))

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __contains__(self, key: str) -> bool:
        return key in self._rejected or key in self._failed

    def __iter__(self) -> Iterator[QueuedPod]:
        return chain(self._rejected, self._failed)

    @property
    def can_pop_early(self) -> bool:
        return self._rejected.can_pop_early

    def get(self, key: str) -> QueuedPod | None:
        return self._rejected.get(key) or self._failed.get(key)

    def push(self, queued: QueuedPod) -> None:
        """Add the pod, or move it to its new position."""
        if queued.rejectors:
            self._rejected.push(queued)
        else:
            self._failed.push(queued)

    def remove(self, key: str) -> QueuedPod | None:
        return self._rejected.remove(key) or self._failed.remove(key)

    def pop_early(self) -> QueuedPod | None:
        """Remove and return a rejected pod that is worth an attempt before its backoff ends."""
        return self._rejected.pop_early()

    def offer_next(self, queued: QueuedPod) -> None:
        """Let an equal pod leave early: this one is being tried, or is about to change."""
        self._rejected.offer_next(queued)

    def reconsider(self) -> bool:
        """The cluster changed. Return whether a pod may leave early because of that."""
        return self._rejected.reconsider() and self.can_pop_early

    def pop_expired(self) -> Iterator[QueuedPod]:
        yield from self._rejected.pop_expired(lambda queued: not self.is_backing_off(queued))
        while (first := self._failed.peek()) is not None and not self.is_backing_off(first):
            self._failed.pop()
            yield first

    def is_backing_off(self, queued: QueuedPod) -> bool:
        # Both sides are whole seconds, so that pods that expire in the same second are tried by
        # priority, not in the order of their failures. The wait is up to a second longer.
        return self.expiry(queued) >= self.window(self._now())

    def window(self, moment: float) -> float:
        """Round a moment; all pods whose backoff ends in the same window leave it together."""
        return math.floor(moment)

    def end(self, queued: QueuedPod) -> float:
        """Return when the backoff of a pod that has one ends: after the second of its expiry."""
        return self.expiry(queued) + 1

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
        return min(self.longest(queued), self._initial * (1 << min(count - 1, _MOST_DOUBLINGS)))

    def longest(self, queued: QueuedPod) -> float:
        return self._maximum

    def count_failure(self, queued: QueuedPod, *, changed: bool = True) -> None:
        """Count a failed attempt of a pod that is not here. Its backoff begins now.

        ``changed``: whether something happened in the cluster during the attempt.
        """
        if not changed:
            self._rejected.failed(queued)
        if queued.rejectors:
            queued.unschedulable_count += 1
            queued.consecutive_errors = 0
        else:
            queued.consecutive_errors += 1
        queued.timestamp = self._now()
        queued.backoff_expiry = None
        queued.was_flushed = False
        queued.flushed_at = 0.0

    def check_invariants(self, is_steady: bool = True) -> None:
        for part, is_rejected in ((self._rejected, True), (self._failed, False)):
            part.check_invariants(is_steady)
            for queued in part:
                assert bool(queued.rejectors) is is_rejected, f"{queued.key} is in the wrong heap"
