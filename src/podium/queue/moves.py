"""How pods move between the sub-queues: after an attempt, an event or a pause."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from podium.clock import Clock
from podium.framework.events import ACTIONS, ClusterEvent
from podium.framework.nominator import Nominator
from podium.framework.queued_pod import QueuedPod
from podium.queue import labels
from podium.queue.backoff import Backoff
from podium.queue.gating import Gating
from podium.queue.heap import PodHeap
from podium.queue.in_flight import ClusterChange, InFlight
from podium.queue.inspection import Inspection
from podium.queue.observation import NoObserver, QueueObserver
from podium.queue.options import QueueOptions
from podium.queue.requeueing import Requeueing, Strategy
from podium.queue.rules import ProfileRules
from podium.queue.sub_queues import SubQueues
from podium.queue.ticker import Ticker
from podium.queue.unschedulable import UnschedulablePods

WILDCARD: Final = ClusterEvent("*", ACTIONS["All"])
BACKOFF_FLUSH: Final = 1.0
LEFTOVER_FLUSH: Final = 30.0


class Moves:
    """The parts of a scheduling queue, and every move of a pod from one to another.

    Invariants: each move is reported to the observer. A pod that becomes active, or may leave
    backoff early, sets ``_something_to_pop``. Adding a pod to backoff arms ``_flush``; adding one
    to the unschedulable pods arms ``_leftovers``. ``_gating`` and ``_requeueing`` ask the plugins
    of ``_profiles``: the three are replaced together.
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
        self._queues = SubQueues(self._active, self._backoff, self._unschedulable)
        self._in_flight = InFlight()
        self._gating = Gating(profiles, observer)
        self._requeueing = Requeueing(profiles, observer)
        self.inspection = Inspection(self._queues, lambda: self._profiles, options)
        self._flush = Ticker(clock, BACKOFF_FLUSH, self._flush_backoff, self._backoff.__len__)
        self._leftovers = Ticker(
            clock, LEFTOVER_FLUSH, self._flush_leftovers, self._unschedulable.__len__
        )
        self._something_to_pop = asyncio.Event()
        self._open_reports = 0  # reports of failed attempts that are being written
        self._is_closed = False

    # --- moves by timers and hints ----------------------------------------------------------------

    def _flush_backoff(self) -> None:
        for queued in self._backoff.pop_expired():
            self._enter_active(queued, labels.BACKOFF_COMPLETE)

    def _flush_leftovers(self) -> None:
        """Retry pods for which no event came for a long time: one may have been missed."""
        stale = self._unschedulable.flush(self._clock.now(), self._options.max_in_unschedulable)
        if stale:
            change = ClusterChange(WILDCARD, labels.TIMEOUT)
            self._changed()
            self._reconsider(stale, change)
            self._in_flight.record(change)

    def _changed(self) -> None:
        """Let pods leave backoff early that would have been rejected before this change."""
        if self._backoff.reconsider():
            self._something_to_pop.set()

    def _reconsider(self, pods: Collection[QueuedPod], change: ClusterChange) -> None:
        for queued, strategy in self._requeueing.moves(pods, change):
            self._requeue(queued, strategy, change.label)

    # --- from one sub-queue to another ------------------------------------------------------------

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
        plugin = self._gating.refusing_plugin(queued)
        if plugin:
            self._gate(queued, plugin, label)
        return not plugin

    def _gate(self, queued: QueuedPod, plugin: str, label: str) -> None:
        queued.gating_plugin = plugin
        queued.unschedulable_plugins |= {plugin}
        queued.was_flushed = False
        self._hold(queued, label)
