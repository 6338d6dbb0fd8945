"""Keeps known objects equal to what the API server has: a list, then a watch from its version.

A server that can streams the list at the beginning of the watch (``sendInitialEvents``), so that
list and watch are one request; from any other the list comes in pages, before the watch. A kind is
synced when its list is complete *and* its watch is open: from then on nothing can be missed.

A watch that breaks off goes on from the last version seen. If that is not possible, the kind is
listed again and compared, so that handlers hear of real differences only. Nothing is tried again
without a pause, unless it went well for some seconds.

A long list is taken in slices of time, so that the event loop turns while 300,000 pods arrive.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from typing import Final, Generic, TypeVar
from urllib.parse import quote

import msgspec

from podium.api.codec import UNREADABLE
from podium.client.answers import of_status, read_status
from podium.client.http import Connection
from podium.client.known_objects import KnownObjects, meta_of
from podium.client.pacing import MOST_SECONDS, Backoff
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
from podium.clock import Deadline, give_way, sleep
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
# The longest pause before a watch goes on from a known version. client-go waits up to half a minute
# as before a list; but such a watch costs the server little, and pods wait meanwhile.
RESUME_SECONDS: Final = 5.0
# Events that were lost without a trace are found when the list is compared again.
RELIST_SECONDS: Final = 1800.0
# Events that contradict what is known are such a trace; but they must not cause a flood of lists.
SUSPICION_SECONDS: Final = 60.0
# Between two tries to follow a kind that we may not read or that is not installed.
LASTING_SECONDS: Final = 300.0
# All kinds may be listed at the same time, and each has a slice in every turn of the loop.
SLICE_SECONDS: Final = 0.002

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
    due. ``_is_listing`` says whether a list is being streamed, and ``_lists_again`` whether some of
    its objects may be known.
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
        self._is_listing = False
        self._lists_again = False
        self._verb = "list"
        self.trouble = Trouble(resource, connection.troubles)
        self.synced = asyncio.Event()
        self.listed_at = float("-inf")
        self.heard_at = float("-inf")
        self.watches = 0  # begun so far
        # A list that `list_again` asks for is first due, then under way, then `_listed`.
        self._is_list_due = self._is_list_awaited = False
        self._listed = asyncio.Event()
        self._silence: Deadline | None = None  # when the open watch counts as broken

    async def list_again(self) -> None:
        """End the watch, list the kind, and return when the list is complete."""
        self._listed.clear()
        self._is_list_due = True
        if self._silence is not None and not self._is_listing:
            self._silence.expire()
        await self._listed.wait()

    def _end_awaited_list(self) -> None:
        if self._is_list_awaited:
            self._is_list_awaited = False
            self._listed.set()

    async def run(self) -> None:
        while True:
            begun, version, went_well = self._clock.now(), self.version, False
            try:
                await self._follow()
                # Servers end the watch of a client that is slow for a moment: go on at once.
                went_well = self.version != version
            except PodiumError as error:
                self._note(error, version)
            except Exception as fault:  # the edge of the client: watching must go on
                log.error("watching failed", kind=self._resource.name)
                self._note(ApiError(f"{self._resource.name}: {fault!r}"), version)
            if went_well or self._clock.now() - begun >= HEALTHY_SECONDS:
                self._backoff.reset()
            else:
                await sleep(self._clock, self._wait_seconds())

    async def _follow(self) -> None:
        if self._is_list_due or self._clock.now() - self.listed_at >= RELIST_SECONDS:
            self._is_list_awaited = self._is_list_awaited or self._is_list_due
            self._is_list_due = False
            self.version = ""
        if self.version or not await self._stream_list_and_watch():
            if not self.version:
                await self._list()
            await self._watch()

    def _note(self, error: PodiumError, version: str) -> None:
        """A connection that broke is resumed; after anything else only a list is to be trusted.

        The pauses grow only while nothing is gained: ``version`` is that of before.
        """
        if not isinstance(error, Unreachable | TooManyRequests):
            self.version = ""
        elif self.version != version:
            self._backoff.reset()
        if isinstance(error, Gone):
            if self._clock.now() - self.listed_at >= MOST_SECONDS:  # no flood of lists
                self._backoff.reset()
            log.debug("version forgotten", kind=self._resource.name, why=str(error))
            return
        self.trouble.begin(error, self._verb)
        if self.trouble.is_lasting:
            self.synced.set()

    def _wait_seconds(self) -> float:
        if self.trouble.is_lasting:
            return LASTING_SECONDS * (1 + random.random())
        return self._backoff.next(RESUME_SECONDS if self.version else MOST_SECONDS)

    # --- list ------------------------------------------------------------------------------------

    async def _stream_list_and_watch(self) -> bool:
        """List and watch in one request; False when the kind must be listed in pages instead.

        Any refusal but a passing one leads to the paged list, as in client-go: that may be allowed,
        and says best what is wrong if it is not.
        """
        if not self._can_stream:
            return False
        log.v(3, "Listing and watching", kind=self._resource.name)
        self._is_listing, self._lists_again = True, len(self._known) > 0
        self._known.begin_list()
        try:
            await self._watch(_STREAMED_LIST)
        except (Unreachable, TooManyRequests, Unauthorized):
            raise
        except ApiError as refusal:
            if not self._is_listing:  # the list was complete: it is the watch that ended
                raise
            self._can_stream = not (isinstance(refusal, _CannotStream) or refusal.code in _INVALID)
            log.debug("list not streamed", kind=self._resource.name, why=str(refusal))
            return False
        finally:
            self._is_listing = False
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
        self._end_awaited_list()

    async def _list_pages(self, limit: str) -> str:
        """Return the version of the whole list; what is not in it is forgotten at the end."""
        self._known.begin_list()
        page = await self._page(limit)
        await self._in_slices(self._take_in(page))
        while token := page.metadata.continue_:
            page = await self._page(f"{limit}&continue={quote(token, safe='')}")
            await self._in_slices(self._take_in(page))
        await self._in_slices(self._known.end_list())
        return page.metadata.resource_version

    async def _page(self, query: str) -> _Page:
        return _PAGES.decode(await self._connection.get(self._resource.query(query)))

    def _take_in(self, page: _Page) -> Iterator[None]:
        for raw in page.items or ():
            yield
            self._known.put(meta_of(raw), raw)

    async def _in_slices(self, steps: Iterable[None], silence: Deadline | None = None) -> None:
        """Take all steps, and let the event loop turn between slices of time.

        A step begins with its ``yield``: after the last one there is no turn, so that what arrives
        alone is taken in at once, however long that takes.
        """
        begun = self._clock.now()
        for _ in steps:
            if self._clock.now() - begun >= SLICE_SECONDS:
                await give_way()
                if silence is not None:  # it is we who are busy
                    silence.extend(self._patience)
                begun = self._clock.now()

    # --- watch -----------------------------------------------------------------------------------

    async def _watch(self, extra: str = "") -> None:
        self._verb = "watch"
        seconds = int(WATCH_SECONDS * (1 + random.random()))
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}"
        query += f"&resourceVersion={quote(self.version)}"
        path = self._resource.query(f"{query}&{extra}" if extra else query)
        try:
            async with (
                self._connection.stream(path) as read,
                Deadline(self._clock, self._patience) as silence,
            ):
                self.watches += 1
                self._hear()
                if not self._is_listing:
                    self.synced.set()
                lines = Lines()
                self._silence = silence
                while chunk := await read():
                    self._hear()
                    await self._in_slices(self._on_lines(lines.feed(chunk)), silence)
                    silence.extend(self._patience)  # which is longer once the list has ended
                    if self._is_list_due and not self._is_listing:
                        return
            if self._is_listing:
                raise ApiError("the watch ended before its list was complete")
        except TimeoutError:
            if self._is_listing:
                raise _CannotStream("the list does not end") from None
            log.debug("nothing heard", kind=self._resource.name, seconds=SILENCE_SECONDS)
        except (LineTooLong, *UNREADABLE) as error:
            raise self._not_an_api_server("not a watch event", error) from error
        finally:
            self._silence = None

    def _not_an_api_server(self, what: str, error: Exception) -> ApiError:
        """The message is the same for every kind, so that a wrong address is reported once."""
        at = self._connection.endpoint
        hint = "is there an API server at this address?"
        return ApiError(f"{at.source}: {at.server}: {what}: {error}; {hint}")

    @property
    def _patience(self) -> float:
        return STREAMED_LIST_SECONDS if self._is_listing else SILENCE_SECONDS

    def _hear(self) -> None:
        self.heard_at = self._clock.now()
        self.trouble.end()

    def _on_lines(self, lines: Iterable[bytes]) -> Iterator[None]:
        for line in lines:
            yield
            yield from self._on_line(line)

    def _on_line(self, line: bytes) -> Iterable[None]:
        """Take in an event; what is left to do after it is returned as steps."""
        # What is known in the same version need not be decoded when it is listed again.
        event = self._decode(line, may_be_known=self._is_listing and self._lists_again)
        if event.type == ERROR:
            raise of_status(read_status(event.raw))
        if self._is_listing:
            return self._on_listed(event)
        if self._is_newer(event.meta.resource_version):  # versions only ever grow in a watch
            if event.is_change:
                self._suspect(event.type, self._known.holds(event.meta))
                self._apply(event)
            self.version = event.meta.resource_version
        return ()

    def _apply(self, event: WatchEvent[T]) -> None:
        if event.type == DELETED:
            self._known.drop(event.meta)
        elif event.obj is not None:
            self._known.put_object(event.meta, event.obj)
        else:
            self._known.put(event.meta, event.raw)

    def _on_listed(self, event: WatchEvent[T]) -> Iterable[None]:
        """Take in an event of a streamed list; a marked bookmark ends the list."""
        if event.type == BOOKMARK:
            raise _CannotStream("a bookmark came before the end of the list")
        if event.type == LIST_END:
            return self._end_list(event.meta.resource_version)
        if event.is_change:
            self._apply(event)
        return ()

    def _end_list(self, version: str) -> Iterator[None]:
        yield from self._known.end_list()
        self._is_listing = False
        self.version = version
        self.listed_at = self._clock.now()
        self._end_awaited_list()
        self.synced.set()

    def _is_newer(self, version: str) -> bool:
        """Versions are numbers where a server keeps to the API's rules; others are all taken."""
        if version.isdecimal() and self.version.isdecimal():
            return version_order(version) > version_order(self.version)
        return bool(version)

    def _suspect(self, change: str, known: bool) -> None:
        """Raise ``Gone`` for an event that does not fit what is known: one before it was lost."""
        if known == (change == ADDED) and self._clock.now() - self.listed_at > SUSPICION_SECONDS:
            what = f"{change} of an object that is {'' if known else 'not '}known"
            raise Gone(f"{self._resource.name}: {what}: an event was lost")


def version_order(version: str) -> tuple[int, str]:
    """Return a key that sorts versions as numbers of any length; what is not a number comes first.

    Python refuses to read the longest numbers.
    """
    digits = version.lstrip("0") if version.isdecimal() else ""
    return len(digits), digits
