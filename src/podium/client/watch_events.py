"""The events of a watch out of the bytes of its stream; no I/O. `reflector.py` feeds it."""

from __future__ import annotations

from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.meta import ApiObject
from podium.client.known_objects import Meta, meta_of
from podium.client.resources import Resource

T = TypeVar("T")

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
LIST_END: Final = "LIST_END"  # our name for the bookmark after which a streamed list is complete
ERROR: Final = "ERROR"
CHANGES: Final = frozenset((ADDED, MODIFIED, DELETED))

MOST_BYTES: Final = 16 * 1024 * 1024  # an object is at most 3 MiB when it is written


class LineTooLong(Exception):
    """A line without an end; the stream is not to be trusted."""


class Lines:
    """Cuts a stream into lines: ``feed`` returns the whole ones and keeps an unfinished one."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        first, *others = chunk.split(b"\n")
        self._pieces.append(first)
        self._size += len(first)
        if self._size > self._most_bytes:
            raise LineTooLong(f"a line is longer than {self._most_bytes} bytes")
        if not others:
            return []
        lines = [b"".join(self._pieces), *others[:-1]]
        self._pieces, self._size = [others[-1]], len(others[-1])
        return [line for line in lines if line]


class WatchEvent(NamedTuple, Generic[T]):
    """One event: with its object if that was decoded along with it, else with the object's JSON."""

    type: str
    meta: Meta
    obj: T | None
    raw: bytes | msgspec.Raw

    @property
    def is_change(self) -> bool:
        return self.type in CHANGES


class _RawEvent(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


class _TypedEvent(msgspec.Struct, Generic[T], gc=False):
    type: str
    object: T


class _Annotations(msgspec.Struct, gc=False):
    annotations: dict[str, Any] | None = None


class _Bookmark(msgspec.Struct, gc=False):
    metadata: _Annotations


_RAW_EVENTS = msgspec.json.Decoder(_RawEvent)
_BOOKMARKS = msgspec.json.Decoder(_Bookmark)
_NO_META: Final = Meta()


class EventDecoder(Generic[T]):
    """Decodes lines of a watch. A change of a kind that has a struct is decoded in one go."""

    def __init__(self, resource: Resource[T]) -> None:
        self._typed: msgspec.json.Decoder[Any] | None = None
        if resource.struct is not None:
            event = _TypedEvent[resource.struct]  # type: ignore[name-defined]  # made at run time
            self._typed = msgspec.json.Decoder(event)

    def __call__(self, line: bytes, *, may_be_known: bool = False) -> WatchEvent[T]:
        """Decode a line; an object that may be known in this version is left as JSON."""
        if self._typed is not None and not may_be_known:
            try:
                event = self._typed.decode(line)
            except UNREADABLE:
                pass  # a bookmark, or an object that only the thorough decoder can read
            else:
                if event.type in CHANGES:
                    return WatchEvent(event.type, _meta(event.object), event.object, b"")
        found = _RAW_EVENTS.decode(line)
        if found.type == ERROR:
            return WatchEvent(ERROR, _NO_META, None, found.object)
        ends_list = found.type == BOOKMARK and _ends_list(found.object)
        kind = LIST_END if ends_list else found.type
        return WatchEvent(kind, meta_of(found.object), None, found.object)


def _ends_list(bookmark: msgspec.Raw) -> bool:
    annotations = _BOOKMARKS.decode(bookmark).metadata.annotations or {}
    return annotations.get("k8s.io/initial-events-end") == "true"


def _meta(obj: ApiObject) -> Meta:
    meta = obj.metadata
    return Meta(meta.name, meta.namespace, meta.uid, meta.resource_version)
