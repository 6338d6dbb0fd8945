"""The pending pods of a run: a priority queue, and the pods that are gated or were rejected.

It replaces the scheduling queue, without backoff and hints: any change that may have made room
brings all rejected pods back.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

from podium.api.objects import Pod
from podium.framework.queued_pod import QueuedPod


class Pending:
    """Returns the pod with the highest priority first, then the one added first."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, QueuedPod]] = []
        self._rejected: dict[str, tuple[QueuedPod, str]] = {}  # by uid, with the reason
        self._gated: dict[str, tuple[Pod, str]] = {}  # by uid, with the reason
        self._gone: set[str] = set()
        self._order = itertools.count()
        self._front = itertools.count(-1, -1)

    def push(self, queued: QueuedPod) -> None:
        heapq.heappush(self._heap, (-queued.pod.priority, next(self._order), queued))

    def push_first(self, queued: QueuedPod) -> None:
        """Add a pod before others of its priority, because preemption made room for it."""
        heapq.heappush(self._heap, (-queued.pod.priority, next(self._front), queued))

    def pop(self) -> QueuedPod | None:
        """Remove and return the next pod; ``None`` if only rejected pods are left."""
        while self._heap:
            queued = heapq.heappop(self._heap)[2]
            if queued.pod.uid not in self._gone:
                return queued
            self._gone.discard(queued.pod.uid)
        return None

    def reject(self, queued: QueuedPod, why: str) -> None:
        """Keep the pod until ``wake``."""
        self._rejected[queued.pod.uid] = queued, why

    def gate(self, pod: Pod, why: str) -> None:
        """Keep the pod until it is deleted or replaced by a new version."""
        self._gated[pod.uid] = pod, why

    def wake(self) -> None:
        """Try all rejected pods again, because something may have made room."""
        woken, self._rejected = self._rejected, {}
        for queued, _ in woken.values():
            self.push(queued)

    def discard(self, uid: str) -> None:
        """Remove a pod that was deleted before it found a node."""
        if self._rejected.pop(uid, None) is None and self._gated.pop(uid, None) is None:
            self._gone.add(uid)

    def pods(self) -> Iterator[Pod]:
        """Yield all pods that have no node."""
        yield from (queued.pod for _, _, queued in self._heap if queued.pod.uid not in self._gone)
        yield from (queued.pod for queued, _ in self._rejected.values())
        yield from (pod for pod, _ in self._gated.values())

    def remove(self, uid: str) -> None:
        """Remove a pod so that a new version of it can be added."""
        if self._rejected.pop(uid, None) is None and self._gated.pop(uid, None) is None:
            self._heap = [entry for entry in self._heap if entry[2].pod.uid != uid]
            heapq.heapify(self._heap)

    def rejected(self) -> list[tuple[Pod, str]]:
        """Return the rejected pods, then the gated ones, each with the reason."""
        tried = [(queued.pod, why) for queued, why in self._rejected.values()]
        return tried + list(self._gated.values())
