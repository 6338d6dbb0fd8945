"""The scheduling queue: which pod is tried next, and which events wake the others.

The main loop pops pods and puts back or finishes each. Event handlers add, change and delete pods
and report changes in the cluster. Everything runs on one thread, without I/O.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import ClassVar

from podium.api.objects import Pod
from podium.clock import Clock
from podium.framework.events import ACTIONS, ClusterEvent
from podium.framework.nominator import Nominator
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Code
from podium.logs import get_logger
from podium.metrics import POD
from podium.queue import labels
from podium.queue.backoff import Backoff
from podium.queue.heap import PodHeap
from podium.queue.in_flight import ClusterChange, InFlight, own_changes
from podium.queue.inspection import Inspection
from podium.queue.observation import GroupPending, NoObserver, Pending, QueueObserver
from podium.queue.options import QueueOptions
from podium.queue.requeueing import Listeners, Requeueing, Strategy
from podium.queue.rules import ProfileRules
from podium.queue.ticker import Ticker
from podium.queue.unschedulable import UnschedulablePods

log = get_logger(__name__)
_WILDCARD = ClusterEvent("*", ACTIONS["All"])

BACKOFF_FLUSH = 1.0
LEFTOVER_FLUSH = 30.0


class SchedulingQueue:
    """All pending pods. Each is active, backing off, unschedulable (or gated), or in flight.

    A pod is in exactly one of these; ``check_invariants`` checks it. ``profiles`` are by scheduler
    name, and QueueSort of the first one orders all pods.
    """

    backoff: ClassVar[type[Backoff]] = Backoff

    def __init__(
        self,
        clock: Clock,
        profiles: Mapping[str, ProfileRules],
        nominator: Nominator,
        options: QueueOptions = QueueOptions(),  # noqa: B008  # frozen
        observer: QueueObserver = NoObserver(),  # noqa: B008  # it keeps nothing
    ) -> None:
        self._clock = clock
        self._profiles = profiles
        self._nominator = nominator
        self._options = options
        self._observer = observer
        self._events = options.events
        order = next(iter(profiles.values())).queue_sort.sort_key
        self._active = PodHeap(order)
        self._backoff = self.backoff(options.initial_backoff, options.max_backoff, order, clock.now)
        self._unschedulable = UnschedulablePods(
            # ``use`` replaces ``_requeueing``.
            lambda rejector, pod: self._requeueing.subjects_of(rejector, pod)
        )
        self._in_flight = InFlight()
        self.inspection = Inspection(
            self._active, self._backoff, self._unschedulable, lambda: self._profiles, options
        )
        self._requeueing = Requeueing(profiles, observer)
        self._flush = Ticker(clock, BACKOFF_FLUSH, self._flush_backoff, self._backoff.__len__)
        self._leftovers = Ticker(
            clock, LEFTOVER_FLUSH, self._flush_leftovers, self._unschedulable.__len__
        )
        self._something_to_pop = asyncio.Event()
        self._open_reports = 0  # reports of failed attempts that are being written
        self._is_closed = False

    # --- start and stop ---------------------------------------------------------------------------

    def start(self) -> None:
        """Start the timers that end backoffs on whole seconds and retry pods after a long wait."""
        self._flush.start(origin=0.0)
        self._leftovers.start(origin=self._clock.now())

    def close(self) -> None:
        """Stop the timers; a waiting ``pop`` returns ``None``."""
        self._is_closed = True
        self._flush.stop()
        self._leftovers.stop()
        self._something_to_pop.set()

    def use(
        self, profiles: Mapping[str, ProfileRules], pauses: tuple[float, float] | None = None
    ) -> None:
        """Use other plugins, and another initial and maximum backoff if ``pauses`` are given.

        Pods that the old plugins rejected or gated are tried again, so each of them is indexed anew
        if it has to stay.
        """
        if pauses is not None:
            initial, maximum = pauses
            self._options = replace(self._options, initial_backoff=initial, max_backoff=maximum)
        self._profiles = profiles
        self._requeueing = Requeueing(profiles, self._observer)
        order = next(iter(profiles.values())).queue_sort.sort_key
        self._active.sort_by(order)
        self._backoff.use(self._options.initial_backoff, self._options.max_backoff, order)
        change = ClusterChange(_WILDCARD, labels.OTHER_PLUGINS)
        self._changed()
        self._reconsider(list(self._unschedulable), change)
        self._in_flight.record(change)

    # --- pods are added, changed and deleted ------------------------------------------------------

    def add(self, pod: Pod) -> None:
        """Add a new pod without a node. A pod queued under the same name is replaced."""
        self._remove(pod.key)
        self._enter(pod, self._events.added)

    def update(self, old: Pod | None, new: Pod) -> None:
        """Take a new version of the pod; while it is in flight, the change is only recorded."""
        if new.uid in self._in_flight:
            for change in own_changes(self._events, old, new):
                self._in_flight.record(change)
            return
        queued = self._find(new.key)
        if queued is None or queued.uid != new.uid:
            self._remove(new.key)
            self._enter(new, self._events.updated_unknown)
            return
        self._backoff.offer_next(queued)  # the new version may be of another class
        queued.replace(new)
        self._nominator.update(queued.info, old.nominated_node_name if old else "")
        if queued.key in self._active:
            self._active.push(queued)
        elif queued.key in self._backoff:
            self._backoff.push(queued)
            self._something_to_pop.set()
        else:
            self._reconsider_changed(queued, old)

    def delete(self, pod: Pod) -> None:
        """Remove a pod that was deleted or has a node; an attempt in flight notices it itself."""
        self._nominator.remove(pod.uid)
        queued = self._find(pod.key)
        # Another pod of the same name may be queued by now.
        if queued is not None and queued.uid == pod.uid:
            self._remove(pod.key)

    def waiting(self) -> list[tuple[QueuedPod, str]]:
        """Return all that waits, each with its part of the queue, for ``restore``."""
        return [(queued, self.queue_of(queued.key)) for queued in self.inspection.pods()]

    def restore(self, queued: QueuedPod, queue: str) -> None:
        """Add what waits in another queue, to the part that ``waiting`` reported there."""
        if queue == "active":
            self._active.push(queued)
        elif queue == "backoff":
            self._backoff.push(queued)
            self._flush.arm()
        else:
            self._unschedulable.put(queued)
            self._leftovers.arm()

    def _reconsider_changed(self, queued: QueuedPod, old: Pod | None) -> None:
        """Requeue an unschedulable pod if its own change may make it schedulable."""
        for change in own_changes(self._events, old, queued.pod):
            strategy = self._requeueing.strategy(queued, change)
            self._requeue(queued, strategy, change.label)
            if queued.key not in self._unschedulable:
                return

    def _enter(self, pod: Pod, label: str) -> None:
        queued = QueuedPod.of(pod, self._clock.now())
        if self._events.nominates_gated:
            self._nominator.add(queued.info)
        self._to_active(queued, label)

    def _find(self, key: str) -> QueuedPod | None:
        return self._active.get(key) or self._backoff.get(key) or self._unschedulable.get(key)

    def _remove(self, key: str) -> None:
        queues = (self._active, self._backoff, self._unschedulable)
        found = next((queued for each in queues if (queued := each.remove(key))), None)
        if found is not None:
            self._nominator.remove(found.uid)

    # --- one attempt ------------------------------------------------------------------------------

    async def pop(self) -> QueuedPod | None:
        """Wait for the next pod; return ``None`` once the queue is closed."""
        while not self._is_closed:
            queued = self.pop_now()
            if queued is not None:
                return queued
            self._something_to_pop.clear()
            await self._something_to_pop.wait()
        return None

    def pop_now(self) -> QueuedPod | None:
        """Return the next pod, if any. It is in flight until ``put_back`` or ``done``."""
        while (queued := self._take()) is not None:
            if self._start(queued):
                return queued
        return None

    def _start(self, queued: QueuedPod) -> bool:
        """Begin an attempt. Return whether there is one: not for a pod that is tried already."""
        queued.attempts += 1
        self._backoff.offer_next(queued)
        if queued.uid in self._in_flight:
            log.warning("the same pod is tracked in multiple places", pod=queued.key)
            return False
        self._in_flight.start(queued.uid)
        return True

    def put_back(self, queued: QueuedPod) -> None:
        """Take back a pod whose attempt failed; ``queued.rejected_by`` must have been called.

        Where it goes depends on why it failed and on the changes since ``pop``.
        """
        queue = self.queue_of(queued.key)
        if queue:
            log.warning("a failed pod is in the queue already", pod=queued.key, queue=queue)
        else:
            changes = self._in_flight.since(queued.uid)
            self._backoff.count_failure(queued, changed=changes != [])
            self._requeue(queued, self._requeueing.replay(queued, changes), labels.ATTEMPT_FAILED)
        self.done(queued.uid)

    def done(self, uid: str) -> None:
        """End an attempt whose pod does not come back. Calling it twice is harmless."""
        self._in_flight.done(uid)

    def begin_report(self) -> None:
        """A report of a failed attempt is being written: no pod leaves backoff early.

        This lasts until ``end_report`` was called as often. Otherwise attempts would outrun a slow
        API server, and load it with more reports.
        """
        self._open_reports += 1

    def end_report(self) -> None:
        """A report was written. After the last one a pod may leave backoff early."""
        self._open_reports -= 1
        if not self._open_reports and self._backoff.can_pop_early:
            self._something_to_pop.set()

    def _take(self) -> QueuedPod | None:
        queued = self._active.pop()
        if queued is None and not self._open_reports:
            # There is nothing else to do, so a rejected pod need not wait.
            queued = self._backoff.pop_early()
            if queued is not None:
                self._entered("active", queued, labels.POPPED_EARLY)
        return queued

    # --- events that wake pods --------------------------------------------------------------------

    def awaits(self, event: ClusterEvent) -> bool:
        """Whether a plugin registered this event."""
        return bool(self._requeueing.listeners(event))

    def on_event(
        self,
        event: ClusterEvent,
        old: object | None,
        new: object | None,
        *,
        except_uid: str = "",
        max_priority: int | None = None,
    ) -> None:
        """Requeue the unschedulable pods that an event may help, at once or after backoff.

        The event is kept for pods in flight until they come back. ``except_uid`` and
        ``max_priority`` leave out unschedulable pods, but not pods in flight.
        """
        listeners = self._requeueing.listeners(event)
        if not listeners and not event.is_wildcard:
            return
        change = ClusterChange(event, event.label, old, new)
        self._changed()
        if len(self._unschedulable):  # most pods never are
            self._wake(change, listeners, except_uid, max_priority)
        self._in_flight.record(change)

    def _wake(
        self, change: ClusterChange, listeners: Listeners, except_uid: str, max_priority: int | None
    ) -> None:
        """Requeue those of the unschedulable pods that the change may help."""
        requeueing = self._requeueing
        if change.event.is_wildcard:
            reached = list(self._unschedulable)
        else:
            subjects = requeueing.subjects(change)
            reached = self._unschedulable.rejected_by(listeners, requeueing.held, subjects)
        gates = requeueing.gates() if reached else {}
        asked = []
        for queued in reached:
            too_high = max_priority is not None and queued.info.priority > max_priority
            if queued.uid == except_uid or too_high:
                continue
            if gate := gates.get(queued.uid):
                self._gate(queued, gate, change.label)
            else:
                asked.append(queued)
        self._reconsider(asked, change)

    def _changed(self) -> None:
        """Let pods leave backoff early that would have been rejected before this change."""
        if self._backoff.reconsider():
            self._something_to_pop.set()

    def activate(self, pods: Iterable[Pod]) -> None:
        """Try these pods as soon as possible; those in flight, when they come back."""
        for pod in pods:
            if not self._activate(self._key_of(pod)) and pod.uid in self._in_flight:
                self._in_flight.record(ClusterChange(_WILDCARD, labels.FORCE_ACTIVATE, None, pod))

    def _key_of(self, pod: Pod) -> str:
        """Return the key under which the pod is queued."""
        return pod.key

    def _activate(self, key: str) -> bool:
        """Move a pod to the active ones, if it waits elsewhere. Return whether it does."""
        if (queued := self._unschedulable.get(key)) is not None:
            self._to_active(queued, labels.FORCE_ACTIVATE)
        elif (queued := self._backoff.remove(key)) is not None:
            self._enter_active(queued, labels.FORCE_ACTIVATE)
        return queued is not None

    def _reconsider(self, pods: Collection[QueuedPod], change: ClusterChange) -> None:
        for queued, strategy in self._requeueing.moves(pods, change):
            self._requeue(queued, strategy, change.label)

    def _flush_backoff(self) -> None:
        for queued in self._backoff.pop_expired():
            self._enter_active(queued, labels.BACKOFF_COMPLETE)

    def _flush_leftovers(self) -> None:
        """Retry pods for which no event came for a long time: one may have been missed."""
        stale = self._unschedulable.flush(self._clock.now(), self._options.max_in_unschedulable)
        if stale:
            change = ClusterChange(_WILDCARD, labels.TIMEOUT)
            self._changed()
            self._reconsider(stale, change)
            self._in_flight.record(change)

    # --- moves ------------------------------------------------------------------------------------

    def _requeue(self, queued: QueuedPod, strategy: Strategy, label: str) -> None:
        if strategy is Strategy.SKIP:
            if self._hold(queued, label):
                self._went_as_hinted("unschedulable", queued, label)
        elif strategy is Strategy.AFTER_BACKOFF and self._backoff.is_backing_off(queued):
            if self._to_backoff(queued, label):
                self._went_as_hinted("backoff", queued, label)
        elif self._to_active(queued, label) and strategy is Strategy.IMMEDIATELY:
            self._went_as_hinted("active", queued, label)

    def _to_active(self, queued: QueuedPod, label: str) -> bool:
        if not self._passes(queued, label):
            return False
        self._unschedulable.remove(queued.key)
        self._enter_active(queued, label)
        if label in self._events.nominating:
            self._nominator.add(queued.info)
        return True

    def _to_backoff(self, queued: QueuedPod, label: str) -> bool:
        if not self._passes(queued, label):
            return False
        self._unschedulable.remove(queued.key)
        self._backoff.push(queued)
        self._entered("backoff", queued, label)
        self._flush.arm()
        if self._backoff.can_pop_early:
            self._something_to_pop.set()
        return True

    def _enter_active(self, queued: QueuedPod, label: str) -> None:
        if queued.first_queued is None:
            queued.first_queued = self._clock.now()
        self._active.push(queued)
        self._entered("active", queued, label)
        self._something_to_pop.set()

    def _hold(self, queued: QueuedPod, label: str) -> bool:
        """Keep the pod until an event. Return whether it is new there."""
        is_new = self._unschedulable.put(queued)
        if is_new:
            self._entered("unschedulable", queued, label)
            self._leftovers.arm()
        return is_new

    def _entered(self, queue: str, queued: QueuedPod, label: str) -> None:
        self._observer.incoming(queue, label)

    def _went_as_hinted(self, queue: str, queued: QueuedPod, label: str) -> None:
        self._observer.as_hinted(queue, label)

    def _passes(self, queued: QueuedPod, label: str) -> bool:
        """Whether PreEnqueue admits the pod. If not, the pod is held, gated by that plugin."""
        plugin = self._refusing_plugin(queued)
        if plugin:
            self._gate(queued, plugin, label)
        return not plugin

    def _refusing_plugin(self, queued: QueuedPod) -> str:
        """Ask PreEnqueue. Return the plugin that refuses the pod, or an empty string."""
        profile = queued.pod.scheduler_name
        rules = self._profiles.get(profile)
        if rules is None:
            return ""  # the main loop reports it when the pod is popped
        start = perf_counter()
        status = rules.pre_enqueue(queued.pod, queued.gating_plugin)
        self._observer.point(profile, "PreEnqueue", "Success", perf_counter() - start)
        if status.ok:
            queued.gating_plugin = ""
            return ""
        if status.code is Code.ERROR:
            log.warning(
                "a preenqueue plugin failed", pod=queued.key, plugin=status.plugin, why=str(status)
            )
        return status.plugin

    def _gate(self, queued: QueuedPod, plugin: str, label: str) -> None:
        queued.gating_plugin = plugin
        queued.unschedulable_plugins |= {plugin}
        queued.was_flushed = False
        self._hold(queued, label)

    # --- for metrics, dumps and tests -------------------------------------------------------------

    def pending(self) -> Pending | GroupPending:
        gated = self._unschedulable.gated
        held = len(self._unschedulable) - gated
        return Pending(len(self._active), len(self._backoff), held, gated)

    def entities(self) -> Mapping[tuple[str, ...], float]:
        """Count what is queued by sub-queue and type: ``pod`` or ``podgroup``."""
        return {(part, POD): n for part, n in self.pending()._asdict().items()}

    def pods(self) -> list[QueuedPod]:
        """Return all waiting pods, the active ones first."""
        return list(self.inspection.pods())

    @property
    def in_flight(self) -> int:
        """How many pods are in flight."""
        return len(self._in_flight)

    def in_flight_events(self) -> Counter[str]:
        """Count the events kept for pods in flight by label; the pods count as ``PodPopped``."""
        return self._in_flight.counts()

    def queue_of(self, key: str) -> str:
        return self.inspection.queue_of(key)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a pod is in two sub-queues, or an index is wrong."""
        is_steady = next(iter(self._profiles.values())).queue_sort.is_steady
        for heap in (self._active, self._backoff):
            heap.check_invariants(is_steady)
        for part in (self._unschedulable, self._in_flight):
            part.check_invariants()
        keys = Counter(queued.key for queued in self.pods())
        twice = [key for key, times in keys.items() if times > 1]
        assert not twice, f"in several sub-queues: {twice}"
        flying = [queued.key for queued in self.pods() if queued.uid in self._in_flight]
        assert not flying, f"in flight and waiting: {flying}"
