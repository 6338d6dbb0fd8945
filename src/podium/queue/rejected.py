"""Rejected pods in backoff, and which of them may be tried before their backoff ends.

A pod that was rejected is tried early when there is nothing else to do. But as long as nothing has
changed, pods that are equal to it would be rejected as well. Without this rule, a thousand waiting
replicas keep a core busy: every event wakes all of them, and each fails for the same reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator

from podium.framework.queued_pod import QueuedPod
from podium.queue.heap import Order, PodHeap


class RejectedPods:
    """Rejected pods in order. Those like a pod that has just been rejected are passed over.

    A class is the pods with one ``failed_as``. ``_hopeless`` are the classes of which a pod was
    rejected after the last change of the cluster.

    Invariants: each pod is in ``_ready``, or in the heap of its class in ``_parked``, and no heap
    there is empty. ``_parked_as`` names the class of each parked pod. ``_arrivals`` numbers all
    pods in the order in which they came, which decides among equal ones. Pods are parked while
    their class is hopeless; when it is not any more, its first parked pod becomes ready, and the
    next one whenever a pod of it is tried.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._arrivals: dict[str, int] = {}
        self._numbers = itertools.count()
        self._ready = PodHeap(self._turn)
        self._parked: dict[Hashable, PodHeap] = {}
        self._parked_as: dict[str, Hashable] = {}
        self._hopeless: set[Hashable] = set()

    def _turn(self, queued: QueuedPod) -> tuple[object, int]:
        return self._order(queued), self._arrivals[queued.key]

    def sort_by(self, order: Order) -> None:
        self._order = order
        for heap in self._heaps():
            heap.sort_by(self._turn)

    def __len__(self) -> int:
        return len(self._arrivals)

    def __contains__(self, key: str) -> bool:
        return key in self._arrivals

    def __iter__(self) -> Iterator[QueuedPod]:
        return itertools.chain.from_iterable(self._heaps())

    def get(self, key: str) -> QueuedPod | None:
        return self._heap_of(key).get(key)

    def push(self, queued: QueuedPod) -> None:
        """Add the pod, or move it to its new position; it is ready in both cases."""
        self._leave_parked(queued.key)
        if queued.key in self._ready:  # it may fall behind others of its class
            self._offer(queued.failed_as)
        self._arrivals.setdefault(queued.key, next(self._numbers))
        self._ready.push(queued)

    def remove(self, key: str) -> QueuedPod | None:
        if self._arrivals.pop(key, None) is None:
            return None
        found = self._leave_parked(key)
        if found is None:
            found = self._ready.remove(key)
            self._offer(found.failed_as if found is not None else None)
        return found

    def pop_expired(self, is_over: Callable[[QueuedPod], bool]) -> list[QueuedPod]:
        """Remove the pods whose backoff has ended, and return them in order."""
        over = []
        for heap in list(self._heaps()):
            while (first := heap.peek()) is not None and is_over(first):
                over.append((self._turn(first), first))
                self.remove(first.key)
        return [queued for _, queued in sorted(over, key=lambda entry: entry[0])]

    # --- early attempts ---------------------------------------------------------------------------

    @property
    def can_pop_early(self) -> bool:
        """Whether some pod may be ready; ``pop_early`` finds out."""
        return bool(self._ready)

    def pop_early(self) -> QueuedPod | None:
        """Remove and return the first pod that may fare better than those tried before."""
        while (queued := self._ready.pop()) is not None:
            # A pod with a nomination of its own has room that equal pods do not have.
            if queued.failed_as not in self._hopeless or queued.pod.nominated_node_name:
                del self._arrivals[queued.key]
                return queued
            self._park(queued)
        return None

    def offer_next(self, queued: QueuedPod) -> None:
        """Let the next pod of this one's class be tried: if one finds a node, so may the next."""
        self._offer(queued.failed_as)

    def failed(self, queued: QueuedPod) -> None:
        """The pod was rejected, and nothing has changed since its attempt began."""
        if queued.failed_as is not None:
            self._hopeless.add(queued.failed_as)

    def reconsider(self) -> bool:
        """The cluster changed. Return whether there are pods that it may have helped."""
        offered = [self._offer(failed_as) for failed_as in self._hopeless]
        self._hopeless.clear()
        return any(offered)

    def _park(self, queued: QueuedPod) -> None:
        failed_as = queued.failed_as
        heap = self._parked.get(failed_as)
        if heap is None:
            heap = self._parked[failed_as] = PodHeap(self._turn)
        heap.push(queued)
        self._parked_as[queued.key] = failed_as

    def _offer(self, failed_as: Hashable) -> bool:
        """Make the first parked pod of a class ready. Return whether there is one."""
        heap = None if failed_as is None else self._parked.get(failed_as)
        first = None if heap is None else heap.peek()
        if first is None:
            return False
        self._leave_parked(first.key)
        self._ready.push(first)
        return True

    def _leave_parked(self, key: str) -> QueuedPod | None:
        failed_as = self._parked_as.pop(key, None)
        if failed_as is None:
            return None
        heap = self._parked[failed_as]
        found = heap.remove(key)
        if not heap:
            del self._parked[failed_as]
        return found

    def _heap_of(self, key: str) -> PodHeap:
        failed_as = self._parked_as.get(key)
        return self._ready if failed_as is None else self._parked[failed_as]

    def _heaps(self) -> Iterator[PodHeap]:
        return itertools.chain((self._ready,), self._parked.values())

    def check_invariants(self, is_steady: bool = True) -> None:
        for heap in self._heaps():
            heap.check_invariants(is_steady)
        parked = {q.key: failed_as for failed_as, heap in self._parked.items() for q in heap}
        assert parked == self._parked_as, "the index of parked pods is wrong"
        assert all(self._parked.values()), "a class without parked pods is kept"
        offered = {queued.failed_as for queued in self._ready}
        left_out = self._parked.keys() - self._hopeless - offered
        assert not left_out, f"no pod of these classes may be tried: {left_out}"
        ready = {queued.key for queued in self._ready}
        assert not ready & set(parked), "a pod is ready and parked"
        assert ready | set(parked) == set(self._arrivals), "a pod has no number"
