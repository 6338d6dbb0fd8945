"""Pods that Permit holds back until every waiting plugin allows them, or the wait ends.

Plugins may look them up, allow, reject and preempt them from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from podium import durations
from podium.api.objects import Pod
from podium.clock import Clock, Timer
from podium.framework.status import SUCCESS, Code, Status

LONGEST_WAIT = 15 * 60.0


class Caller(Protocol):
    """Calls something on the thread that waiting pods belong to: now, or soon."""

    def __call__(self, function: Callable[[], object], /) -> None: ...


def call_now(function: Callable[[], object]) -> None:
    """For shells with one thread."""
    function()


class WaitingPod:
    """One timer per plugin, void once that plugin allows; the first end wins."""

    def __init__(self, pod: Pod, waits: Mapping[str, float], clock: Clock) -> None:
        self.pod = pod
        self.outcome: Status | None = None
        self.call: Caller = call_now
        self._timers: dict[str, Timer] = {}
        self._listeners: list[Callable[[Status], None]] = []
        for plugin, seconds in waits.items():
            seconds = min(seconds, LONGEST_WAIT)
            self._timers[plugin] = clock.call_later(seconds, self._expiry(plugin, seconds))

    @property
    def pending_plugins(self) -> list[str]:
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        """This plugin no longer holds the pod."""
        self.call(lambda: self._allow(plugin))

    def _allow(self, plugin: str) -> None:
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers:
            self._end(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        """End the wait with a rejection; false when it had ended before."""
        return self._finish(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """End the wait with an error, so that the pod is tried again instead of given up."""
        return self._finish(Status(Code.ERROR, (message,), plugin))

    def _finish(self, status: Status) -> bool:
        if self.outcome is not None:
            return False
        self.call(lambda: self._end(status))
        return True

    def when_done(self, listener: Callable[[Status], None]) -> None:
        """Call the listener with the outcome, at once if there is one."""
        if self.outcome is not None:
            listener(self.outcome)
        else:
            self._listeners.append(listener)

    def _expiry(self, plugin: str, seconds: float) -> Callable[[], object]:
        wait = durations.format(seconds)
        text = f"rejected due to timeout after waiting {wait} at plugin {plugin}"
        return lambda: self.reject(plugin, text)

    def _end(self, status: Status) -> None:
        if self.outcome is not None:
            return
        self.outcome = status
        for timer in self._timers.values():
            timer.cancel()
        for listener in self._listeners:
            listener(status)


class WaitingPods:
    """All waiting pods of a scheduler, by uid; profiles share it."""

    def __init__(self, call: Caller = call_now) -> None:
        self._call = call
        self._pods: dict[str, WaitingPod] = {}

    def add(self, waiting: WaitingPod) -> None:
        waiting.call = self._call
        self._pods[waiting.pod.uid] = waiting

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def reject(self, uid: str) -> bool:
        """The pod was deleted while it waited; false when it does not wait."""
        waiting = self._pods.get(uid)
        return waiting is not None and waiting.reject("", "removed")

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def __len__(self) -> int:
        return len(self._pods)
