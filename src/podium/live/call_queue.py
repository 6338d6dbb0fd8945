"""Writes to the API that wait their turn: for each pod at most one, merged as they come.

A pure state machine; ``api_dispatcher`` sends the calls.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from podium.api.objects import Condition, Pod
from podium.client.status_patches import status_patch


@dataclass(eq=False, slots=True)
class PodStatusPatch:
    """Sets a condition and the nomination of a pod; ``None`` leaves either as it is.

    ``pod`` is the version that the patch starts from: the last one seen before it is sent.
    """

    kind: ClassVar = "pod_status_patch"
    relevance: ClassVar = 1

    pod: Pod
    condition: Condition | None = None
    nominated_node_name: str | None = None

    @property
    def has_effect(self) -> bool:
        wanted = self.condition, self.nominated_node_name
        return status_patch(self.pod, *wanted, now="") is not None

    def take_over(self, older: PodStatusPatch) -> None:
        """Set what the older call would have set and this one leaves alone."""
        if self.condition is None:
            self.condition = older.condition
        if self.nominated_node_name is None:
            self.nominated_node_name = older.nominated_node_name


@dataclass(eq=False, slots=True)
class PodBinding:
    """Binds a pod to a node."""

    kind: ClassVar = "pod_binding"
    relevance: ClassVar = 2

    pod: Pod
    node_name: str
    has_effect: ClassVar = True


Call: TypeAlias = PodStatusPatch | PodBinding


@dataclass(eq=False, slots=True)
class QueuedCall:
    """A call, and ``done``: its result, also if it was not needed in the end."""

    call: Call
    done: asyncio.Future[None] = field(default_factory=lambda: _future())

    @property
    def uid(self) -> str:
        return self.call.pod.uid

    def drop(self) -> None:
        """End the call without sending it: another one replaces it, or it has no effect."""
        if not self.done.done():
            self.done.set_result(None)


def _future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


class CallQueue:
    """The calls that wait and those that are being sent.

    ``_newest`` has the last call of each pod, which waits or is being sent. ``_in_flight`` has the
    call that is being sent, never two for one pod: the newest, or an older one for which the newest
    waits. ``_waiting`` has, in the order of arrival, the pods whose newest call may be sent now,
    which are those without a call in flight.
    """

    def __init__(self) -> None:
        self._newest: dict[str, QueuedCall] = {}
        self._waiting: dict[str, None] = {}
        self._in_flight: dict[str, QueuedCall] = {}

    def add(self, new: QueuedCall) -> None:
        """Queue a call, or end it at once if it is not needed."""
        old = self._newest.get(new.uid)
        if old is not None and not self._replaces(new, old):
            new.drop()
        elif new.call.has_effect or new.uid in self._in_flight:
            self._newest[new.uid] = new
            if old is None:
                self._waiting[new.uid] = None
        else:
            self._remove(new.uid)
            new.drop()

    def _replaces(self, new: QueuedCall, old: QueuedCall) -> bool:
        """Return whether the new call replaces the older one, which is merged into it."""
        if new.call.relevance < old.call.relevance:
            return False
        if isinstance(new.call, PodStatusPatch) and isinstance(old.call, PodStatusPatch):
            new.call.take_over(old.call)
        if type(new.call) is type(old.call) or self._in_flight.get(old.uid) is not old:
            old.drop()
        return True

    def _remove(self, uid: str) -> None:
        self._newest.pop(uid, None)
        self._waiting.pop(uid, None)

    def pop(self) -> QueuedCall | None:
        """Return the next call to be sent; ``finish`` must be called with it afterwards."""
        uid = next(iter(self._waiting), None)
        if uid is None:
            return None
        del self._waiting[uid]
        queued = self._in_flight[uid] = self._newest[uid]
        return queued

    def finish(self, sent: QueuedCall) -> None:
        """Forget a call that was sent; a newer one of the same pod may be sent from now on."""
        del self._in_flight[sent.uid]
        if self._newest[sent.uid] is sent:
            del self._newest[sent.uid]
        else:
            self._waiting[sent.uid] = None

    def sync(self, pod: Pod) -> None:
        """Let a call that waits start from this version; drop it if it has no effect any more."""
        queued, sent = self._newest.get(pod.uid), self._in_flight.get(pod.uid)
        if queued is None or queued is sent or not isinstance(queued.call, PodStatusPatch):
            return
        queued.call.pod = pod
        if sent is None and not queued.call.has_effect:
            self._remove(pod.uid)
            queued.drop()

    def waiting(self) -> dict[str, float]:
        """Return how many calls of each kind wait to be sent; from any thread."""
        newest, uids = self._newest.copy(), list(self._waiting)
        kinds = [newest[uid].call.kind for uid in uids if uid in newest]
        return {kind: kinds.count(kind) for kind in (PodStatusPatch.kind, PodBinding.kind)}

    def check_invariants(self) -> None:
        assert self._waiting.keys() | self._in_flight.keys() == self._newest.keys()
        assert not self._waiting.keys() & self._in_flight.keys()
