"""Watches the pods of a benchmark: when each was created and when it got a node."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from podium.client.http import Connection
from podium.client.informer import Informer
from podium.client.resources import Resource
from podium.clock import Deadline
from podium.errors import WorkloadFailed

_SHOWN_REASONS: Final = 5
_SHOWN_CHARACTERS: Final = 300


class _Meta(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""


class _Condition(msgspec.Struct, gc=False):
    type: str
    status: str = ""
    message: str = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []


class SeenPod(msgspec.Struct):
    """The few fields that are read; decoding must not take CPU time from the scheduler."""

    metadata: _Meta
    spec: _Spec
    status: _Status

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def why_pending(self) -> str | None:
        """Return the scheduler's last message about it; ``None`` if there is none."""
        for condition in self.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                return condition.message
        return None


_DECODER = msgspec.json.Decoder(SeenPod)
_PODS: Final = Resource("Pod", "pods", lambda raw, known: _DECODER.decode(raw), needed=True)


class PodWatch:
    """Watches pods; ``created`` and ``bound`` are times by key. Only one wait at a time."""

    def __init__(self, connection: Connection) -> None:
        self._clock = connection.clock
        self._informer: Informer[SeenPod] = Informer(connection, _PODS)
        self._informer.subscribe(self.see)
        self._awaited: set[str] = set()
        self._is_attempt_enough = False
        self._progress = asyncio.Event()
        self._pending: dict[str, str | None] = {}  # by key, with the reason
        self.created: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.on_bound: Callable[[str], None] | None = None  # called with the key, once per pod

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        following = asyncio.create_task(self._informer.run())
        try:
            await self._informer.wait_synced()
            yield
        finally:
            following.cancel()
            await asyncio.wait({following})

    def see(self, old: SeenPod | None, new: SeenPod | None) -> None:
        """Handle an event of the informer."""
        if new is None:
            if old is not None:
                self._pending.pop(old.key, None)
                self._settle(old.key)
            return
        key = new.key
        self.created.setdefault(key, self._clock.now())
        if new.spec.node_name:
            if key not in self.bound:
                self.bound[key] = self._clock.now()
                if self.on_bound is not None:
                    self.on_bound(key)
            self._pending.pop(key, None)
            self._settle(key)
        else:
            self._pending[key] = new.why_pending
            if self._is_attempt_enough and new.why_pending is not None:
                self._settle(key)

    def _settle(self, key: str) -> None:
        if key in self._awaited:
            self._awaited.discard(key)
            self._progress.set()

    @property
    def watches(self) -> int:
        """Return the number of watches so far; each new one may show earlier changes late."""
        return self._informer.watches

    async def settled(
        self, keys: Iterable[str], timeout: float, *, attempted: bool = False
    ) -> None:
        """Wait until these pods are bound, gone, or with ``attempted`` at least tried.

        Raise ``WorkloadFailed`` with the reason if nothing happens for ``timeout`` seconds.
        """
        self._is_attempt_enough = attempted
        self._awaited = {key for key in keys if not self._is_settled(key)}
        try:
            async with Deadline(self._clock, timeout) as deadline:
                while self._awaited:
                    self._progress.clear()
                    await self._progress.wait()
                    deadline.extend()
        except TimeoutError as error:
            raise WorkloadFailed(self._stuck(timeout)) from error
        finally:
            self._awaited = set()

    def _is_settled(self, key: str) -> bool:
        if key in self.bound or (key in self.created and key not in self._pending):
            return True
        return self._is_attempt_enough and self._pending.get(key) is not None

    def _stuck(self, timeout: float) -> str:
        reasons = Counter(self._reason(key) for key in self._awaited)
        lines = [f"\n  {count}: {why}" for why, count in reasons.most_common(_SHOWN_REASONS)]
        if len(reasons) > _SHOWN_REASONS:
            lines.append(f"\n  and {len(reasons) - _SHOWN_REASONS} reasons more")
        pods = "1 pod" if len(self._awaited) == 1 else f"{len(self._awaited)} pods"
        return f"{pods} found no node, and for {timeout:g} s none has:{''.join(lines)}"

    def _reason(self, key: str) -> str:
        if key not in self.created:
            return "the watch does not show them"
        why = self._pending.get(key)
        return "no scheduler has tried them" if why is None else why[:_SHOWN_CHARACTERS]
