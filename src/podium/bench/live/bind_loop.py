"""A loop that only binds, in the place of a scheduler: it shows what the API server can do.

It binds every pending pod to the next node, whatever the pod requires. If pods of lower priority
run, it first deletes as many of them from the node as make room. Resource claims are written as a
scheduler writes them.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from podium.api.meta import ObjectMeta
from podium.api.objects import Condition, Lease, LeaseSpec, Pod
from podium.bench.live.loop_claims import LoopClaims, is_ready
from podium.bench.live.room import Rooms
from podium.client.api_client import ApiClient
from podium.client.endpoints import find_endpoint
from podium.client.http import Connection, Options
from podium.client.informer import Informer
from podium.client.resources import NODES, PODS
from podium.clock import Clock
from podium.errors import Conflict, NotFound

_NO_NODES: Final = Condition(
    type="PodScheduled", status="False", reason="Unschedulable", message="there are no nodes"
)
_LEASE_SECONDS: Final = 15
_IN_FLIGHT: Final = 64


async def bind_all(configuration: Path, clock: Clock) -> None:
    """Bind pods until the process is ended; ``configuration`` is that of a scheduler."""
    config = msgspec.json.decode(configuration.read_bytes())
    client = config["clientConnection"]
    endpoint = find_endpoint(clock, Path(client["kubeconfig"]))
    options = Options(client["qps"], client["burst"], "podium/bind-loop")
    async with Connection(endpoint, clock, options) as connection:
        await BindLoop(connection).run(config["leaderElection"])


class BindLoop:
    """Binds pods with many requests in flight."""

    def __init__(self, connection: Connection) -> None:
        self._client = ApiClient(connection)
        self._claims = LoopClaims(connection, self._client)
        self._rooms = Rooms()
        self._pending: asyncio.Queue[Pod] = asyncio.Queue()
        self._without_nodes: list[Pod] = []
        self._nodes = Informer(connection, NODES)
        self._pods = Informer(connection, PODS)
        self._nodes.subscribe(self._rooms.see_node)
        self._nodes.subscribe(lambda old, new: self._try_again())
        self._pods.subscribe(self._rooms.see_pod)
        self._pods.subscribe(self._see_pod)

    async def run(self, election: dict[str, Any]) -> None:
        """Read all objects, acquire the Lease if there is one, and bind pods until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer in (self._nodes, self._claims.informer, self._pods):
                tasks.create_task(informer.run())
                await informer.wait_synced()
            if election["leaderElect"]:
                await self._acquire(election["resourceNamespace"], election["resourceName"])
            for _ in range(_IN_FLIGHT):
                tasks.create_task(self._work())

    async def _acquire(self, namespace: str, name: str) -> None:
        """Create the Lease that says that this process begins."""
        spec = LeaseSpec(holder_identity="bind-loop", lease_duration_seconds=_LEASE_SECONDS)
        await self._client.create_lease(Lease(ObjectMeta(namespace=namespace, name=name), spec))

    def _see_pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and _is_pending(new) and not (old is not None and _is_pending(old)):
            self._pending.put_nowait(new)

    def _try_again(self) -> None:
        for pod in self._without_nodes:
            self._pending.put_nowait(pod)
        self._without_nodes.clear()

    async def _work(self) -> None:
        while True:
            pod = await self._pending.get()
            try:
                await self._bind(pod)
            except (NotFound, Conflict):
                self._rooms.remove(pod)  # deleted or bound meanwhile

    async def _bind(self, pod: Pod) -> None:
        if self._rooms.is_empty:
            self._without_nodes.append(pod)
            await self._client.patch_pod_status(pod, _NO_NODES)
            return
        node, victims = self._rooms.take(pod)
        for victim in victims:
            with suppress(NotFound):  # the workload has deleted it
                await self._client.delete_pod(victim)
        await self._claims.write(pod, node)
        await self._client.bind(pod, node)


def _is_pending(pod: Pod) -> bool:
    return not pod.node_name and not pod.spec.scheduling_gates and is_ready(pod)
