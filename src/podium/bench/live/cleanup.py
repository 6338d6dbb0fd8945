"""Leaves a cluster as it was: checks that no names are taken, and deletes what a run created."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import msgspec

from podium.api.objects import Namespace, Node, Pod, ResourceClaim
from podium.bench.live.manifests import LABEL, Json
from podium.bench.live.writer import KindIn, Writer, at_once
from podium.client.http import Connection, Request
from podium.client.resources import Resource, decode_plain, resource_of
from podium.clock import sleep
from podium.errors import NotFound, PodiumError, WorkloadFailed

EVENTS: Final = Resource("Event", "events", decode_plain)
_NAMESPACES: Final = resource_of(Namespace)
# A scheduler creates claims for extended resources that are devices.
_MADE_BY_SCHEDULERS: Final[tuple[Resource[Any], ...]] = (EVENTS, resource_of(ResourceClaim))
_ACCOUNTS: Final = Resource("ServiceAccount", "serviceaccounts", decode_plain)
_SHOWN_NAMES: Final = 3
# If the deletion of a namespace has not begun by then, the cluster has no controller for it.
_PATIENCE_SECONDS: Final = 10.0
_GONE_SECONDS: Final = 120.0
_PAUSE: Final = 0.25


async def check_nodes(writer: Writer, wanted: Collection[str]) -> None:
    """Raise ``WorkloadFailed`` if the cluster has nodes of these names."""
    there = await writer.names(resource_of(Node), "")
    taken = sorted(set(wanted).intersection(there))
    if taken:
        shown = ", ".join(taken[:_SHOWN_NAMES]) + (", ..." if len(taken) > _SHOWN_NAMES else "")
        hint = f"delete leftovers of a benchmark with: kubectl delete nodes,namespaces -l {LABEL}"
        raise WorkloadFailed(f"the cluster already has nodes named {shown}; {hint}")
    if there:
        print(
            f"podium: the cluster already has {len(there)} nodes; "
            "pods of the benchmark may be placed there",
            file=sys.stderr,
        )


@asynccontextmanager
async def tidied(writer: Writer, connection: Connection, run_id: str) -> AsyncIterator[None]:
    """Delete everything that this run created when the block ends, whatever happened."""
    try:
        yield
    finally:
        try:
            await _Cleanup(writer, connection, run_id).run()
        except PodiumError as error:
            hint = f"kubectl delete nodes,namespaces -l {LABEL}={run_id}"
            print(f"podium: some objects are not deleted: {error}; try: {hint}", file=sys.stderr)


class _Cleanup:
    def __init__(self, writer: Writer, connection: Connection, run_id: str) -> None:
        self._writer = writer
        self._connection = connection
        self._clock = connection.clock
        self._run_id = run_id

    async def run(self) -> None:
        found = [each for each in self._writer.written if each[0] is not _NAMESPACES]
        for each in sorted(found, key=_order):
            await self._writer.empty(each, self._run_id)
        if (_NAMESPACES, "") not in self._writer.written:
            return
        names = await self._writer.names(_NAMESPACES, "", f"{LABEL}={self._run_id}")
        await at_once(names, self._delete_namespace)

    async def _delete_namespace(self, name: str) -> None:
        for resource in _MADE_BY_SCHEDULERS:
            with suppress(NotFound):  # an old server has no claims
                await self._writer.empty((resource, name), self._run_id)
        patience = _PATIENCE_SECONDS if await self._has_controllers(name) else 0.0
        await self._writer.delete(_NAMESPACES, name)
        begun = self._clock.now()
        while (found := await self._namespace(name)) is not None:
            waited = self._clock.now() - begun
            if waited > _GONE_SECONDS:
                raise WorkloadFailed(f"namespace {name} is still being deleted")
            if waited >= patience and not found.get("status", {}).get("conditions"):
                await self._finalize(found)
            await sleep(self._clock, _PAUSE)

    async def _has_controllers(self, name: str) -> bool:
        """Whether a controller manager has given the namespace its service account."""
        try:
            await self._connection.get(_ACCOUNTS.path_of(f"{name}/default"))
        except NotFound:
            return False
        except PodiumError:  # not allowed to know
            return True
        return True

    async def _namespace(self, name: str) -> Json | None:
        try:
            found: Json = msgspec.json.decode(await self._connection.get(_NAMESPACES.path_of(name)))
        except NotFound:
            return None
        return found

    async def _finalize(self, namespace: Json) -> None:
        """Remove the finalizers of an empty namespace in a cluster without a controller for it."""
        namespace["spec"]["finalizers"] = []
        path = _NAMESPACES.path_of(namespace["metadata"]["name"], "finalize")
        try:
            await self._connection.send(Request("PUT", path, msgspec.json.encode(namespace)))
        except NotFound:
            return


def _order(where: KindIn) -> int:
    """Sort pods first, because they use volumes and nodes until they are deleted."""
    return 0 if where[0] is resource_of(Pod) else 1
