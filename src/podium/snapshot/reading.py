"""Take a snapshot of a running cluster, with requests that only read.

All kinds are listed at one version, so that the snapshot shows one moment: the first list says
which version it has, and the others ask for exactly that one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.times import time_text
from podium.client.endpoints import users_endpoint
from podium.client.http import Connection, Options
from podium.clock import LoopClock, give_way
from podium.errors import ApiError, Forbidden, Gone, NotFound, PodiumError
from podium.snapshot.configuration import read_configuration
from podium.snapshot.kinds import KINDS, SnapshotKind
from podium.snapshot.model import Json, KindName, Missing, Snapshot
from podium.snapshot.trimming import trim

T = TypeVar("T")

PAGE: Final = 1000  # objects in one answer
_PART: Final = 50  # objects decoded before other tasks run
_AT_ONCE: Final = 4  # lists that are read at the same time
# Pods come first, because reading them takes longest and their version is the snapshot's.
_FIRST: Final = ("Pod", "Node")

READ_ONLY: Final = Options(qps=-1, user_agent="podium-snapshot", reads_only=True)

# Gets the name of a kind, and how many of its objects have been read and are there.
Progress = Callable[[str, int, int], None]


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _Page(msgspec.Struct):
    metadata: _ListMeta
    # Objects are decoded one at a time: a thousand at once cost five times as much, because the
    # garbage collector walks through all of them again and again.
    items: list[msgspec.Raw] | None = None


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _GroupVersion(msgspec.Struct, rename="camel"):
    version: str


class _Group(msgspec.Struct):
    name: str
    versions: list[_GroupVersion]


class _Groups(msgspec.Struct):
    groups: list[_Group]


class _ServedResource(msgspec.Struct):
    name: str


class _ServedResources(msgspec.Struct):
    resources: list[_ServedResource]


class KindObjects(NamedTuple):
    """All objects of one kind, or the reason why there are none."""

    kind: SnapshotKind
    api_version: str
    objects: tuple[bytes, ...] = ()
    version: str = ""
    refusal: str = ""


def connect(kubeconfig: Path | None = None, context: str = "") -> Connection:
    """Return a connection to a cluster that refuses to send anything but reads.

    Without a file it is the cluster that kubectl would use.
    """
    clock = LoopClock()
    return Connection(users_endpoint(clock, kubeconfig, context), clock, READ_ONLY)


def ignore_progress(kind: str, done: int, total: int) -> None:
    """Report nothing."""


async def read_cluster(connection: Connection, progress: Progress = ignore_progress) -> Snapshot:
    """Return a snapshot of the cluster at one version.

    A kind that may not be read is listed in ``missing``. Raise ``ApiError`` if the server cannot be
    reached, and ``PodiumError`` if it may not be read at all.
    """
    taken_at = time_text(connection.clock.now())
    reader = _Reader(connection, progress)
    server_version = (await reader.get("/version", _Version)).git_version
    found = await reader.read_all(await reader.served_kinds())
    configuration, note = await read_configuration(connection)
    versions = {each.version for each in found if each.version}
    notes = [note] if note else []
    if len(versions) > 1:
        notes.append("the server no longer had one version of all kinds: some are newer")
    return Snapshot(
        {
            KindName(each.api_version, each.kind.kind): each.objects
            for each in found
            if each.objects
        },
        source=connection.endpoint.server,
        taken_at=taken_at,
        server_version=server_version,
        resource_version=versions.pop() if len(versions) == 1 else "",
        configuration=configuration,
        missing=tuple(_missing(found)),
        notes=tuple(notes),
    )


def _missing(found: list[KindObjects]) -> list[Missing]:
    default = "decisions do not change, but some owners of pods are unknown"
    return [
        Missing(each.kind.shown_name, each.refusal, each.kind.consequence or default)
        for each in found
        if each.refusal
    ]


class _Reader:
    """Reads the kinds of a snapshot over one connection."""

    def __init__(self, connection: Connection, progress: Progress) -> None:
        self._connection = connection
        self._progress = progress
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def get(self, path: str, shape: type[T]) -> T:
        data = await self._connection.get(path)
        try:
            return msgspec.json.decode(data, type=shape)
        except UNREADABLE as error:
            server = self._connection.endpoint.server
            raise PodiumError(
                f"{server}{path}: not the answer of a Kubernetes API server: {error}"
            ) from error

    # --- which kinds there are -------------------------------------------------------------------

    async def served_kinds(self) -> dict[str, str]:
        """Return the apiVersion of each kind that the server has, by its resource."""
        groups = await self.get("/apis", _Groups)
        wanted = {each.group for each in KINDS}
        found: dict[str, str] = {}
        for version in ["v1", *_versions(groups, wanted)]:
            for plural in await self._plurals(version):
                group = version.rpartition("/")[0]
                found.setdefault(f"{plural}.{group}" if group else plural, version)
        return found

    async def _plurals(self, version: str) -> list[str]:
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            served = await self.get(root, _ServedResources)
        except NotFound:
            return []
        return [each.name for each in served.resources]

    # --- their objects ---------------------------------------------------------------------------

    async def read_all(self, served: Mapping[str, str]) -> list[KindObjects]:
        """Read every kind; all but the first at the version of the first."""
        found: list[KindObjects] = []
        kinds = sorted(
            (each for each in KINDS if each.resource in served),
            key=lambda each: _FIRST.index(each.kind) if each.kind in _FIRST else len(_FIRST),
        )
        version = ""
        while kinds and not version:
            kind = kinds.pop(0)
            found.append(await self._read(kind, served[kind.resource], ""))
            version = found[-1].version
        if not version:
            raise PodiumError(f"no kind may be read: {found[0].refusal}")
        rest = (self._read(kind, served[kind.resource], version) for kind in kinds)
        found += await asyncio.gather(*rest)
        return sorted(found, key=lambda each: KINDS.index(each.kind))

    async def _read(self, kind: SnapshotKind, api_version: str, at: str) -> KindObjects:
        async with self._places:
            try:
                objects, version = await self._list(kind, api_version, at)
            except Forbidden as error:
                return KindObjects(kind, api_version, refusal=f"forbidden: {error.message}")
            except NotFound:  # a custom kind that was removed a moment ago
                return KindObjects(kind, api_version)
        return KindObjects(kind, api_version, objects, version)

    async def _list(
        self, kind: SnapshotKind, api_version: str, at: str
    ) -> tuple[tuple[bytes, ...], str]:
        try:
            return await self._list_at(kind, api_version, at)
        except Gone:
            if not at:
                raise
        except ApiError as error:
            if not at or error.code not in (400, 504):
                raise
        return await self._list_at(kind, api_version, "")

    async def _list_at(
        self, kind: SnapshotKind, api_version: str, at: str
    ) -> tuple[tuple[bytes, ...], str]:
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        path = f"{root}/{kind.plural}?limit={PAGE}"
        exactly = f"&resourceVersion={quote(at)}&resourceVersionMatch=Exact" if at else ""
        typed = {"apiVersion": api_version, "kind": kind.kind}
        objects: list[bytes] = []
        coming = asyncio.ensure_future(self.get(path + exactly, _Page))
        try:
            while True:
                page = await coming
                token = page.metadata.continue_
                if token:  # the server makes the next page while this one is taken in
                    query = f"{path}&continue={quote(token, safe='')}"
                    coming = asyncio.ensure_future(self.get(query, _Page))
                for number, raw in enumerate(page.items or ()):
                    if number % _PART == 0:
                        await give_way()
                    objects.append(_trimmed(typed, raw))
                left = page.metadata.remaining_item_count or 0
                self._progress(kind.plural, len(objects), len(objects) + left)
                if not token:
                    return tuple(objects), page.metadata.resource_version
        finally:
            coming.cancel()


def _trimmed(typed: Json, raw: msgspec.Raw) -> bytes:
    """Return the JSON that is kept of an object; lists leave out what type it has."""
    return msgspec.json.encode(trim({**typed, **msgspec.json.decode(raw)}))


def _versions(groups: _Groups, wanted: set[str]) -> list[str]:
    """Return group/version of these groups, with the server's preferred version first."""
    return [
        f"{group.name}/{each.version}"
        for group in groups.groups
        if group.name in wanted
        for each in group.versions
    ]
