"""Sends writes about pods in the background, with the feature SchedulerAsyncAPICalls.

A status is written in the background; a binding waits for its result. Writes about one pod keep
their order, and a write that is no longer needed is not sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
)
from podium.clock import Clock
from podium.cycle.services import Spawn
from podium.errors import PodiumError
from podium.framework.handle import Client
from podium.live.call_queue import Call, CallQueue, PodBinding, PodStatusPatch, QueuedCall
from podium.live.pod_status import PodStatuses, StatusClient
from podium.metrics import Metrics

K = TypeVar("K", bound=ApiObject)


class WritingClient(Client, StatusClient, Protocol):
    """A client that can send everything that is dispatched."""


class ApiDispatcher:
    """Sends calls as they come, any number at a time; those for one pod one after another."""

    def __init__(self, client: WritingClient, clock: Clock, metrics: Metrics, spawn: Spawn) -> None:
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._spawn = spawn
        self._queue = CallQueue()
        self._is_woken = False
        metrics.pending_api_calls.read_from(self._queue.waiting)

    def add(self, call: Call) -> asyncio.Future[None]:
        """Queue a call. The result also comes if the call turns out not to be needed."""
        queued = QueuedCall(call)
        self._queue.add(queued)
        self._wake()
        return queued.done

    def on_pod(self, old: Pod | None, new: Pod | None) -> None:
        """An informer shows a pod: what waits for it starts from this version."""
        if old is not None and new is not None:
            self._queue.sync(new)

    def _wake(self) -> None:
        """Send in the next turn of the loop, so that calls of this turn are merged."""
        if not self._is_woken:
            self._is_woken = True
            asyncio.get_running_loop().call_soon(self._send_all)

    def _send_all(self) -> None:
        self._is_woken = False
        while (queued := self._queue.pop()) is not None:
            self._spawn(f"{queued.call.kind} of {queued.call.pod.key}", self._send(queued))

    async def _send(self, queued: QueuedCall) -> None:
        begin, result = self._clock.now(), "error"
        try:
            await self._execute(queued.call)
            result = "success"
            queued.drop()
        except PodiumError as error:
            if not queued.done.done():
                queued.done.set_exception(error)
        finally:
            self._metrics.api_call(queued.call.kind, result, self._clock.now() - begin)
            self._queue.finish(queued)
            queued.done.cancel()  # only if this task was cancelled is there no result yet
            self._wake()

    async def _execute(self, call: Call) -> None:
        match call:
            case PodBinding():
                await self._client.bind(call.pod, call.node_name)
            case PodStatusPatch():
                wanted = call.condition, call.nominated_node_name
                await self._client.patch_pod_status(call.pod, *wanted)


class DispatchedStatuses(PodStatuses):
    """Writes statuses through the dispatcher, which keeps them in order and before bindings."""

    def __init__(self, client: StatusClient, dispatcher: ApiDispatcher) -> None:
        super().__init__(client)
        self._dispatcher = dispatcher

    async def write(
        self, pod: Pod, condition: Condition | None, nominated_node_name: str | None
    ) -> None:
        """Queue the write, and return before it is sent."""
        call = PodStatusPatch(pod, condition, nominated_node_name)
        self._dispatcher.add(call).add_done_callback(lambda done: self._ended(pod, done))

    def _ended(self, pod: Pod, done: asyncio.Future[None]) -> None:
        error = None if done.cancelled() else done.exception()
        if isinstance(error, PodiumError):
            self._report(pod, error)

    async def settled(self, uid: str) -> None:
        """Do nothing: a binding replaces a write that waits, and waits for one under way."""


class DispatchingClient:
    """The client that plugins get: bindings and nominations go through the dispatcher."""

    def __init__(
        self, client: Client, dispatcher: ApiDispatcher, statuses: DispatchedStatuses
    ) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._statuses = statuses

    async def bind(self, pod: Pod, node_name: str) -> None:
        await self._dispatcher.add(PodBinding(pod, node_name))

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        await self._statuses.write(pod, None, "")

    async def delete_pod(self, pod: Pod) -> None:
        await self._client.delete_pod(pod)

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        await self._client.patch_pod_condition(pod, condition)

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        return await self._client.bind_volume(volume, claim, annotations)

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        return await self._client.annotate_claim(claim, annotations)

    async def set_finalizers(
        self, claim: ResourceClaim, finalizers: Sequence[str]
    ) -> ResourceClaim:
        return await self._client.set_finalizers(claim, finalizers)

    async def patch_claim_status(
        self, claim: ResourceClaim, status: Mapping[str, object]
    ) -> ResourceClaim:
        return await self._client.patch_claim_status(claim, status)

    async def remove_consumer(self, claim: ResourceClaim, uid: str) -> ResourceClaim:
        return await self._client.remove_consumer(claim, uid)

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        return await self._client.create_claim(claim)

    async def delete_claim(self, claim: ResourceClaim) -> None:
        await self._client.delete_claim(claim)

    async def set_extended_claim(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> None:
        await self._client.set_extended_claim(pod, status)

    async def read(self, kind: type[K], key: str) -> K:
        return await self._client.read(kind, key)
