"""Writes conditions and nominations to the status of pods; for each pod in order."""

from __future__ import annotations

import asyncio
from typing import Protocol
from weakref import WeakValueDictionary

from podium.api.objects import Condition, Pod
from podium.errors import Forbidden, PodiumError
from podium.live.call_queue import PodStatusPatch
from podium.logs import get_logger

log = get_logger(__name__)


class StatusClient(Protocol):
    """Sends a patch of a pod's status, unless it would change nothing."""

    async def patch_pod_status(
        self, pod: Pod, condition: Condition | None, nominated_node_name: str | None
    ) -> None: ...


class PodStatuses:
    """Writes statuses. A write that fails is only logged: the next attempt writes again.

    ``_next`` has at most one patch per pod: the writes that wait for an earlier one are merged.
    """

    def __init__(self, client: StatusClient) -> None:
        self._client = client
        self._next: dict[str, PodStatusPatch] = {}  # by uid, while it waits for its turn
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._is_forbidden = False

    async def write(
        self, pod: Pod, condition: Condition | None, nominated_node_name: str | None
    ) -> None:
        """Set the condition and the nomination; ``None`` leaves either as it is."""
        self._next[pod.uid] = self._merged(PodStatusPatch(pod, condition, nominated_node_name))
        turn = self._turns.get(pod.uid)
        if turn is None:
            turn = self._turns[pod.uid] = asyncio.Lock()
        async with turn:
            patch = self._next.pop(pod.uid, None)
            if patch is not None:  # else it was written together with an earlier one
                await self._send(patch)

    def _merged(self, new: PodStatusPatch) -> PodStatusPatch:
        """Return the new patch, with what a waiting one sets and this one leaves alone."""
        waiting = self._next.get(new.pod.uid)
        if waiting is not None:
            new.take_over(waiting)
        return new

    async def _send(self, patch: PodStatusPatch) -> None:
        try:
            await self._client.patch_pod_status(
                patch.pod, patch.condition, patch.nominated_node_name
            )
        except PodiumError as error:
            self._report(patch.pod, error)

    def _report(self, pod: Pod, error: PodiumError) -> None:
        """Log a missing right once: it will be missing for the next pod as well."""
        if not isinstance(error, Forbidden):
            log.warning("Error updating pod", pod=pod.key, podUID=pod.uid, err=str(error))
        elif not self._is_forbidden:
            self._is_forbidden = True
            reason = "forbidden (grant patch on pods/status)"
            without = "continuing without conditions, nominations and preemption"
            log.warning(f"cannot write the status of pods: {reason}; {without}", server=str(error))

    async def settled(self, uid: str) -> None:
        """Wait for writes under way: none may come after the binding and contradict it."""
        turn = self._turns.get(uid)
        if turn is not None:
            async with turn:
                pass
