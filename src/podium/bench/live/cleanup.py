"""Leaves a cluster as it was: refuses one where names are taken, and deletes what a run made."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from podium.api.objects import Namespace, Node, Pod
from podium.bench.live.manifests import LABEL, Json
from podium.bench.live.writer import Place, Writer, at_once
from podium.client.http import Connection, Request
from podium.client.resources import Resource, decode_plain, resource_of
from podium.clock import sleep
from podium.errors import NotFound, PodiumError, WorkloadFailed

EVENTS: Final = Resource("Event", "events", decode_plain)
_NAMESPACES: Final = resource_of(Namespace)
_SHOWN_NAMES: Final = 3
# A namespace that nobody has begun to take apart by then has no controller.
_PATIENCE_SECONDS: Final = 10.0
_GONE_SECONDS: Final = 120.0
_PAUSE: Final = 0.25


async def check_nodes(writer: Writer, wanted: Collection[str]) -> None:
    """``WorkloadFailed`` when the cluster has nodes of these names."""
    there = await writer.names(resource_of(Node), "")
    taken = sorted(set(wanted).intersection(there))
    if taken:
        shown = ", ".join(taken[:_SHOWN_NAMES]) + (", ..." if len(taken) > _SHOWN_NAMES else "")
        hint = f"leftovers of a benchmark go with: kubectl delete nodes,namespaces -l {LABEL}"
        raise WorkloadFailed(f"the cluster has nodes named {shown} already; {hint}")
    if there:
        print(
            f"podium: the cluster has {len(there)} nodes of its own; "
            "pods of the benchmark may be placed there",
            file=sys.stderr,
        )


@asynccontextmanager
async def tidied(writer: Writer, connection: Connection, run_id: str) -> AsyncIterator[None]:
    """Delete everything of this run when the block ends, however it ends."""
    try:
        yield
    finally:
        try:
            await _Cleanup(writer, connection, run_id).run()
        except PodiumError as error:
            hint = f"kubectl delete nodes,namespaces -l {LABEL}={run_id}"
            print(f"podium: not everything is deleted: {error}; try: {hint}", file=sys.stderr)


class _Cleanup:
    def __init__(self, writer: Writer, connection: Connection, run_id: str) -> None:
        self._writer = writer
        self._connection = connection
        self._clock = connection.clock
        self._run_id = run_id

    async def run(self) -> None:
        places = [place for place in self._writer.places if place[0] is not _NAMESPACES]
        for place in sorted(places, key=_order):
            await self._writer.empty(place, self._run_id)
        if (_NAMESPACES, "") not in self._writer.places:
            return
        names = await self._writer.names(_NAMESPACES, "", f"{LABEL}={self._run_id}")
        await at_once(names, self._delete_namespace)

    async def _delete_namespace(self, name: str) -> None:
        await self._writer.empty((EVENTS, name), self._run_id)
        await self._writer.delete(_NAMESPACES, name)
        begun = self._clock.now()
        while (found := await self._namespace(name)) is not None:
            waited = self._clock.now() - begun
            if waited > _GONE_SECONDS:
                raise WorkloadFailed(f"namespace {name} is still being deleted")
            if waited > _PATIENCE_SECONDS and not found.get("status", {}).get("conditions"):
                await self._finalize(found)
            await sleep(self._clock, _PAUSE)

    async def _namespace(self, name: str) -> Json | None:
        try:
            found: Json = msgspec.json.decode(await self._connection.get(_NAMESPACES.path_of(name)))
        except NotFound:
            return None
        return found

    async def _finalize(self, namespace: Json) -> None:
        """Let an empty namespace go in a cluster without a controller for that."""
        namespace["spec"]["finalizers"] = []
        path = _NAMESPACES.path_of(namespace["metadata"]["name"], "finalize")
        try:
            await self._connection.send(Request("PUT", path, msgspec.json.encode(namespace)))
        except NotFound:
            return


def _order(place: Place) -> int:
    """Pods first: volumes are in use, and nodes needed, until they are gone."""
    return 0 if place[0] is resource_of(Pod) else 1
