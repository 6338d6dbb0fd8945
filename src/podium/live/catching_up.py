"""What a new leader reads before its first binding: whether its watches are up to date.

The previous leader may have bound pods or allocated claims just before it ended. If a watch is
late, the room of these pods or the devices of these claims would be given away a second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec

from podium.client.http import Connection, Request
from podium.client.informer import Informer
from podium.client.reflector import version_order
from podium.clock import sleep
from podium.errors import ApiError
from podium.logs import get_logger

log = get_logger(__name__)

# A watch that is this late is given up, and all objects are listed again.
PATIENCE_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.01
_RETRY_SECONDS: Final = 0.5
# 10,000 pods take kube-apiserver 0.15 s in pages of 1,000, and 0.28 s in pages of 5,000. Smaller
# pages are no faster, and each counts against the limit on requests.
_PAGE: Final = 1000
# Without specs and statuses.
_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class _Meta(msgspec.Struct, rename="camel", gc=False):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Item(msgspec.Struct, gc=False):
    metadata: _Meta


class _Page(msgspec.Struct, gc=False):
    metadata: _Meta
    items: list[_Item] | None = None


_PAGES: Final = msgspec.json.Decoder(_Page)


class CatchingUp:
    """Compares the version that an informer has reached with the newest object of its kind.

    Whatever was created or changed before the list has at most that version, so an informer that
    has reached it knows all of it. Objects that were deleted unnoticed do no harm: they take up
    room for a little longer.
    """

    def __init__(self, connection: Connection, informers: Iterable[Informer[Any]]) -> None:
        self._connection = connection
        self._clock = connection.clock
        self._informers = informers

    async def run(self) -> None:
        """Return when all that was written before is known."""
        await asyncio.gather(*(self._catch_up(informer) for informer in self._informers))

    async def _catch_up(self, informer: Informer[Any]) -> None:
        newest = await self._newest_now(informer)
        if not _is_late(informer, newest):
            return
        name = informer.resource.name
        log.info(f"waiting for the watch of {name}: it is late", seen=informer.version, now=newest)
        end = self._clock.now() + PATIENCE_SECONDS
        while _is_late(informer, newest) and self._clock.now() < end:
            await sleep(self._clock, _LOOK_SECONDS)
        if _is_late(informer, newest):
            log.warning(f"the watch of {name} is too late: listing them again")
            await informer.list_again()

    async def _newest_now(self, informer: Informer[Any]) -> str:
        """Return the version of the newest object; retried until it succeeds."""
        while not informer.is_missing:
            try:
                return await self._newest(informer)
            except (ApiError, msgspec.MsgspecError) as error:
                log.warning(f"cannot list {informer.resource.name}: {error}; retrying")
                await sleep(self._clock, _RETRY_SECONDS)
        return ""

    async def _newest(self, informer: Informer[Any]) -> str:
        """List the versions of all objects, or stop when the watch has overtaken the list."""
        newest = token = ""
        while True:
            more = f"&continue={quote(token, safe='')}" if token else ""
            path = informer.resource.query(f"limit={_PAGE}{more}")
            request = Request("GET", path, accept=_METADATA_ONLY)
            page = _PAGES.decode(await self._connection.send(request))
            versions = [item.metadata.resource_version for item in page.items or ()]
            newest = max([newest, *versions], key=version_order)
            token = page.metadata.continue_
            if not token or not _is_late(informer, page.metadata.resource_version):
                return newest


def _is_late(informer: Informer[Any], version: str) -> bool:
    return version_order(informer.version) < version_order(version)
