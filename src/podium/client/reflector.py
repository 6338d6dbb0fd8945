"""Keeps a store equal to what the API server has: a paged list, then a watch from its version.

A watch that breaks off goes on from the last version seen. What cannot be followed any more is
listed anew and compared, so that only real differences are told. Nothing here is tried again
without a wait, unless it went well for some seconds.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final, Generic, TypeVar
from urllib.parse import quote

import msgspec

from podium.api.codec import UNREADABLE
from podium.client.answers import of_status, read_status
from podium.client.backoff import Backoff
from podium.client.http import Connection
from podium.client.lines import Lines, LineTooLong
from podium.client.resources import Resource
from podium.client.store import Store, meta_of
from podium.client.trouble import Trouble
from podium.clock import Deadline, sleep
from podium.errors import ApiError, Gone, PodiumError, TooManyRequests, Unreachable
from podium.logs import get_logger

T = TypeVar("T")

PAGE: Final = 500
# The server ends a watch after this long or twice that; who watches then spreads out.
WATCH_SECONDS: Final = 300
# API servers send a bookmark each minute, unless nothing has changed: after this much silence the
# connection may be dead, and only a new one can tell.
SILENCE_SECONDS: Final = 90.0
# A watch that lasted this long, or told of something and was ended in order, went well: the next
# one starts without a wait.
HEALTHY_SECONDS: Final = 5.0
# Events that were lost without a trace come to light when the list is compared again.
RELIST_SECONDS: Final = 1800.0
# Events that contradict what is known are such a trace; but they must not cause a flood of lists.
SUSPICION_SECONDS: Final = 60.0
# Between two tries to follow a kind that we may not read or that is not installed.
LASTING_SECONDS: Final = 300.0

log = get_logger(__name__)


class _ListMeta(msgspec.Struct, rename="camel", gc=False):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, gc=False):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


_CHANGES: Final = ("ADDED", "MODIFIED", "DELETED")
_PAGES = msgspec.json.Decoder(_Page)
_EVENTS = msgspec.json.Decoder(_Event)


class Reflector(Generic[T]):
    """Runs until it is cancelled; ``trouble`` says what keeps it from its work."""

    def __init__(self, connection: Connection, resource: Resource[T], store: Store[T]) -> None:
        self._connection = connection
        self._clock = connection.clock
        self._resource = resource
        self._store = store
        self._backoff = Backoff()
        self._version = ""  # of the list or the last event; "" when a list is due
        self._verb = "list"
        self.trouble = Trouble(resource, connection.troubles)
        self.synced = asyncio.Event()
        self.listed_at = float("-inf")
        self.heard_at = float("-inf")
        self.watches = 0  # begun so far

    async def run(self) -> None:
        while True:
            begun, version, went_well = self._clock.now(), self._version, False
            try:
                await self._follow()
                # Servers end the watch of whoever is slow for a moment: no reason to miss more.
                went_well = self._version != version
            except PodiumError as error:
                self._note(error)
            except Exception as fault:  # the edge of the client: nobody else would go on watching
                log.error("following failed", kind=self._resource.name)
                self._note(ApiError(f"{self._resource.name}: {fault!r}"))
            if went_well or self._clock.now() - begun >= HEALTHY_SECONDS:
                self._backoff.reset()
            else:
                await sleep(self._clock, self._wait_seconds())

    async def _follow(self) -> None:
        if self._clock.now() - self.listed_at >= RELIST_SECONDS:
            self._version = ""
        if not self._version:
            await self._list()
        await self._watch()

    def _note(self, error: PodiumError) -> None:
        """A connection that broke is resumed; after anything else only a list is to be trusted."""
        if not isinstance(error, Unreachable | TooManyRequests):
            self._version = ""
        if isinstance(error, Gone):
            log.debug("version forgotten", kind=self._resource.name, why=str(error))
            return
        self.trouble.begin(error, self._verb)
        if self.trouble.is_lasting:
            self.synced.set()

    def _wait_seconds(self) -> float:
        if self.trouble.is_lasting:
            return LASTING_SECONDS * (1 + random.random())
        return self._backoff.next()

    # --- list ------------------------------------------------------------------------------------

    async def _list(self) -> None:
        self._verb = "list"
        log.v(3, "Listing and watching", kind=self._resource.name)
        try:
            version = await self._list_pages(f"limit={PAGE}")
        except Gone:  # it took so long that the server has forgotten where it began
            version = await self._list_pages("")
        except UNREADABLE as error:
            raise self._strange("not a list", error) from error
        self._version = version
        self.heard_at = self.listed_at = self._clock.now()
        self.synced.set()

    async def _list_pages(self, limit: str) -> str:
        """The version of the whole list; what is not in it is forgotten at the end."""
        keys: set[str] = set()
        page = await self._page(limit)
        self._take_in(page, keys)
        while token := page.metadata.continue_:
            page = await self._page(f"{limit}&continue={quote(token, safe='')}")
            self._take_in(page, keys)
        self._store.retain(keys)
        return page.metadata.resource_version

    async def _page(self, query: str) -> _Page:
        return _PAGES.decode(await self._connection.get(self._path(query)))

    def _take_in(self, page: _Page, keys: set[str]) -> None:
        for raw in page.items or ():
            meta = meta_of(raw)
            keys.add(meta.key)
            self._store.put(meta, raw)

    # --- watch -----------------------------------------------------------------------------------

    async def _watch(self) -> None:
        self._verb = "watch"
        self.watches += 1
        seconds = int(WATCH_SECONDS * (1 + random.random()))
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}"
        path = self._path(f"{query}&resourceVersion={quote(self._version)}")
        try:
            async with self._connection.stream(path) as read, self._silence() as silence:
                self._hear()
                lines = Lines()
                while chunk := await read():
                    self._hear()
                    silence.extend()
                    for line in lines.feed(chunk):
                        self._on_line(line)
        except TimeoutError:
            log.debug("nothing heard", kind=self._resource.name, seconds=SILENCE_SECONDS)
        except (LineTooLong, *UNREADABLE) as error:
            raise self._strange("not a watch event", error) from error

    def _strange(self, what: str, error: Exception) -> ApiError:
        """In the same words for every kind, so that a wrong address is told once."""
        at = self._connection.endpoint
        hint = "is there an API server at this address?"
        return ApiError(f"{at.source}: {at.server}: {what}: {error}; {hint}")

    def _silence(self) -> Deadline:
        return Deadline(self._clock, SILENCE_SECONDS)

    def _hear(self) -> None:
        self.heard_at = self._clock.now()
        self.trouble.end()

    def _on_line(self, line: bytes) -> None:
        event = _EVENTS.decode(line)
        if event.type == "ERROR":
            raise of_status(read_status(event.object))
        meta = meta_of(event.object)
        if not self._is_newer(meta.resource_version):
            return  # told before: versions only ever grow in a watch
        if event.type in _CHANGES:
            self._suspect(event.type, self._store.holds(meta))
            if event.type == "DELETED":
                self._store.drop(meta)
            else:
                self._store.put(meta, event.object)
        self._version = meta.resource_version

    def _is_newer(self, version: str) -> bool:
        """Versions are numbers where a server keeps to the API's rules; others are all taken."""
        if version.isdecimal() and self._version.isdecimal():
            return _place(version) > _place(self._version)
        return bool(version)

    def _suspect(self, change: str, known: bool) -> None:
        """An event that does not fit what is known: the one before it was lost."""
        if known == (change == "ADDED") and self._clock.now() - self.listed_at > SUSPICION_SECONDS:
            what = f"{change} of an object that is {'' if known else 'not '}known"
            raise Gone(f"{self._resource.name}: {what}: an event was lost")

    def _path(self, query: str) -> str:
        selector = self._resource.field_selector
        chosen = f"fieldSelector={quote(selector, safe='')}" if selector else ""
        return f"{self._resource.path}?{'&'.join(filter(None, (chosen, query)))}"


def _place(version: str) -> tuple[int, str]:
    """Numbers in their order, however long they are: Python refuses to read the longest."""
    digits = version.lstrip("0")
    return len(digits), digits
