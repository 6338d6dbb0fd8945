"""The scheduling queue with the feature gate SchedulerPopFromBackoffQ turned off.

Every pod waits until its backoff ends, even when there is nothing else to do. PreEnqueue runs when
a pod leaves backoff, not when it enters.
"""

from __future__ import annotations

from typing import ClassVar

from podium.framework.queued_pod import QueuedPod
from podium.queue import labels
from podium.queue.backoff import Backoff
from podium.queue.heap import Order
from podium.queue.scheduling_queue import SchedulingQueue


class PatientBackoff(Backoff):
    """Backoff ordered by the exact end of each pod's wait; no pod is popped early."""

    @property
    def can_pop_early(self) -> bool:
        return False

    def pop_early(self) -> QueuedPod | None:
        return None

    def end(self, queued: QueuedPod) -> float:
        return self.expiry(queued)

    def window(self, moment: float) -> float:
        return moment

    def _by_expiry_and(self, order: Order) -> Order:
        return self.expiry


class PatientQueue(SchedulingQueue):
    backoff: ClassVar[type[Backoff]] = PatientBackoff

    def start(self) -> None:
        """Start the timers. Backoff does not end on whole seconds here, so they tick from now."""
        now = self._clock.now()
        self._flush.start(origin=now)
        self._leftovers.start(origin=now)

    def _activate(self, key: str) -> bool:
        queued = self._backoff.remove(key)
        if queued is not None:
            self._to_active(queued, labels.FORCE_ACTIVATE)
            return True
        return super()._activate(key)

    def _flush_backoff(self) -> None:
        for queued in self._backoff.pop_expired():
            self._to_active(queued, labels.BACKOFF_COMPLETE)

    def _to_backoff(self, queued: QueuedPod, label: str) -> bool:
        self._unschedulable.remove(queued.key)
        self._backoff.push(queued)
        self._entered("backoff", queued, label)
        self._flush.arm()
        return True
