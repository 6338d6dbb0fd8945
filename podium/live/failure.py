"""What becomes of a pod that found no node or could not be bound: back to the queue, and told why.

Called by the main loop after a cycle, and by a binding that failed once it is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from podium.api.objects import Condition, Pod
from podium.cycle.outcome import Rejected
from podium.cycle.services import Services
from podium.framework.handle import EventNote, EventRecorder
from podium.framework.status import Nominate
from podium.live.attempt import Attempt
from podium.live.pod_status import PodStatuses
from podium.logs import get_logger
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue
from podium.state.pod_info import PodInfo

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FailureHandler:
    """``lookup`` finds a pod as the informer last saw it, by key."""

    services: Services
    queue: SchedulingQueue
    statuses: PodStatuses
    events: Mapping[str, EventRecorder]  # by profile
    metrics: Metrics
    lookup: Callable[[str], Pod | None]

    def handle(self, attempt: Attempt, rejected: Rejected) -> None:
        """Requeue the pod unless it is gone or bound, nominate it, and say why it failed."""
        self._observe(attempt, rejected)
        queued = attempt.queued
        _blame(attempt, rejected)
        known = self.lookup(queued.pod.key)
        if known is not None and known.uid != queued.pod.uid:
            self.queue.done(queued.pod.uid)  # another pod of this name: nothing is said about it
            return
        if known is None or known.node_name:
            self.queue.done(queued.pod.uid)
        else:
            if known is not queued.pod:
                queued.replace(known)
            self.queue.put_back(queued)
        self._nominate(queued.info, rejected.nominate, known)
        # All Bind plugins skipped: there is no error to speak of, as upstream.
        if not rejected.status.is_skip:
            self._tell(attempt, rejected)

    def _observe(self, attempt: Attempt, rejected: Rejected) -> None:
        key, why = attempt.pod.key, rejected.message
        if rejected.status.is_rejection:
            result = "unschedulable"
            log.v(2, "Unable to schedule pod; no fit; waiting", pod=key, err=why)
        else:
            result = "error"
            log.warning("Error scheduling pod; retrying", pod=key, err=why)
        seconds = self.services.clock.now() - attempt.start
        self.metrics.observe_attempt(attempt.profile, result, seconds)

    def _nominate(self, info: PodInfo, nominate: Nominate | None, known: Pod | None) -> None:
        if known is None or known.node_name:
            self.services.nominator.remove(info.uid)
        else:
            self.services.nominator.add(info, nominate)

    def _tell(self, attempt: Attempt, rejected: Rejected) -> None:
        pod, message = attempt.pod, rejected.message
        note = EventNote("Warning", "FailedScheduling", "Scheduling", message)
        self.events[attempt.profile].record(pod, None, note)
        condition = Condition(
            type="PodScheduled",
            status="False",
            reason="Unschedulable" if rejected.status.is_rejection else "SchedulerError",
            message=message,
            observed_generation=pod.metadata.generation,
        )
        nominated = rejected.nominate.node if rejected.nominate is not None else None
        work = self.statuses.write(pod, condition, nominated)
        self.services.spawn(f"status of {pod.key}", work)


def _blame(attempt: Attempt, rejected: Rejected) -> None:
    """Remember who rejected the pod; with nobody to blame it is retried after the error backoff."""
    diagnosis = rejected.diagnosis
    queued = attempt.queued
    if diagnosis is None:
        queued.rejected_by()
    else:
        queued.rejected_by(diagnosis.unschedulable_plugins, diagnosis.pending_plugins)
