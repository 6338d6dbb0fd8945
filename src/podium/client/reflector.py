"""Keeps known objects equal to what the API server has: a list, then a watch from its version.

A server that can streams the list at the beginning of the watch (``sendInitialEvents``), so that
list and watch are one request; from any other the list comes in pages, before the watch. A kind is
synced when its list is complete *and* its watch is open: from then on nothing can be missed.

A watch that breaks off goes on from the last version seen. If that is not possible, the kind is
listed again and compared, so that handlers hear of real differences only. Nothing is tried again
without a pause, unless it went well for some seconds.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final, Generic, TypeVar
from urllib.parse import quote

import msgspec

from podium.api.codec import UNREADABLE
from podium.client.answers import of_status, read_status
from podium.client.http import Connection
from podium.client.known_objects import KnownObjects, meta_of
from podium.client.pacing import Backoff
from podium.client.resources import Resource
from podium.client.trouble import Trouble
from podium.client.watch_events import (
    ADDED,
    BOOKMARK,
    DELETED,
    ERROR,
    LIST_END,
    EventDecoder,
    Lines,
    LineTooLong,
    WatchEvent,
)
from podium.clock import Deadline, sleep
from podium.errors import ApiError, Gone, PodiumError, TooManyRequests, Unauthorized, Unreachable
from podium.logs import get_logger

T = TypeVar("T")

PAGE: Final = 500
# The server ends a watch after this time or up to twice as long, so that not all clients come back
# at once.
WATCH_SECONDS: Final = 300
# API servers send a bookmark each minute, unless nothing has changed: after this much silence the
# connection may be dead, and only a new one can show that.
SILENCE_SECONDS: Final = 90.0
# A server that ignores ``sendInitialEvents`` never says that the list is complete. After this much
# silence in a streamed list it is taken for such a server.
STREAMED_LIST_SECONDS: Final = 10.0
# A watch that lasted this long, or sent an event and was ended by the server, went well: the next
# one starts without a pause.
HEALTHY_SECONDS: Final = 5.0
# Events that were lost without a trace are found when the list is compared again.
RELIST_SECONDS: Final = 1800.0
# Events that contradict what is known are such a trace; but they must not cause a flood of lists.
SUSPICION_SECONDS: Final = 60.0
# Between two tries to follow a kind that we may not read or that is not installed.
LASTING_SECONDS: Final = 300.0

# With the version "" the server sends the most recent data.
_STREAMED_LIST: Final = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
_INVALID: Final = (400, 422)

log = get_logger(__name__)


class _ListMeta(msgspec.Struct, rename="camel", gc=False):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, gc=False):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


_PAGES = msgspec.json.Decoder(_Page)


class _CannotStream(ApiError):
    """The server does not stream lists."""


class Reflector(Generic[T]):
    """Follows one kind until it is cancelled; ``trouble`` says what keeps it from its work.

    ``version`` is that of the complete list or of the last event after it, and "" while a list is
    due. ``_listed`` holds the keys of a list that is being streamed, and None at any other time.
    """

    def __init__(
        self, connection: Connection, resource: Resource[T], known: KnownObjects[T]
    ) -> None:
        self._connection = connection
        self._clock = connection.clock
        self._resource = resource
        self._known = known
        self._decode = EventDecoder(resource)
        self._backoff = Backoff()
        self._can_stream = connection.streams_lists  # until the server says otherwise
        self.version = ""
        self._listed: set[str] | None = None
        self._verb = "list"
        self.trouble = Trouble(resource, connection.troubles)
        self.synced = asyncio.Event()
        self.listed_at = float("-inf")
        self.heard_at = float("-inf")
        self.watches = 0  # begun so far

    async def run(self) -> None:
        while True:
            begun, version, went_well = self._clock.now(), self.version, False
            try:
                await self._follow()
                # Servers end the watch of a client that is slow for a moment: go on at once.
                went_well = self.version != version
            except PodiumError as error:
                self._note(error)
            except Exception as fault:  # the edge of the client: watching must go on
                log.error("watching failed", kind=self._resource.name)
                self._note(ApiError(f"{self._resource.name}: {fault!r}"))
            if went_well or self._clock.now() - begun >= HEALTHY_SECONDS:
                self._backoff.reset()
            else:
                await sleep(self._clock, self._wait_seconds())

    async def _follow(self) -> None:
        if self._clock.now() - self.listed_at >= RELIST_SECONDS:
            self.version = ""
        if self.version or not await self._stream_list_and_watch():
            if not self.version:
                await self._list()
            await self._watch()

    def _note(self, error: PodiumError) -> None:
        """A connection that broke is resumed; after anything else only a list is to be trusted."""
        if not isinstance(error, Unreachable | TooManyRequests):
            self.version = ""
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

    async def _stream_list_and_watch(self) -> bool:
        """List and watch in one request; False when the kind must be listed in pages instead.

        Any refusal but a passing one leads to the paged list, as in client-go: that may be allowed,
        and says best what is wrong if it is not.
        """
        if not self._can_stream:
            return False
        log.v(3, "Listing and watching", kind=self._resource.name)
        self._listed = set()
        try:
            await self._watch(_STREAMED_LIST)
        except (Unreachable, TooManyRequests, Unauthorized):
            raise
        except ApiError as refusal:
            if self._listed is None:  # the list was complete: it is the watch that ended
                raise
            self._can_stream = not (isinstance(refusal, _CannotStream) or refusal.code in _INVALID)
            log.debug("list not streamed", kind=self._resource.name, why=str(refusal))
            return False
        finally:
            self._listed = None
        return True

    async def _list(self) -> None:
        self._verb = "list"
        log.v(3, "Listing and watching", kind=self._resource.name)
        try:
            version = await self._list_pages(f"limit={PAGE}")
        except Gone:  # it took so long that the server has forgotten where it began
            version = await self._list_pages("")
        except UNREADABLE as error:
            raise self._not_an_api_server("not a list", error) from error
        self.version = version
        self.heard_at = self.listed_at = self._clock.now()

    async def _list_pages(self, limit: str) -> str:
        """Return the version of the whole list; what is not in it is forgotten at the end."""
        keys: set[str] = set()
        page = await self._page(limit)
        self._take_in(page, keys)
        while token := page.metadata.continue_:
            page = await self._page(f"{limit}&continue={quote(token, safe='')}")
            self._take_in(page, keys)
        self._known.retain(keys)
        return page.metadata.resource_version

    async def _page(self, query: str) -> _Page:
        return _PAGES.decode(await self._connection.get(self._path(query)))

    def _take_in(self, page: _Page, keys: set[str]) -> None:
        for raw in page.items or ():
            meta = meta_of(raw)
            keys.add(meta.key)
            self._known.put(meta, raw)

    # --- watch -----------------------------------------------------------------------------------

    async def _watch(self, extra: str = "") -> None:
        self._verb = "watch"
        seconds = int(WATCH_SECONDS * (1 + random.random()))
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}"
        query += f"&resourceVersion={quote(self.version)}"
        path = self._path(f"{query}&{extra}" if extra else query)
        try:
            async with (
                self._connection.stream(path) as read,
                Deadline(self._clock, self._patience) as silence,
            ):
                self.watches += 1
                self._hear()
                if self._listed is None:
                    self.synced.set()
                lines = Lines()
                while chunk := await read():
                    self._hear()
                    silence.extend(self._patience)
                    for line in lines.feed(chunk):
                        self._on_line(line)
            if self._listed is not None:
                raise ApiError("the watch ended before its list was complete")
        except TimeoutError:
            if self._listed is not None:
                raise _CannotStream("the list does not end") from None
            log.debug("nothing heard", kind=self._resource.name, seconds=SILENCE_SECONDS)
        except (LineTooLong, *UNREADABLE) as error:
            raise self._not_an_api_server("not a watch event", error) from error

    def _not_an_api_server(self, what: str, error: Exception) -> ApiError:
        """The message is the same for every kind, so that a wrong address is reported once."""
        at = self._connection.endpoint
        hint = "is there an API server at this address?"
        return ApiError(f"{at.source}: {at.server}: {what}: {error}; {hint}")

    @property
    def _patience(self) -> float:
        return SILENCE_SECONDS if self._listed is None else STREAMED_LIST_SECONDS

    def _hear(self) -> None:
        self.heard_at = self._clock.now()
        self.trouble.end()

    def _on_line(self, line: bytes) -> None:
        is_listing = self._listed is not None
        # What is known in the same version need not be decoded when it is listed again.
        event = self._decode(line, may_be_known=is_listing and len(self._known) > 0)
        if event.type == ERROR:
            raise of_status(read_status(event.raw))
        if self._listed is not None:
            self._on_listed(event, self._listed)
        elif self._is_newer(event.meta.resource_version):  # versions only ever grow in a watch
            if event.is_change:
                self._suspect(event.type, self._known.holds(event.meta))
                self._apply(event)
            self.version = event.meta.resource_version

    def _apply(self, event: WatchEvent[T]) -> None:
        if event.type == DELETED:
            self._known.drop(event.meta)
        elif event.obj is not None:
            self._known.put_object(event.meta, event.obj)
        else:
            self._known.put(event.meta, event.raw)

    def _on_listed(self, event: WatchEvent[T], listed: set[str]) -> None:
        """An event of a streamed list; a marked bookmark ends the list."""
        if event.type == BOOKMARK:
            raise _CannotStream("a bookmark came before the end of the list")
        if event.type == LIST_END:
            self._known.retain(listed)
            self._listed = None
            self.version = event.meta.resource_version
            self.listed_at = self._clock.now()
            self.synced.set()
        elif event.is_change:
            self._apply(event)
            (listed.discard if event.type == DELETED else listed.add)(event.meta.key)

    def _is_newer(self, version: str) -> bool:
        """Versions are numbers where a server keeps to the API's rules; others are all taken."""
        if version.isdecimal() and self.version.isdecimal():
            return _in_order(version) > _in_order(self.version)
        return bool(version)

    def _suspect(self, change: str, known: bool) -> None:
        """Raise ``Gone`` for an event that does not fit what is known: one before it was lost."""
        if known == (change == ADDED) and self._clock.now() - self.listed_at > SUSPICION_SECONDS:
            what = f"{change} of an object that is {'' if known else 'not '}known"
            raise Gone(f"{self._resource.name}: {what}: an event was lost")

    def _path(self, query: str) -> str:
        selector = self._resource.field_selector
        chosen = f"fieldSelector={quote(selector, safe='')}" if selector else ""
        return f"{self._resource.path}?{'&'.join(filter(None, (chosen, query)))}"


def _in_order(version: str) -> tuple[int, str]:
    """A key that sorts numbers of any length: Python refuses to read the longest."""
    digits = version.lstrip("0")
    return len(digits), digits
