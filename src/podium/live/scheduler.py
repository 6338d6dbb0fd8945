"""The main loop: take one pod at a time, choose a node for it, bind it in the background.

Start reading at ``Scheduler.run``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from podium.api.objects import Pod
from podium.cycle.cycle import Cycle
from podium.cycle.extended import run_extended
from podium.cycle.outcome import Outcome, Placed, Rejected, failed
from podium.cycle.record import Record
from podium.cycle.services import Services
from podium.errors import CacheError
from podium.framework.binding import run_unreserve
from podium.framework.calls import Calls
from podium.framework.handle import EventNote, EventRecorder
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Status
from podium.live.attempt import Attempt, Tracer, trace
from podium.live.binding import Binder
from podium.live.event_handlers import ASSIGNED_POD_DELETE
from podium.live.failure import FailureHandler
from podium.live.gate import Gate
from podium.live.slices import Slices
from podium.live.tasks import Tasks
from podium.logs import get_logger
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue

log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """The main loop, and the parts of a scheduling attempt."""

    services: Services
    queue: SchedulingQueue
    gate: Gate
    binder: Binder
    failures: FailureHandler
    bindings: Tasks
    slices: Slices
    events: Mapping[str, EventRecorder]  # by profile: its pods are ours
    metrics: Metrics
    calls: Mapping[str, Calls]  # of plugins, by profile
    waits: bool  # in a cycle: for extenders, or for the victims of a preemption
    start_cycle: Callable[[QueuedPod], Cycle]
    tracer: Tracer | None = None

    async def run(self) -> None:
        """Schedule until the queue is closed."""
        while (queued := await self.queue.pop()) is not None:
            await self.attempt(queued)
            await self.slices.yield_to_io()  # let I/O run when this slice of time is used up

    async def attempt(self, queued: QueuedPod) -> None:
        """Try one pod: bind it in the background, or return it to the queue."""
        if self.should_skip(queued.pod):
            self.queue.done(queued.pod.uid)
            return
        attempt = Attempt(queued, queued.pod.scheduler_name, self.services.clock.now())
        with self.gate.closed():  # the cluster stands still until the cycle ends
            outcome = await self.schedule_one(queued)
            self._observe(attempt, outcome)
            match outcome:
                case Placed() as placed:
                    self.bindings.spawn("binding", self.bind(attempt, placed))
                case Rejected() as rejected:
                    self.failures.handle(attempt, rejected)

    def should_skip(self, pod: Pod) -> bool:
        """Whether the pod is not ours, being deleted, or on its way to a node already."""
        events = self.events.get(pod.scheduler_name)
        if events is None:
            name = pod.scheduler_name
            log.warning(f'profile not found for scheduler name "{name}"', pod=pod.key)
            return True
        if pod.is_terminating:
            note = f"skip schedule deleting pod: {pod.key}"
            events.record(pod, None, EventNote("Warning", "FailedScheduling", "Scheduling", note))
            return True
        return self.services.cluster.is_assumed(pod.uid)

    async def schedule_one(self, queued: QueuedPod) -> Outcome:
        """Run one scheduling cycle. It waits, if at all, only between two stages."""
        log.v(3, "Attempting to schedule pod", pod=queued.pod.key, podUID=queued.pod.uid)
        try:
            cycle = self.start_cycle(queued)
            return await run_extended(cycle) if self.waits else cycle.run()
        except (Exception, asyncio.CancelledError) as fault:
            # Faults of plugins are caught where they are called, so this is one of ours, or an
            # extender that awaits something that was cancelled: neither ends this loop. The cycle
            # has undone what it reserved and assumed.
            if is_ending():
                raise
            pod = queued.pod
            log.error("scheduling cycle failed", pod=pod.key, podUID=pod.uid)
            record = Record(pod.key, pod.uid, queued.attempts, pod.scheduler_name)
            return failed(Status.error(fault), record)

    def _observe(self, attempt: Attempt, outcome: Outcome) -> None:
        calls = self.calls[outcome.record.profile]
        trace(outcome.record, calls.unreported or ())
        if self.tracer is not None:
            now = self.services.clock.now()
            self.tracer.cycle(attempt, outcome, calls.unreported or (), now)
        calls.report()
        if (seconds := outcome.record.seconds.get("cycle")) is not None:
            self.metrics.algorithm_seconds.observe(seconds)

    async def bind(self, attempt: Attempt, placed: Placed) -> None:
        """Run the binding cycle; when it fails, undo what was reserved and requeue the pod."""
        begin = 0.0 if self.tracer is None else self.services.clock.now()
        try:
            rejected = await self.binder.bind(placed)
        except (Exception, asyncio.CancelledError) as fault:
            if is_ending():
                raise
            log.error("binding cycle failed", pod=attempt.pod.key, podUID=attempt.pod.uid)
            rejected = failed(Status.error(fault), placed.record)
        if self.tracer is not None:
            error = "" if rejected is None else rejected.message
            self.tracer.binding(attempt, begin, self.services.clock.now(), error)
        if rejected is None:
            await self.binder.finish(attempt, placed)
            return
        self.gate.pass_through(self.give_up, attempt, placed, rejected)

    def give_up(self, attempt: Attempt, placed: Placed, rejected: Rejected) -> None:
        """Undo Reserve and assume, in this order, and return the pod to the queue."""
        left = run_unreserve(placed.target)
        if left:
            later = self._give_up_after(left, attempt, placed, rejected)
            self.bindings.spawn("unreserve", later)
        else:
            self._leave(attempt, placed, rejected)

    async def _give_up_after(
        self, left: list[Awaitable[None]], attempt: Attempt, placed: Placed, rejected: Rejected
    ) -> None:
        for work in left:
            try:
                await work
            except Exception:
                log.error(
                    "Unreserve failed",
                    pod=attempt.pod.key,
                    podUID=attempt.pod.uid,
                    node=placed.node_name,
                )
        self.gate.pass_through(self._leave, attempt, placed, rejected)

    def _leave(self, attempt: Attempt, placed: Placed, rejected: Rejected) -> None:
        """Take the pod off its node again; waiting pods hear of it as of a deletion."""
        is_forgotten = self._forget(placed.target.pod)
        refused = rejected.status.is_rejection
        if refused:  # requeued first: its own leaving must not wake a refused pod
            self.failures.handle(attempt, rejected)
        if is_forgotten:
            except_uid = placed.target.pod.uid if refused else ""
            assumed = placed.target.pod.bound_to(placed.node_name)
            self.queue.on_event(ASSIGNED_POD_DELETE, assumed, None, except_uid=except_uid)
        if not refused:
            self.failures.handle(attempt, rejected)

    def _forget(self, pod: Pod) -> bool:
        try:
            self.services.cluster.forget(pod.uid)
        except CacheError:
            log.error("scheduler cache ForgetPod failed", pod=pod.key, podUID=pod.uid)
            return False
        return True


def is_ending() -> bool:
    """Whether this task is being cancelled, and not only something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
