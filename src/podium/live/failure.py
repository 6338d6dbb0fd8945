"""Handles a pod that found no node or could not be bound: requeues it and reports why.

The main loop calls it after a cycle, and after a binding that failed, once that is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from podium.api.objects import Condition, Pod
from podium.cycle.outcome import Rejected
from podium.cycle.services import Services
from podium.errors import InvalidObject
from podium.framework.handle import EventNote, EventRecorder
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Nominate
from podium.live.attempt import Attempt
from podium.live.pod_status import PodStatuses
from podium.logs import get_logger
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FailureHandler:
    """Requeues pods and reports failures; ``lookup`` finds a pod as the informer has it, by key."""

    services: Services
    queue: SchedulingQueue
    statuses: PodStatuses
    events: Mapping[str, EventRecorder]  # by profile
    metrics: Metrics
    lookup: Callable[[str], Pod | None]

    def handle(self, attempt: Attempt, rejected: Rejected) -> None:
        """Requeue the pod unless it is gone or bound, nominate it, and report why it failed."""
        message = rejected.message
        self._observe(attempt, rejected, message)
        queued, pod = attempt.queued, attempt.pod
        blame(queued, rejected)
        known = self.lookup(pod.key)
        if known is not None and known.uid != pod.uid:
            self.queue.done(pod.uid)  # another pod has this name now: report nothing about it
            return
        if known is None or known.node_name:
            self.queue.done(pod.uid)
            self.services.nominator.remove(pod.uid)
        else:
            pod = known
            _renew(queued, known, rejected.nominate)
            # A member of a group is not tried alone.
            queued.failed_as = None if known.group_key else rejected.failed_as
            self.queue.put_back(queued)
            self.services.nominator.add(queued.info, rejected.nominate)
        # All Bind plugins skipped: as upstream, there is no error to report.
        if not rejected.status.is_skip:
            self._report(pod, attempt, rejected, message)

    def _observe(self, attempt: Attempt, rejected: Rejected, message: str) -> None:
        seconds = self.services.clock.now() - attempt.start
        data = _log_data(attempt, rejected, message) | {"seconds": round(seconds, 3)}
        if rejected.status.is_rejection:
            result = "unschedulable"
            log.v(2, "Unable to schedule pod; no fit; waiting", **data)
        else:
            result = "error"
            log.warning("Error scheduling pod; retrying", **data)
        self.metrics.observe_attempt(attempt.profile, result, seconds)

    def _report(self, pod: Pod, attempt: Attempt, rejected: Rejected, message: str) -> None:
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
        self.queue.begin_report()
        self.services.spawn(f"status of {pod.key}", self._write(pod, condition, nominated))

    async def _write(self, pod: Pod, condition: Condition, nominated: str | None) -> None:
        try:
            await self.statuses.write(pod, condition, nominated)
        finally:
            self.queue.end_report()


def _log_data(attempt: Attempt, rejected: Rejected, message: str) -> dict[str, Any]:
    """Return the data of the log line about a failure."""
    data: dict[str, Any] = {
        "pod": attempt.pod.key,
        "podUID": attempt.pod.uid,
        "err": message,
        "attempt": rejected.record.attempt,
    }
    if rejected.diagnosis is not None:
        data["plugins"] = sorted(rejected.diagnosis.unschedulable_plugins)
    if rejected.nominate is not None and rejected.nominate.node:
        data["nominated"] = rejected.nominate.node
    return data


def _renew(queued: QueuedPod, known: Pod, nominate: Nominate | None) -> None:
    """Use the version of the pod that was seen last, if it is valid."""
    try:
        queued.replace(nominated(known, nominate))
    except InvalidObject:  # logged when the watch delivered it
        queued.replace(nominated(queued.pod, nominate))


def nominated(pod: Pod, nominate: Nominate | None) -> Pod:
    """Return the pod with its nomination: the next attempt may come before it is written."""
    if nominate is None or nominate.node == pod.nominated_node_name:
        return pod
    return pod.nominated_to(nominate.node)


def blame(queued: QueuedPod, rejected: Rejected) -> None:
    """Note the plugins that rejected the pod; without any it is retried as after an error."""
    diagnosis = rejected.diagnosis
    if diagnosis is None:
        queued.rejected_by()
    else:
        queued.rejected_by(diagnosis.unschedulable_plugins, diagnosis.pending_plugins)
