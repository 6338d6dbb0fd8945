"""A heap of pods that also finds and removes them by key; used for active pods and backoff."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from podium.framework.queued_pod import QueuedPod

Order = Callable[[QueuedPod], Any]
_FEW = 64


class _Entry(NamedTuple):
    """``number`` is unique, so that comparing two entries never compares the pods."""

    order: Any
    arrival: int
    number: int
    queued: QueuedPod


class PodHeap:
    """Returns the pod with the least ``order`` first; among equals, the one that entered first.

    Invariant: ``_entries`` holds the one valid entry of each pod, and ``_heap`` contains all of
    them. Entries of pods that were removed or moved stay in ``_heap`` until they come up, and are
    cleared out when they are the majority. ``check_invariants`` checks this.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._entries: dict[str, _Entry] = {}
        self._heap: list[_Entry] = []
        self._numbers = itertools.count()

    def sort_by(self, order: Order) -> None:
        """Sort by another order; equal pods stay in the order in which they entered."""
        self._order = order
        self._entries = {
            key: entry._replace(order=order(entry.queued)) for key, entry in self._entries.items()
        }
        self._heap = list(self._entries.values())
        heapq.heapify(self._heap)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[QueuedPod]:
        """Iterate over all pods, in no particular order."""
        return (entry.queued for entry in self._entries.values())

    def first(self, most: int) -> list[QueuedPod]:
        """Return the first pods in order, without removing them."""
        return [entry.queued for entry in heapq.nsmallest(most, self._entries.values())]

    def get(self, key: str) -> QueuedPod | None:
        entry = self._entries.get(key)
        return entry.queued if entry else None

    def push(self, queued: QueuedPod) -> None:
        """Add the pod, or move it to its new position; among equals it keeps its turn."""
        key, number = queued.key, next(self._numbers)
        before = self._entries.get(key)
        arrival = number if before is None else before.arrival
        entry = _Entry(self._order(queued), arrival, number, queued)
        heapq.heappush(self._heap, entry)
        self._entries[key] = entry
        self._compact()

    def remove(self, key: str) -> QueuedPod | None:
        entry = self._entries.pop(key, None)
        self._compact()
        return entry.queued if entry else None

    def peek(self) -> QueuedPod | None:
        while self._heap and not self._is_valid(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0].queued if self._heap else None

    def pop(self) -> QueuedPod | None:
        first = self.peek()
        if first is not None:
            heapq.heappop(self._heap)
            del self._entries[first.key]
        return first

    def _is_valid(self, entry: _Entry) -> bool:
        return self._entries.get(entry.queued.key) is entry

    def _compact(self) -> None:
        if len(self._heap) > 2 * len(self._entries) + _FEW:
            self._heap = [entry for entry in self._heap if self._is_valid(entry)]
            heapq.heapify(self._heap)

    def check_invariants(self, is_steady: bool = True) -> None:
        """Check that index and heap agree, and that no child comes before its parent.

        If the order of a pod is not steady, it is the one from when the pod was added or moved.
        """
        valid = {entry.queued.key: entry for entry in self._heap if self._is_valid(entry)}
        assert valid == self._entries, "the heap and its index differ"
        for key, entry in self._entries.items():
            assert entry.queued.key == key, f"{entry.queued.key} is stored under {key}"
            is_current = not is_steady or entry.order == self._order(entry.queued)
            assert is_current, f"{key} has an outdated order"
        for index in range(1, len(self._heap)):
            child, parent = self._heap[index], self._heap[(index - 1) // 2]
            assert not child < parent, f"{child.queued.key} is behind {parent.queued.key}"
