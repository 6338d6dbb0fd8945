"""The binding cycle: wait for permits, PreBind, Bind, and what follows a binding.

The main loop runs it as a task per pod, and undoes what fails here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from podium.api.objects import Pod
from podium.cycle.outcome import Placed, Rejected, failed, refused
from podium.cycle.services import Services
from podium.framework.binding import (
    Target,
    run_bind,
    run_post_bind,
    run_pre_bind,
    run_pre_flight,
    wait_on_permit,
)
from podium.framework.cycle_state import PodsToActivate
from podium.framework.handle import EventNote, EventRecorder
from podium.framework.status import SUCCESS, Code, Status
from podium.live.attempt import Attempt
from podium.live.gate import Gate
from podium.live.pod_status import PodStatuses
from podium.logs import get_logger
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue

log = get_logger(__name__)


class Prepared(NamedTuple):
    """Whether a PreBind has work, and which ones may run in parallel.

    ``announcement`` is the write of the expected node, if it is written.
    """

    flight: Status
    parallel: frozenset[str]
    announcement: asyncio.Future[None] | None = None


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds placed pods: ``bind`` up to the request, ``finish`` what follows when it succeeded."""

    services: Services
    queue: SchedulingQueue
    gate: Gate
    statuses: PodStatuses
    events: Mapping[str, EventRecorder]  # by profile
    metrics: Metrics

    async def bind(self, placed: Placed) -> Rejected | None:
        """Run the binding cycle up to and including Bind; return None if the pod is bound."""
        uid = placed.target.pod.uid
        waiting = self.services.waiting_pods.get(uid)
        # Of a gang that is placed at once, the last member has allowed the others by now.
        is_held = waiting is not None and waiting.outcome is None
        prepared = self._prepare(placed.target, is_held)
        announcement = prepared.announcement
        try:
            return await self._bind(placed, prepared, waits=waiting is not None)
        except asyncio.CancelledError:
            if announcement is not None:
                announcement.cancel()
            raise
        finally:
            self.services.waiting_pods.remove(uid)
            self.services.pods_in_pre_bind.remove(uid)
            if announcement is not None:  # later writes of the status must come after it
                await asyncio.gather(announcement, return_exceptions=True)

    async def _bind(self, placed: Placed, prepared: Prepared, *, waits: bool) -> Rejected | None:
        target, record = placed.target, placed.record
        flight, parallel, announcement = prepared
        if flight.code is Code.ERROR:
            return failed(flight, record)
        status = await self._wait(target.pod) if waits else SUCCESS
        if status.is_rejection:
            return refused(status, record, self.services.cluster)
        if status.ok:
            self.gate.pass_through(self.queue.done, target.pod.uid)
        if status.ok and flight.ok:
            status = await self._pre_bind(target, parallel)
        if status.ok:
            if announcement is not None:
                await announcement
            await self.statuses.settled(target.pod.uid)
            status = await self._to_node(target)
        return None if status.ok else failed(status, record)

    def _prepare(self, target: Target, is_held: bool) -> Prepared:
        """Ask which PreBinds have work; if it may take a while, begin to write the expected node.

        ``is_held``: Permit has not allowed the pod yet.

        kube-scheduler waits for this write. Here PreBind runs meanwhile: it is one answer of the
        server less that a pod with claims waits for.
        """
        flight, parallel = run_pre_flight(target)
        if not flight.ok and not (is_held and flight.is_skip):
            return Prepared(flight, parallel)
        writing = self.statuses.write(target.pod, None, target.node_name)
        return Prepared(flight, parallel, asyncio.ensure_future(writing))

    async def _to_node(self, target: Target) -> Status:
        """Bind the pod: by an extender that binds such pods, else by the Bind plugins."""
        if self.services.extenders:
            status = await self.services.extenders.bind(target.pod, target.node_name)
            if status is not None:
                return status
        return await run_bind(target)

    async def _wait(self, pod: Pod) -> Status:
        start = self.services.clock.now()
        status = await wait_on_permit(self.services.waiting_pods, pod)
        seconds = self.services.clock.now() - start
        self.metrics.permit_seconds.observe(seconds, status.code.value)
        return status

    async def _pre_bind(self, target: Target, parallel: frozenset[str]) -> Status:
        """Run PreBind so that preemption can cancel it."""
        work = asyncio.ensure_future(run_pre_bind(target, parallel))
        binding = self.services.pods_in_pre_bind.add(target.pod.uid, work.cancel)
        try:
            status = await work
        except asyncio.CancelledError:
            if binding.cancelled_because is None:
                raise
            return Status.error(binding.cancelled_because)
        if status.ok and not binding.mark_prebound():
            return Status.error(binding.cancelled_because or "")
        return status

    async def finish(self, attempt: Attempt, placed: Placed) -> None:
        """The pod is bound: report it, run PostBind, activate pods that waited for it."""
        target, record, queued = placed.target, placed.record, attempt.queued
        pod, node, now = target.pod, target.node_name, self.services.clock.now()
        seconds = now - attempt.start
        log.v(
            2, "Successfully bound pod to node", pod=pod.key, node=node,
            evaluatedNodes=record.nodes, feasibleNodes=record.feasible,
            attempt=record.attempt, seconds=round(seconds, 3), podUID=pod.uid,
        )  # fmt: skip
        note = EventNote(
            "Normal", "Scheduled", "Binding", f"Successfully assigned {pod.key} to {node}"
        )
        self.events[attempt.profile].record(pod, None, note)
        self.metrics.observe_attempt(attempt.profile, "scheduled", seconds)
        waited = None if queued.first_queued is None else now - queued.first_queued
        self.metrics.bound(queued.attempts, waited, queued.was_flushed)
        await run_post_bind(target)
        stashed = target.state.get(PodsToActivate).pods
        if stashed:
            self.services.activate(stashed.values())


class QuietBinder(Binder):
    """The binding cycle without the feature NominatedNodeNameForExpectation.

    It does not write the expected node, and runs each PreBind without asking whether it has work.
    """

    def _prepare(self, target: Target, is_held: bool) -> Prepared:
        return Prepared(SUCCESS, frozenset())
