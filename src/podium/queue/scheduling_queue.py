"""The scheduling queue: which pod is tried next, and what wakes those that cannot be placed.

The main loop pops pods and puts back or finishes each; event handlers add, change and delete pods
and tell what happened in the cluster. All of it on one thread; it does no I/O.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

from podium.api.objects import Pod
from podium.clock import Clock
from podium.framework.events import ACTIONS, ClusterEvent, pod_events
from podium.framework.nominator import Nominator
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Code
from podium.logs import get_logger
from podium.queue.backoff import Backoff
from podium.queue.heap import PodHeap
from podium.queue.in_flight import Happening, InFlight
from podium.queue.observer import QueueObserver, Silent
from podium.queue.pending import Pending
from podium.queue.requeueing import Requeueing, Strategy
from podium.queue.rules import ProfileRules
from podium.queue.ticker import Ticker
from podium.queue.unschedulable import UnschedulablePods

log = get_logger(__name__)

POD_ADDED = "UnschedulablePodAdd"
POD_UPDATED = "UnschedulablePodUpdate"
ATTEMPT_FAILED = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POPPED_EARLY = "PopFromBackoffQ"
FORCE_ACTIVATE = "ForceActivate"
TIMEOUT = "UnschedulableTimeout"
OTHER_PLUGINS = "PluginsExchanged"
_WILDCARD = ClusterEvent("*", ACTIONS["All"])

BACKOFF_FLUSH = 1.0
LEFTOVER_FLUSH = 30.0


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """All in seconds."""

    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    max_in_unschedulable: float = 300.0


class SchedulingQueue:
    """Every pending pod in one place: active, backing off, unschedulable (or gated), in flight.

    ``profiles`` are by scheduler name; the first one's QueueSort orders all pods.
    """

    backoff: ClassVar[type[Backoff]] = Backoff

    def __init__(
        self,
        clock: Clock,
        profiles: Mapping[str, ProfileRules],
        nominator: Nominator,
        options: QueueOptions = QueueOptions(),  # noqa: B008  # frozen
        observer: QueueObserver = Silent(),  # noqa: B008  # it keeps nothing
    ) -> None:
        self._clock = clock
        self._profiles = profiles
        self._nominator = nominator
        self._options = options
        self._observer = observer
        order = next(iter(profiles.values())).queue_sort.sort_key
        self._active = PodHeap(order)
        self._backoff = self.backoff(options.initial_backoff, options.max_backoff, order, clock.now)
        self._unschedulable = UnschedulablePods()
        self._in_flight = InFlight()
        self._requeueing = Requeueing(profiles, observer)
        self._flush = Ticker(clock, BACKOFF_FLUSH, self._flush_backoff, self._backoff.__len__)
        self._leftovers = Ticker(
            clock, LEFTOVER_FLUSH, self._flush_leftovers, self._unschedulable.__len__
        )
        self._something_to_pop = asyncio.Event()
        self._is_closed = False

    # --- life ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Let time pass: backoffs end on whole seconds, and forgotten pods are tried again."""
        self._flush.start(origin=0.0)
        self._leftovers.start(origin=self._clock.now())

    def close(self) -> None:
        """Whoever waits in ``pop`` gets ``None``."""
        self._is_closed = True
        self._flush.stop()
        self._leftovers.stop()
        self._something_to_pop.set()

    def use(self, profiles: Mapping[str, ProfileRules]) -> None:
        """Other plugins: pods that the old ones rejected or gated are tried again."""
        self._profiles = profiles
        self._requeueing = Requeueing(profiles, self._observer)
        order = next(iter(profiles.values())).queue_sort.sort_key
        self._active.sort_by(order)
        self._backoff.sort_by(order)
        happening = Happening(_WILDCARD, OTHER_PLUGINS)
        for queued in list(self._unschedulable):
            self._reconsider(queued, happening)
        self._in_flight.record(happening)

    # --- pending pods come, change and go --------------------------------------------------------

    def add(self, pod: Pod) -> None:
        """A new pod without a node. One queued under its name is replaced."""
        queued = QueuedPod.of(pod, self._clock.now())
        self._remove(pod.key)
        self._to_active(queued, POD_ADDED)

    def update(self, old: Pod | None, new: Pod) -> None:
        """The pod has a new version; while it is in flight, that is only noted."""
        if new.uid in self._in_flight:
            for happening in _own_events(old, new):
                self._in_flight.record(happening)
            return
        queued = self._find(new.key)
        if queued is None or queued.uid != new.uid:
            self._remove(new.key)
            self._to_active(QueuedPod.of(new, self._clock.now()), POD_UPDATED)
            return
        queued.replace(new)
        self._nominator.update(queued.info, old.nominated_node_name if old else "")
        self._moved(queued, old)

    def delete(self, pod: Pod) -> None:
        """The pod is gone or has a node. If it is in flight, its attempt finds out by itself."""
        self._nominator.remove(pod.uid)
        queued = self._find(pod.key)
        # By now another pod of this name may wait.
        if queued is not None and queued.uid == pod.uid:
            self._remove(pod.key)

    def _moved(self, queued: QueuedPod, old: Pod | None) -> None:
        if queued.key in self._active:
            self._active.push(queued)
        elif queued.key in self._backoff:
            self._backoff.push(queued)
        else:
            self._reconsider_changed(queued, old)

    def _reconsider_changed(self, queued: QueuedPod, old: Pod | None) -> None:
        """Its own change may be what an unschedulable pod needs."""
        for happening in _own_events(old, queued.pod):
            strategy = self._requeueing.strategy(queued, happening)
            self._requeue(queued, strategy, happening.label)
            if queued.key not in self._unschedulable:
                return

    def _find(self, key: str) -> QueuedPod | None:
        return self._active.get(key) or self._backoff.get(key) or self._unschedulable.get(key)

    def _remove(self, key: str) -> None:
        places = (self._active, self._backoff, self._unschedulable)
        found = next((queued for place in places if (queued := place.remove(key))), None)
        if found is not None:
            self._nominator.remove(found.uid)

    # --- one attempt -----------------------------------------------------------------------------

    async def pop(self) -> QueuedPod | None:
        """The next pod, as soon as there is one; ``None`` once the queue is closed."""
        while not self._is_closed:
            queued = self.pop_now()
            if queued is not None:
                return queued
            self._something_to_pop.clear()
            await self._something_to_pop.wait()
        return None

    def pop_now(self) -> QueuedPod | None:
        """The next pod, in flight from now on: ``put_back`` or ``done`` must follow."""
        while (queued := self._take()) is not None:
            queued.attempts += 1
            if queued.uid in self._in_flight:
                log.warning("the same pod is tracked in multiple places", pod=queued.key)
                continue
            self._in_flight.start(queued.uid)
            return queued
        return None

    def put_back(self, queued: QueuedPod) -> None:
        """The attempt failed, as ``queued.rejected_by`` was told; where to depends on why.

        What happened since ``pop`` is asked about now. The pod is no longer in flight.
        """
        place = self.place_of(queued.key)
        if place:
            log.warning("a failed pod is in the queue already", pod=queued.key, queue=place)
        else:
            self._count_failure(queued)
            happenings = self._in_flight.since(queued.uid)
            self._requeue(queued, self._requeueing.replay(queued, happenings), ATTEMPT_FAILED)
        self.done(queued.uid)

    def done(self, uid: str) -> None:
        """The attempt is over and the pod does not come back. Doing it twice is fine."""
        self._in_flight.done(uid)

    def _take(self) -> QueuedPod | None:
        queued = self._active.pop()
        if queued is None:
            # Nothing else to do, so a rejected pod need not wait out its time.
            queued = self._backoff.pop_early()
            if queued is not None:
                self._observer.incoming("active", POPPED_EARLY)
        return queued

    def _count_failure(self, queued: QueuedPod) -> None:
        if queued.rejectors:
            queued.unschedulable_count += 1
            queued.consecutive_errors = 0
        else:
            queued.consecutive_errors += 1
        queued.timestamp = self._clock.now()
        queued.backoff_expiry = None
        queued.was_flushed = False
        queued.flushed_at = 0.0

    # --- what wakes pods -------------------------------------------------------------------------

    def on_event(
        self,
        event: ClusterEvent,
        old: object | None,
        new: object | None,
        *,
        except_uid: str = "",
        most_priority: int | None = None,
    ) -> None:
        """Something happened: try the unschedulable pods that it may help, now or after backoff.

        Pods in flight will be asked about it when they come back. ``except_uid`` and
        ``most_priority`` leave out unschedulable pods, not those in flight.
        """
        if not event.is_wildcard and not self._requeueing.listeners(event):
            return
        happening = Happening(event, event.label, old, new)
        for queued in self._reached(event):
            too_high = most_priority is not None and queued.info.priority > most_priority
            if queued.uid != except_uid and not too_high:
                self._reconsider(queued, happening)
        self._in_flight.record(happening)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Try these pods as soon as possible. Those in flight are when they come back."""
        for pod in pods:
            if (queued := self._unschedulable.get(pod.key)) is not None:
                self._to_active(queued, FORCE_ACTIVATE)
            elif (queued := self._backoff.remove(pod.key)) is not None:
                self._enter_active(queued, FORCE_ACTIVATE)
            elif pod.uid in self._in_flight:
                self._in_flight.record(Happening(_WILDCARD, FORCE_ACTIVATE, None, pod))

    def _reached(self, event: ClusterEvent) -> list[QueuedPod]:
        if event.is_wildcard:
            return list(self._unschedulable)
        return self._unschedulable.rejected_by(self._requeueing.listeners(event))

    def _reconsider(self, queued: QueuedPod, happening: Happening) -> None:
        if not self._requeueing.may_open(queued, happening.event):
            return
        strategy = self._requeueing.strategy(queued, happening)
        if strategy is not Strategy.SKIP:
            self._requeue(queued, strategy, happening.label)

    def _flush_backoff(self) -> None:
        for queued in self._backoff.pop_expired():
            self._enter_active(queued, BACKOFF_COMPLETE)

    def _flush_leftovers(self) -> None:
        """No event came for a long time: perhaps one was missed."""
        now, limit = self._clock.now(), self._options.max_in_unschedulable
        stale = [q for q in self._unschedulable if now - max(q.timestamp, q.flushed_at) > limit]
        happening = Happening(_WILDCARD, TIMEOUT)
        for queued in stale:
            queued.was_flushed, queued.flushed_at = True, now
            self._reconsider(queued, happening)
        if stale:
            self._in_flight.record(happening)

    # --- moves -----------------------------------------------------------------------------------

    def _requeue(self, queued: QueuedPod, strategy: Strategy, label: str) -> None:
        if strategy is Strategy.SKIP:
            self._hold(queued, label)
        elif strategy is Strategy.AFTER_BACKOFF and self._backoff.is_backing_off(queued):
            self._to_backoff(queued, label)
        else:
            self._to_active(queued, label)

    def _to_active(self, queued: QueuedPod, label: str) -> None:
        if not self._passes(queued, label):
            return
        self._unschedulable.remove(queued.key)
        self._enter_active(queued, label)
        if label in (POD_ADDED, POD_UPDATED):
            self._nominator.add(queued.info)

    def _to_backoff(self, queued: QueuedPod, label: str) -> None:
        if not self._passes(queued, label):
            return
        self._unschedulable.remove(queued.key)
        self._backoff.push(queued)
        self._observer.incoming("backoff", label)
        self._flush.arm()
        if self._backoff.can_pop_early:
            self._something_to_pop.set()

    def _enter_active(self, queued: QueuedPod, label: str) -> None:
        if queued.first_queued is None:
            queued.first_queued = self._clock.now()
        self._active.push(queued)
        self._observer.incoming("active", label)
        self._something_to_pop.set()

    def _hold(self, queued: QueuedPod, label: str) -> None:
        if self._unschedulable.put(queued):
            self._observer.incoming("unschedulable", label)
            self._leftovers.arm()

    def _passes(self, queued: QueuedPod, label: str) -> bool:
        """Whether PreEnqueue lets the pod in; if not, it is held, gated by the one who refused."""
        profile = queued.pod.scheduler_name
        rules = self._profiles.get(profile)
        if rules is None:
            return True  # whoever pops it finds out
        start = perf_counter()
        status = rules.pre_enqueue(queued.pod, queued.gating_plugin)
        self._observer.point(profile, "PreEnqueue", "Success", perf_counter() - start)
        if status.ok:
            queued.gating_plugin = ""
            return True
        if status.code is Code.ERROR:
            log.warning("PreEnqueue failed", pod=queued.key, plugin=status.plugin, why=str(status))
        queued.gating_plugin = status.plugin
        queued.unschedulable_plugins |= {status.plugin}
        queued.was_flushed = False
        self._hold(queued, label)
        return False

    # --- for metrics, dumps and tests ------------------------------------------------------------

    def pending(self) -> Pending:
        gated = self._unschedulable.gated
        held = len(self._unschedulable) - gated
        return Pending(len(self._active), len(self._backoff), held, gated)

    def pods(self) -> list[QueuedPod]:
        """All pods that wait, first those to be tried soonest."""
        return [*self._active, *self._backoff, *self._unschedulable]

    def rejections(self) -> Counter[tuple[str, str]]:
        """How many waiting pods each (plugin, profile) rejected."""
        return Counter((name, q.pod.scheduler_name) for q in self.pods() for name in q.rejectors)

    def in_flight_events(self) -> Counter[str]:
        """How many events are kept for pods in flight, by label; the pods as ``PodPopped``."""
        return self._in_flight.counts()

    def place_of(self, key: str) -> str:
        """``active``, ``backoff``, ``unschedulable``, ``gated``, or nothing."""
        if key in self._active:
            return "active"
        if key in self._backoff:
            return "backoff"
        queued = self._unschedulable.get(key)
        if queued is None:
            return ""
        return "gated" if queued.is_gated else "unschedulable"

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` when a pod is in two places, or an index is wrong."""
        for part in (self._active, self._backoff, self._unschedulable, self._in_flight):
            part.check_invariants()
        keys = Counter(queued.key for queued in self.pods())
        twice = [key for key, times in keys.items() if times > 1]
        assert not twice, f"in several places: {twice}"
        flying = [queued.key for queued in self.pods() if queued.uid in self._in_flight]
        assert not flying, f"in flight and waiting: {flying}"


def _own_events(old: Pod | None, new: Pod) -> list[Happening]:
    events = pod_events(old or new, new)
    return [Happening(event, event.label, old, new) for event in events]
