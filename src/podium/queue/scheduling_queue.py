"""The scheduling queue: which pod is tried next, and which events wake the others.

The main loop pops pods and puts back or finishes each. Event handlers add, change and delete pods
and report changes in the cluster. Everything runs on one thread, without I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from podium.api.objects import Pod
from podium.framework.events import ClusterEvent
from podium.framework.queued_pod import QueuedPod
from podium.logs import get_logger
from podium.metrics import POD
from podium.queue import labels
from podium.queue.gating import Gating
from podium.queue.in_flight import ClusterChange, own_changes
from podium.queue.moves import WILDCARD, Moves
from podium.queue.observation import GroupPending, Pending
from podium.queue.requeueing import Listeners, Requeueing
from podium.queue.rules import ProfileRules

log = get_logger(__name__)


class SchedulingQueue(Moves):
    """All pending pods. Each is active, backing off, unschedulable (or gated), or in flight.

    A pod is in exactly one of these; ``check_invariants`` checks it. ``profiles`` are by scheduler
    name, and QueueSort of the first one orders all pods.
    """

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
        self._gating = Gating(profiles, self._observer)
        self._requeueing = Requeueing(profiles, self._observer)
        order = next(iter(profiles.values())).queue_sort.sort_key
        self._active.sort_by(order)
        self._backoff.use(self._options.initial_backoff, self._options.max_backoff, order)
        change = ClusterChange(WILDCARD, labels.OTHER_PLUGINS)
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
        queued = self._queues.find(new.key)
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
        queued = self._queues.find(pod.key)
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

    def _remove(self, key: str) -> None:
        found = self._queues.remove(key)
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
        if change.event.is_wildcard:
            reached = list(self._unschedulable)
        else:
            subjects = self._requeueing.subjects(change)
            reached = self._unschedulable.rejected_by(listeners, self._gating.held, subjects)
        if except_uid:
            reached = [queued for queued in reached if queued.uid != except_uid]
        if max_priority is not None:
            reached = [queued for queued in reached if queued.info.priority <= max_priority]
        if reached:
            self._reconsider(self._without_held(reached, change), change)

    def _without_held(self, pods: list[QueuedPod], change: ClusterChange) -> list[QueuedPod]:
        """Gate the pods that a PreEnqueue plugin holds back now, and return the others."""
        gates = self._gating.gates()
        if not gates:
            return pods
        for queued in pods:
            if gate := gates.get(queued.uid):
                self._gate(queued, gate, change.label)
        return [queued for queued in pods if queued.uid not in gates]

    def activate(self, pods: Iterable[Pod]) -> None:
        """Try these pods as soon as possible; those in flight, when they come back."""
        for pod in pods:
            if not self._activate(self._key_of(pod)) and pod.uid in self._in_flight:
                self._in_flight.record(ClusterChange(WILDCARD, labels.FORCE_ACTIVATE, None, pod))

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
        """Return how many pods are in flight."""
        return len(self._in_flight)

    def in_flight_events(self) -> Counter[str]:
        """Count the events kept for pods in flight by label; the pods count as ``PodPopped``."""
        return self._in_flight.counts()

    def queue_of(self, key: str) -> str:
        return self.inspection.queue_of(key)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a pod is in two places, or an index is wrong."""
        self._queues.check_invariants(next(iter(self._profiles.values())).queue_sort.is_steady)
        self._in_flight.check_invariants()
        keys = Counter(queued.key for queued in self.pods())
        twice = [key for key, times in keys.items() if times > 1]
        assert not twice, f"in several sub-queues: {twice}"
        flying = [queued.key for queued in self.pods() if queued.uid in self._in_flight]
        assert not flying, f"in flight and waiting: {flying}"
