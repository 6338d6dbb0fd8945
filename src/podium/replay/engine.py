"""Replays a trace on a virtual clock through podium's own event handlers, queue and cycles.

Everything that happens at one moment is taken in before the next attempt: first pods that finish
and the queue's timers, then the lines of the trace. Attempts take no time unless
``attempt_seconds`` says so: what a pod waits is what the queue makes it wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.api.times import time_text
from podium.clock import FakeClock
from podium.config.model import Configuration
from podium.framework.registry import Registry
from podium.replay.lines import Arrival, Departure, NodeChange, NodeRemoval, Nodes, TimedLine, Trace
from podium.replay.lives import Fate, Life
from podium.replay.meter import SAMPLES, Meter, Shapes
from podium.replay.result import Counts, Figures, Sample, figures
from podium.replay.scheduler import EPOCH, VirtualScheduler
from podium.replay.workload import PodMaker, initial_objects, node, nodes, resident
from podium.simulation.world import stop_seconds

# If nothing else happens for so long, every waiting pod has been tried again without success.
QUIET_SECONDS: Final = 360.0

Progress = Callable[[int], None]


class Replay:
    """One replay of a trace. ``run`` it once, then read ``lives``, ``figures`` and ``samples``.

    Invariants: each pod that has arrived is in ``_lives`` under its present uid until it ends;
    ``handlers`` were shown exactly these pods, and bound pods in the state that the cluster has.
    """

    def __init__(
        self,
        trace: Trace,
        configuration: Configuration,
        registry: Registry,
        *,
        seed: int = 0,
        attempt_seconds: float = 0.0,
    ) -> None:
        self.clock = FakeClock(0.0)
        self.lives: list[Life] = []
        self._trace = trace
        self._attempt_seconds = attempt_seconds
        self._line = 0  # the index of the next line of the trace
        self._nodes: dict[str, Node] = {}
        self._lives: dict[str, Life] = {}  # the pods in the cluster, by uid
        self._present: dict[str, Life] = {}  # the same pods, by namespace/name
        self._running = 0
        self._departing = 0  # running pods with a timer for their end
        self._last_change = 0.0
        self._counts = Counts()
        self._maker = PodMaker(trace.shapes, trace.objects)
        self.scheduler = VirtualScheduler(configuration, registry, seed, self.clock, self)
        self._handlers = self.scheduler.handlers

    # --- time ------------------------------------------------------------------------------------

    def run(self, progress: Progress | None = None) -> None:
        """Replay the whole trace. ``progress`` is called with the number of lines taken so far."""
        with self.scheduler.spawned:
            self._begin()
            end = math.inf if self._trace.end is None else self._trace.end
            moment: float | None = 0.0  # when the initial objects exist
            while moment is not None and moment <= end:
                self._move_to(moment)
                self._schedule(end)
                if progress is not None:
                    progress(self._line)
                moment = self._next_moment()
            self._move_to(self.clock.now() if math.isinf(end) else end)
            self.scheduler.queue.close()
        self._counts.attempts = self.scheduler.attempts
        self._counts.errors = self.scheduler.errors

    def _begin(self) -> None:
        for obj in initial_objects(self._trace.objects):
            self._add_object(obj)
        arrivals = [line for line in self._trace.lines if isinstance(line, Arrival)]
        templates = [self._maker.template(line) for line in arrivals]
        table = self.scheduler.core.cluster.table
        lines, end = self._trace.lines, self._trace.end
        span = end if end is not None else (lines[-1].time if lines else 0.0)
        self._meter = Meter(table, Shapes(templates, table), (span or 1.0) / SAMPLES)
        self.scheduler.queue.start()

    def _next_moment(self) -> float | None:
        """Return when something happens next; ``None`` if nothing can change any more."""
        due = self._next_line.time if self._line < len(self._trace.lines) else None
        timer = self.clock.next_call()
        if due is None and not self._departing and timer is not None:
            # Only the queue's timers are left, which go on as long as pods wait.
            return timer if timer <= self._last_change + QUIET_SECONDS else None
        return min((each for each in (due, timer) if each is not None), default=None)

    def _move_to(self, moment: float) -> None:
        """Let time pass, and take in all that happens up to this moment and at it."""
        while (due := self._line_due(moment)) is not None:
            self._pass_time(due)
            while self._line < len(self._trace.lines) and self._next_line.time == due:
                line = self._next_line
                self._line += 1
                self._last_change = due
                self._take(line)
        self._pass_time(moment)
        self.scheduler.settle()

    def _line_due(self, moment: float) -> float | None:
        if self._line == len(self._trace.lines) or self._next_line.time > moment:
            return None
        return self._next_line.time

    @property
    def _next_line(self) -> TimedLine:
        return self._trace.lines[self._line]

    def _pass_time(self, moment: float) -> None:
        while self._meter.next_sample < moment:
            self._sample()
        self.clock.move_to(moment)

    def _schedule(self, end: float) -> None:
        """Try pods until none is due."""
        while self.scheduler.try_next():
            if self._attempt_seconds:
                later = self.clock.now() + self._attempt_seconds
                if later > end:
                    return
                self._move_to(later)

    def _sample(self) -> None:
        pending = len(self._lives) - self._running
        self._meter.sample(pending, self._running, self._counts.evictions)

    # --- lines of the trace ----------------------------------------------------------------------

    def _take(self, line: TimedLine) -> None:
        match line:
            case Arrival():
                self._arrive(line)
            case Departure():
                self._depart(line)
            case Nodes():
                for each in nodes(line):
                    self._set_node(each)
            case NodeChange():
                self._set_node(node(line.node))
            case NodeRemoval():
                self._remove_node(line.name)

    def _add_object(self, obj: ApiObject) -> None:
        match obj:
            case Node():
                self._set_node(obj)
            case Pod() if obj.node_name:
                self._add_resident(obj)
            case Pod():
                self._arrive(resident(obj))
            case _:
                self.scheduler.core.cluster.set_object(obj)

    def _add_resident(self, pod: Pod) -> None:
        """Add a pod that runs from the beginning. It is not in the figures."""
        life = Life(resident(pod), pod, arrived=0.0, queued=0.0, fate=Fate.RUNNING, bound=0.0)
        life.node = pod.node_name
        self._lives[pod.uid] = self._present[life.key] = life
        self._running += 1
        self._handlers.on_pod(None, pod)

    def _arrive(self, line: Arrival) -> None:
        now = self.clock.now()
        life = Life(line, self._maker.pod(line), arrived=now, queued=now)
        self.lives.append(life)
        self._enter(life)

    def _enter(self, life: Life) -> None:
        self._lives[life.pod.uid] = self._present[life.key] = life
        self._handlers.on_pod(None, life.pod)

    def _depart(self, line: Departure) -> None:
        """Delete a pod, if it has not finished by itself."""
        life = self._present.get(line.key)
        if life is not None:
            waits = life.fate is Fate.PENDING
            self._leave(life, Fate.WITHDRAWN if waits else Fate.DELETED)

    def _set_node(self, new: Node) -> None:
        self._handlers.on_node(self._nodes.get(new.name), new)
        self._nodes[new.name] = new

    def _remove_node(self, name: str) -> None:
        """Remove a node, and the pods on it."""
        row = self.scheduler.core.cluster.table.live_row(name)
        assert row is not None  # the reader has checked it
        there = [*self.scheduler.core.cluster.table.pods[row]]
        self._handlers.on_node(self._nodes.pop(name), None)
        for uid in there:
            self._displace(self._lives[uid])

    # --- the life of a pod -----------------------------------------------------------------------

    def on_bound(self, pod: Pod) -> None:
        life, now = self._lives[pod.uid], self.clock.now()
        self._last_change = now
        life.pod, life.node, life.fate = pod, pod.node_name, Fate.RUNNING
        life.wait += now - life.queued
        if life.bound is None:
            life.bound = now
            self._meter.bound(now - life.arrived)
        self._running += 1
        if life.arrival.duration is not None:
            finish = partial(self._leave, life, Fate.FINISHED)
            self._set_timer(life, life.arrival.duration, finish)

    def on_pending(self, pod: Pod) -> None:
        self._lives[pod.uid].pod = pod

    def is_pending(self, pod: Pod) -> bool:
        life = self._lives.get(pod.uid)
        return life is not None and life.fate is Fate.PENDING

    def on_evicted(self, pod: Pod) -> None:
        """Preemption has deleted the pod: it stops, and is gone a moment later."""
        life = self._lives.get(pod.uid)
        if life is None or life.fate is not Fate.RUNNING or life.pod.is_terminating:
            return
        self._counts.evictions += 1
        self._cancel_timer(life)
        stop = stop_seconds(life.pod.spec.termination_grace_period_seconds)
        deleted = time_text(EPOCH + self.clock.now())
        metadata = msgspec.structs.replace(life.pod.metadata, deletion_timestamp=deleted)
        stopping = msgspec.structs.replace(life.pod, metadata=metadata)
        self._handlers.on_pod(life.pod, stopping)
        life.pod = stopping
        self._set_timer(life, stop, partial(self._displace, life))

    def _displace(self, life: Life) -> None:
        """Handle a pod that lost its node: a new pod of its name takes over if it restarts."""
        self._leave(life, Fate.LOST)
        if life.arrival.restarts:
            life.restarts += 1
            self._counts.restarts += 1
            life.fate, life.ended, life.queued = Fate.PENDING, None, self.clock.now()
            life.pod = self._maker.pod(life.arrival, life.restarts)
            self._enter(life)

    def _leave(self, life: Life, fate: Fate) -> None:
        """The pod is gone."""
        self._cancel_timer(life)
        del self._lives[life.pod.uid], self._present[life.key]
        if life.fate is Fate.RUNNING:
            self._running -= 1
        life.fate, life.ended = fate, self.clock.now()
        self._last_change = life.ended
        pod = life.pod
        self._handlers.on_pod(pod, None)
        if pod.node_name:
            self.scheduler.claims.release(pod)

    def _set_timer(self, life: Life, seconds: float, call: Callable[[], None]) -> None:
        life.timer = self.clock.call_later(seconds, call)
        self._departing += 1

    def _cancel_timer(self, life: Life) -> None:
        if life.timer is not None:
            life.timer.cancel()
            life.timer = None
            self._departing -= 1

    # --- results ---------------------------------------------------------------------------------

    def samples(self) -> list[Sample]:
        return self._meter.samples()

    def figures(self) -> Figures:
        return figures(self.lives, self._counts, self.samples(), self.clock.now())
