"""Writes to the status of pods: conditions and nominations, for one pod one after another."""

from __future__ import annotations

import asyncio
from typing import Protocol
from weakref import WeakValueDictionary

from podium.api.objects import Condition, Pod
from podium.errors import Forbidden, PodiumError
from podium.logs import get_logger

log = get_logger(__name__)


class StatusClient(Protocol):
    """The request behind it; what would change nothing is not sent."""

    async def patch_pod_status(
        self, pod: Pod, condition: Condition | None, nominated_node_name: str | None
    ) -> None: ...


class PodStatuses:
    """A failure to write is logged and no more: the next attempt writes again."""

    def __init__(self, client: StatusClient) -> None:
        self._client = client
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._is_forbidden = False

    async def write(
        self, pod: Pod, condition: Condition | None, nominated_node_name: str | None
    ) -> None:
        """Set the condition and the nomination; ``None`` leaves either as it is."""
        turn = self._turns.get(pod.uid)
        if turn is None:
            turn = self._turns[pod.uid] = asyncio.Lock()
        async with turn:
            try:
                await self._client.patch_pod_status(pod, condition, nominated_node_name)
            except PodiumError as error:
                self._tell(pod, error)

    def _tell(self, pod: Pod, error: PodiumError) -> None:
        """A missing right is told once: it will be missing for the next pod as well."""
        if not isinstance(error, Forbidden):
            log.warning("Error updating pod", pod=pod.key, err=str(error))
        elif not self._is_forbidden:
            self._is_forbidden = True
            without = "conditions, nominations and preemption"
            log.warning("no right to write the status of pods", why=str(error), without=without)

    async def settled(self, uid: str) -> None:
        """Wait for writes under way: one that came after the binding would belie it."""
        turn = self._turns.get(uid)
        if turn is not None:
            async with turn:
                pass
