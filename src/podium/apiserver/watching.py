"""Watches over HTTP: streams of events that end after a timeout and never block a write."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Protocol

import msgspec

from podium.apiserver import statuses
from podium.apiserver.answers import View
from podium.apiserver.api import Api
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.listing import selection_of
from podium.apiserver.requests import Query, Target, flag, number, version
from podium.apiserver.selection import Selection
from podium.apiserver.statuses import Refusal
from podium.apiserver.watches import ADDED, BOOKMARK, DELETED, MODIFIED, Event, Item
from podium.clock import Clock

# Clients rely on bookmarks: podium's own closes a silent connection after 90 seconds.
BOOKMARK_SECONDS = 60
# The last bookmark comes this long before the end, so that the next watch can start from it.
_LAST_BOOKMARK_SECONDS = 2
# A client that does not read or send for this long is disconnected.
STUCK_SECONDS = 60
_BATCH = 500
# Bytes per write: the most that a client that stopped reading can make this process keep.
_WRITE_BYTES = 256 * 1024
_DEFAULT_SECONDS = 1800


class Stream(Protocol):
    """The connection of a watch; ``write`` waits while the client does not read."""

    async def write(self, data: bytes) -> None: ...

    def abort(self) -> None: ...


class WatchRequest:
    """A parsed watch request; raises the refusals before anything is sent."""

    def __init__(self, api: Api, target: Target, query: Query) -> None:
        self.api = api
        self.kind = target.kind
        self.selection: Selection = selection_of(target, query)
        self.since = version(query)
        self.bookmarks = flag(query, "allowWatchBookmarks")
        seconds = number(query, "timeoutSeconds")
        self.seconds = float(seconds) if seconds and seconds > 0 else _DEFAULT_SECONDS
        self.initial = _initial(query)
        if self.initial is None:
            self.initial = not self.since
        self.marks_end = self.initial and self.bookmarks


def _initial(query: Query) -> bool | None:
    """Check ``sendInitialEvents`` and the parameters that it requires."""
    match, name = query.get("resourceVersionMatch", ""), "resourceVersionMatch"
    given = "sendInitialEvents" in query
    causes = []
    if given and not match:
        detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(statuses.not_allowed(name, detail))
    if match and not given:
        detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(statuses.not_allowed(name, detail))
    if match not in ("", "NotOlderThan"):
        causes.append(statuses.unsupported(name, match, ["NotOlderThan"]))
    if causes:
        raise statuses.invalid("ListOptions", "meta.k8s.io", "", causes)
    return flag(query, "sendInitialEvents") if given else None


class WatchStream:
    """The watch of one client, from the first frame to the last."""

    def __init__(self, request: WatchRequest, view: View, stream: Stream, clock: Clock) -> None:
        self._request = request
        self._view = view
        self._stream = stream
        self._clock = clock  # real time, while the cluster's time may pass faster
        self._wake = asyncio.Event()
        store, storage = request.api.store, request.kind.storage
        self._fault: Refusal | None = None
        # Listed and watched without a break, so that no change is missed.
        self._first = store.list(storage, request.selection.namespace) if request.initial else None
        since = store.version if self._first else (request.since or store.version)
        if self._first and (request.since or 0) > store.version:
            self._fault = statuses.too_new(request.since or 0, store.version)
        try:
            self._watch = store.watch(storage, since, self._wake.set)
        except Refusal as error:  # reported inside the stream, like everything that ends a watch
            self._fault = _too_old(request.kind, error)
            self._watch = store.watch(storage, store.version, self._wake.set)

    async def run(self) -> None:
        ends = self._clock.now() + self._request.seconds
        bookmark_at = self._next_bookmark(ends)
        try:
            if self._fault is not None:
                raise self._fault
            if self._first is not None:
                await self._send_initial(self._first.items)
                self._first = None
            while (now := self._clock.now()) < ends:
                if now >= bookmark_at:  # however much there is to send or to skip
                    await self._write(self._bookmark({}))
                    bookmark_at = self._next_bookmark(ends)
                if not await self._send_events():
                    await self._wait(min(ends, bookmark_at))
        except Refusal as error:  # too far behind: the client lists again
            frame = msgspec.json.encode({"type": "ERROR", "object": error.to_json()})
            await self._write(frame + b"\n")
        finally:
            self.close()

    def close(self) -> None:
        self._watch.close()

    async def _send_initial(self, items: list[Item]) -> None:
        matches = self._request.selection.matches
        await self._write_all(self._frame(ADDED, item) for item in items if matches(item))
        if self._request.marks_end:
            await self._write(self._bookmark({"k8s.io/initial-events-end": "true"}))

    async def _send_events(self) -> bool:
        """Send the next events; return False if there are none."""
        self._wake.clear()
        events = self._watch.poll(_BATCH)
        await self._write_all(self._frames(events))
        return bool(events)

    async def _write_all(self, frames: Iterator[bytes]) -> None:
        waiting, size = [], 0
        for frame in frames:
            waiting.append(frame)
            size += len(frame)
            if size > _WRITE_BYTES:
                await self._write(b"".join(waiting))
                waiting, size = [], 0
        if waiting:
            await self._write(b"".join(waiting))

    def _frames(self, events: list[Event]) -> Iterator[bytes]:
        for event in events:
            kind = change_of(event, self._request.selection)
            if kind == DELETED and event.type != DELETED and event.old is not None:
                yield self._frame(kind, _last_seen(event.old, event.version))
            elif kind:
                yield self._frame(kind, event.new)

    def _frame(self, kind: str, item: Item) -> bytes:
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), self._view.event(item))

    def _next_bookmark(self, ends: float) -> float:
        """Return when the next bookmark is due; infinity for none."""
        now = self._clock.now()
        at = min(now + BOOKMARK_SECONDS, ends - _LAST_BOOKMARK_SECONDS)
        return at if self._request.bookmarks and at > now else math.inf

    async def _wait(self, until: float) -> None:
        """Wait for events, or until the given time."""
        timer = self._clock.call_later(until - self._clock.now(), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    def _bookmark(self, annotations: dict[str, str]) -> bytes:
        kind = self._request.kind
        # With nothing left to send, the bookmark carries the version of the whole store.
        if not self._watch.has_more:
            self._watch.version = max(self._watch.version, self._request.api.store.version)
        at = self._watch.version
        meta: dict[str, object] = {"resourceVersion": str(at)}
        if annotations:
            meta["annotations"] = annotations
        obj = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta}
        return msgspec.json.encode({"type": BOOKMARK, "object": obj}) + b"\n"

    async def _write(self, data: bytes) -> None:
        timer = self._clock.call_later(STUCK_SECONDS, self._stream.abort)
        try:
            await self._stream.write(data)
        finally:
            timer.cancel()


def _too_old(kind: ApiKind, error: Refusal) -> Refusal:
    """Return the 410 in the words of the kind: events have no watch cache."""
    if kind.is_cached:
        return error
    return statuses.expired("The resourceVersion for the provided watch is too old.")


def _last_seen(old: Item, version: int) -> Item:
    """Return the last state that a watcher saw of an object that it no longer selects."""
    obj = old.decode()
    obj["metadata"]["resourceVersion"] = str(version)
    return Item(old.key, version, msgspec.json.encode(obj))


def change_of(event: Event, selection: Selection) -> str:
    """Return the type of an event for a selection; empty if the event is outside of it."""
    if selection.namespace is not None and event.key[0] != selection.namespace:
        return ""
    if selection.is_everything:
        return event.type
    was = event.old is not None and selection.matches(event.old)
    is_now = event.type != DELETED and selection.matches(event.new)
    match was, is_now:
        case True, True:
            return MODIFIED
        case True, False:
            return DELETED
        case False, True:
            return ADDED
        case _:
            return ""
