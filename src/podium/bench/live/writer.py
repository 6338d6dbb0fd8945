"""Creates and deletes the objects of a benchmark, many at a time, and keeps track of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec

from podium.bench.live.manifests import LABEL, Json, Manifest, collection
from podium.client.http import Connection, Request
from podium.client.resources import Resource
from podium.clock import sleep
from podium.errors import Conflict, Forbidden, NotFound, PodiumError, WorkloadFailed

T = TypeVar("T")
KindIn = tuple[Resource[Any], str]  # a kind, and the namespace if it has one

IN_FLIGHT: Final = 32
_PAGE: Final = 500
_MERGE: Final = "application/merge-patch+json"
# Pods are refused until a controller has given their new namespace a service account, and until
# the server has noticed their new priority class.
_EXPECTED: Final = ("serviceaccount", "PriorityClass")
_EXPECTED_SECONDS: Final = 20.0
_EXPECTED_PAUSE: Final = 0.2


class _Named(msgspec.Struct):
    name: str


class _Item(msgspec.Struct):
    metadata: _Named


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[_Item] | None = None


_PAGES = msgspec.json.Decoder(_Page)


class Writer:
    """Writes to a cluster.

    ``written`` holds the kinds and namespaces that may contain objects of this run. They are added
    before the first request is sent, so that cleaning up finds objects of interrupted requests.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._clock = connection.clock
        self.written: dict[KindIn, None] = {}

    async def create(self, manifest: Manifest) -> Json:
        """Create an object and return it as the server has it; ``WorkloadFailed`` if it exists."""
        self.written[manifest.resource, manifest.namespace] = None
        body = msgspec.json.encode(manifest.body)
        request = Request("POST", manifest.collection, body)
        try:
            answer = await self._once_all_exists(request)
        except Conflict as error:
            what = f"{manifest.resource.kind} {manifest.key}"
            raise WorkloadFailed(f"the cluster already has a {what}: {error}") from error
        made: Json = msgspec.json.decode(answer)
        return made

    async def create_all(self, manifests: Iterable[Manifest]) -> None:
        """Create objects, several at a time."""
        await at_once(manifests, self.create)

    async def _once_all_exists(self, request: Request) -> bytes:
        begun = self._clock.now()
        while True:
            try:
                return await self.connection.send(request)
            except Forbidden as error:
                is_new = self._clock.now() - begun < _EXPECTED_SECONDS
                if not is_new or not any(word in error.message for word in _EXPECTED):
                    raise
            await sleep(self._clock, _EXPECTED_PAUSE)

    async def patch(
        self, resource: Resource[Any], key: str, patch: Json, subresource: str = ""
    ) -> None:
        path = resource.path_of(key, subresource)
        body = msgspec.json.encode(patch)
        await self.connection.send(Request("PATCH", path, body, _MERGE))

    async def names(self, resource: Resource[Any], namespace: str, selector: str = "") -> list[str]:
        """Return the names of the objects of a kind, all or those that a label selector matches."""
        chosen = f"&labelSelector={quote(selector, safe='')}" if selector else ""
        path = f"{collection(resource, namespace)}?limit={_PAGE}{chosen}"
        found, token = [], ""
        while True:
            page = _PAGES.decode(await self.connection.get(f"{path}{token}"))
            found += [item.metadata.name for item in page.items or ()]
            if not page.metadata.continue_:
                return found
            token = f"&continue={quote(page.metadata.continue_, safe='')}"

    async def get(self, resource: Resource[Any], key: str) -> Json:
        found: Json = msgspec.json.decode(await self.connection.get(resource.path_of(key)))
        return found

    async def replace(
        self, resource: Resource[Any], key: str, body: Json, subresource: str = ""
    ) -> None:
        """Store a new version of an object, or of a subresource such as its status."""
        path = resource.path_of(key, subresource)
        await self.connection.send(Request("PUT", path, msgspec.json.encode(body)))

    async def delete(
        self, resource: Resource[Any], key: str, *, at_once: bool = True
    ) -> Json | None:
        """Delete an object and return it as the server had it; ``None`` if it is missing.

        By default there is no grace period, because there is no kubelet to wait for.
        """
        grace = "?gracePeriodSeconds=0" if at_once else ""
        try:
            answer = await self.connection.send(
                Request("DELETE", f"{resource.path_of(key)}{grace}")
            )
        except NotFound:
            return None
        found: Json = msgspec.json.decode(answer)
        return found

    async def remove(self, resource: Resource[Any], key: str) -> None:
        """Delete an object, also where no controller is there to remove its finalizers."""
        found = await self.delete(resource, key)
        if found is not None and found.get("metadata", {}).get("finalizers"):
            try:
                await self.patch(resource, key, {"metadata": {"finalizers": None}})
            except NotFound:
                return

    async def empty(self, where: KindIn, run_id: str) -> None:
        """Delete all objects of a kind; outside namespaces, only those with this run's label."""
        resource, namespace = where
        selector = "" if namespace else f"{LABEL}={run_id}"
        within = f"{namespace}/" if namespace else ""
        for _ in range(2):  # a creation that was cancelled may still be carried out a moment later
            names = await self.names(resource, namespace, selector)
            keys = (f"{within}{name}" for name in names)
            await at_once(keys, lambda key: self.remove(resource, key))


async def at_once(things: Iterable[T], work: Callable[[T], Awaitable[object]]) -> None:
    """Do the work for each thing, several at a time; the first error ends it and is raised."""
    left = iter(things)

    async def worker() -> None:
        for thing in left:
            await work(thing)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(worker())
    except ExceptionGroup as faults:
        ours = faults.subgroup(PodiumError)
        raise (ours or faults).exceptions[0] from None
