"""Where pods are in the queue, since when, and what would move them: for `podium explain`.

Everything here only reads. It runs on the queue's thread, and answers about a few pods of many.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from podium.framework.events import action_names
from podium.framework.queued_pod import QueuedPod
from podium.queue.options import QueueOptions
from podium.queue.rules import ProfileRules
from podium.queue.sub_queues import SubQueues


@dataclass(frozen=True, slots=True)
class PodInQueue:
    """A waiting pod. Times are in seconds since the epoch.

    ``queue`` is ``active``, ``backoff``, ``unschedulable`` or ``gated``; ``incomplete`` for a pod
    whose PodGroup does not exist. ``retried_at`` is when an unschedulable pod is tried even without
    an event. ``waking_events`` are by plugin: those that may requeue an unschedulable or gated pod.
    ``group`` is the key of its PodGroup, if it has one.
    """

    pod: str
    uid: str
    queue: str
    since: float
    attempts: int
    profile: str
    priority: int = 0
    first_queued: float | None = None
    backoff_until: float | None = None
    retried_at: float | None = None
    gated_by: str = ""
    rejected_by: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    waking_events: Mapping[str, tuple[str, ...]] | None = None
    group: str = ""


class Place(NamedTuple):
    """In which sub-queue a pod is, and the plugin that gates it or its group."""

    queue: str
    gated_by: str = ""


@dataclass(frozen=True, slots=True)
class GroupInQueue:
    """A PodGroup; its waiting members are queued and tried together.

    ``state`` describes the group as if it were a pod; ``None`` if it is not queued. ``wanted`` is
    how many members must be placed at once, 0 while the PodGroup is not known. ``message`` is what
    its condition says.
    """

    key: str
    state: PodInQueue | None
    wanted: int = 0
    members: frozenset[str] = frozenset()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """The sub-queues of a queue, for reading; ``profiles`` returns the present rules by name."""

    queues: SubQueues
    profiles: Callable[[], Mapping[str, ProfileRules]]
    options: QueueOptions

    def of_pod(self, key: str) -> PodInQueue | None:
        """Return where the pod waits; ``None`` if it does not wait here."""
        queued = self.queues.find(key)
        return None if queued is None else self._described(queued)

    def first(self, most: int) -> list[PodInQueue]:
        """Return the first pods of each sub-queue, at most this many of each.

        Active pods come in the order in which they are tried, others by the end of their backoff,
        unschedulable pods in the order in which they entered.
        """
        backing_off = heapq.nsmallest(most, self.queues.backoff, key=self.queues.backoff.expiry)
        chosen = [
            *self.queues.active.first(most),
            *backing_off,
            *islice(self.queues.unschedulable, most),
        ]
        return [self._described(queued) for queued in chosen]

    def pods(self) -> Iterator[QueuedPod]:
        """Return all waiting pods, the active ones first."""
        return iter(self.queues)

    def refused(self) -> Iterator[QueuedPod]:
        """Return all waiting pods but those that are about to be tried."""
        return chain(self.queues.backoff, self.queues.unschedulable)

    def groups(self, others: Iterable[str] = ()) -> list[GroupInQueue]:
        """Return the PodGroups that have waiting members, and those with these keys."""
        return []

    def rejections(self) -> Counter[tuple[str, str]]:
        """Count the waiting pods that each (plugin, profile) rejected."""
        return Counter((name, q.pod.scheduler_name) for q in self.pods() for name in q.rejectors)

    def _described(self, queued: QueuedPod) -> PodInQueue:
        queue = self.queue_of(queued.key)
        is_held = queue in ("unschedulable", "gated")
        last = max(queued.timestamp, queued.flushed_at)
        return PodInQueue(
            pod=queued.key,
            uid=queued.uid,
            queue=queue,
            since=queued.timestamp,
            attempts=queued.attempts,
            profile=queued.pod.scheduler_name,
            priority=queued.info.priority,
            first_queued=queued.first_queued,
            backoff_until=self._backoff_end(queued),
            retried_at=last + self.options.max_in_unschedulable if is_held else None,
            gated_by=queued.gating_plugin,
            rejected_by=tuple(sorted(queued.unschedulable_plugins)),
            pending_plugins=tuple(sorted(queued.pending_plugins)),
            waking_events=self._waking_events(queued) if is_held else None,
            group=queued.pod.group_key,
        )

    def queue_of(self, key: str) -> str:
        """Return ``active``, ``backoff``, ``unschedulable``, ``gated`` or an empty string."""
        return self.queues.queue_of(key)

    def place_of(self, queued: QueuedPod) -> Place:
        """Return where a pod of ``SchedulingQueue.pods`` is; faster than to look for its key."""
        return Place(self.queue_of(queued.key), queued.gating_plugin)

    def _backoff_end(self, queued: QueuedPod) -> float | None:
        if not self.queues.backoff.is_backing_off(queued):
            return None
        return self.queues.backoff.end(queued)

    def _waking_events(self, queued: QueuedPod) -> dict[str, tuple[str, ...]]:
        """Return the events that reach the pod; of a gated one only those of its gate do."""
        rules = self.profiles().get(queued.pod.scheduler_name)
        if rules is None:
            return {}
        plugins = {queued.gating_plugin} if queued.is_gated else queued.rejectors
        return {
            plugin: tuple(
                dict.fromkeys(
                    f"{each.event.resource} {action}"
                    for each in rules.registrations.get(plugin, ())
                    for action in action_names(each.event)
                )
            )
            for plugin in sorted(plugins)
        }
