"""The pods of a run that wait: a priority queue, and beside it those gated or taken by no node.

A stand-in for the scheduling queue. It knows neither backoff nor hints: what may have made room
returns every rejected pod.
"""

from __future__ import annotations

import heapq
import itertools

from podium.api.objects import Pod
from podium.framework.queued_pod import QueuedPod


class Pending:
    """Highest priority first, then first come first served."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, QueuedPod]] = []
        self._rejected: dict[str, tuple[QueuedPod, str]] = {}  # with the reason, by uid
        self._gated: dict[str, tuple[Pod, str]] = {}  # likewise
        self._gone: set[str] = set()
        self._order = itertools.count()
        self._front = itertools.count(-1, -1)

    def push(self, queued: QueuedPod) -> None:
        heapq.heappush(self._heap, (-queued.pod.priority, next(self._order), queued))

    def push_first(self, queued: QueuedPod) -> None:
        """Before all others of its priority: room was just made for it."""
        heapq.heappush(self._heap, (-queued.pod.priority, next(self._front), queued))

    def pop(self) -> QueuedPod | None:
        """The next pod; ``None`` when only rejected pods are left."""
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
        """Keep the pod; nothing but its deletion changes that."""
        self._gated[pod.uid] = pod, why

    def wake(self) -> None:
        """Something may have made room: every rejected pod is tried again."""
        woken, self._rejected = self._rejected, {}
        for queued, _ in woken.values():
            self.push(queued)

    def discard(self, uid: str) -> None:
        """The pod was deleted before it found a node."""
        if self._rejected.pop(uid, None) is None and self._gated.pop(uid, None) is None:
            self._gone.add(uid)

    def rejected(self) -> list[tuple[Pod, str]]:
        """The pods that no node took, then the gated ones, each with the reason."""
        tried = [(queued.pod, why) for queued, why in self._rejected.values()]
        return tried + list(self._gated.values())
