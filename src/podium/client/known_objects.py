"""What an informer knows: objects by key, and the handlers that hear of each change. No I/O.

The reflector feeds it. Handlers hear a consistent sequence of changes: an object is added before it
is updated or deleted, and never added twice.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from podium.client.resources import Resource
from podium.errors import InvalidObject
from podium.logs import get_logger

T = TypeVar("T")
# (None, new) is an addition, (old, new) an update, (old, None) a deletion.
Handler = Callable[[T | None, T | None], None]

log = get_logger(__name__)


class Meta(msgspec.Struct, rename="camel", gc=False):
    """The part of metadata that identifies one version of one object."""

    name: str = ""
    namespace: str | None = ""
    uid: str = ""
    resource_version: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class _Head(msgspec.Struct, gc=False):
    metadata: Meta


_HEAD = msgspec.json.Decoder(_Head)


def meta_of(raw: bytes | msgspec.Raw) -> Meta:
    return _HEAD.decode(raw).metadata


class _Known(msgspec.Struct, Generic[T], gc=False):
    uid: str
    version: str
    obj: T
    listed_in: int


@dataclass(slots=True)
class _Unreadable:
    meta: Meta
    listed_in: int


class KnownObjects(Generic[T]):
    """The objects of one kind; handlers hear of each change before the next one is made.

    ``_unreadable`` holds the versions that could not be decoded: each is logged once, and the
    object stays as it was known before, if it was. Lists are numbered, and ``listed_in`` of an
    object is the number of the list that was the latest when the object was last seen: a set of all
    keys would be examined by the garbage collector, which takes 14 ms for 300,000 of them.
    """

    def __init__(self, resource: Resource[T]) -> None:
        self._resource = resource
        self._known: dict[str, _Known[T]] = {}
        self._unreadable: dict[str, _Unreadable] = {}
        self._list = 0
        self._handlers: list[Handler[T]] = []

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[T]:
        """Iterate over the objects that are known now, in any thread, whatever changes meanwhile.

        The list is built without another thread running in between.
        """
        return (known.obj for known in list(self._known.values()))

    def get(self, key: str) -> T | None:
        known = self._known.get(key)
        return known.obj if known else None

    def subscribe(self, handler: Handler[T]) -> None:
        """Call this handler for every change, and for each known object as an addition now."""
        self._handlers.append(handler)
        for obj in self:
            self._notify_one(handler, None, obj)

    def unsubscribe(self, handler: Handler[T]) -> None:
        """Stop calling this handler; harmless if it is not called."""
        self._handlers = [each for each in self._handlers if each != handler]

    def holds(self, meta: Meta) -> bool:
        """Whether this object has been seen, in any version, readable or not."""
        known, unreadable = self._known.get(meta.key), self._unreadable.get(meta.key)
        return (known is not None and known.uid == meta.uid) or (
            unreadable is not None and unreadable.meta.uid == meta.uid
        )

    def put(self, meta: Meta, raw: bytes | msgspec.Raw) -> None:
        """Take in an object; one that is known in this very version is not decoded again."""
        # Both are asked: each takes note that the list shows the object.
        is_known, is_unreadable = self._is_known(meta), self._is_unreadable(meta)
        if is_known or is_unreadable:
            return
        try:
            obj = self._resource.decode(bytes(raw), self.get(meta.key))
        except InvalidObject as error:
            self._unreadable[meta.key] = _Unreadable(meta, self._list)
            kind, key = self._resource.kind, meta.key
            log.warning("object not readable", kind=kind, key=key, why=str(error))
            return
        self._take(meta, obj)

    def put_object(self, meta: Meta, obj: T) -> None:
        """Take in an object that is decoded already."""
        if not self._is_known(meta):
            self._take(meta, obj)

    def _is_known(self, meta: Meta) -> bool:
        """Whether the object is known in this version. Another one of its name is forgotten."""
        known = self._known.get(meta.key)
        if known is None:
            return False
        if known.uid != meta.uid:
            self._forget(meta.key, known)  # deleted and created again, and we missed it
            return False
        known.listed_in = self._list
        return known.version == meta.resource_version

    def _is_unreadable(self, meta: Meta) -> bool:
        found = self._unreadable.get(meta.key)
        if found is None:
            return False
        found.listed_in = self._list
        return found.meta == meta

    def _take(self, meta: Meta, obj: T) -> None:
        if self._unreadable:
            self._unreadable.pop(meta.key, None)
        known = self._known.get(meta.key)
        if known is None:
            self._known[meta.key] = _Known(meta.uid, meta.resource_version, obj, self._list)
            self._notify(None, obj)
        else:
            old, known.obj, known.version = known.obj, obj, meta.resource_version
            self._notify(old, obj)

    def drop(self, meta: Meta) -> None:
        """Forget an object, unless another one has its name by now."""
        known, unreadable = self._known.get(meta.key), self._unreadable.get(meta.key)
        if unreadable is not None and unreadable.meta.uid == meta.uid:
            del self._unreadable[meta.key]
        if known is not None and known.uid == meta.uid:
            self._forget(meta.key, known)

    def begin_list(self) -> None:
        """Everything that is put from now on is in the list; one that broke off does not count."""
        self._list += 1

    def end_list(self) -> Iterator[None]:
        """Forget all objects that are not in the list, in steps; nothing may be put in between."""
        unreadable = self._unreadable.items()
        self._unreadable = {key: one for key, one in unreadable if one.listed_in == self._list}
        gone = []
        for key, known in self._known.items():
            yield
            if known.listed_in != self._list:
                gone.append(key)
        for key in gone:
            yield
            self._forget(key, self._known[key])

    def _forget(self, key: str, known: _Known[T]) -> None:
        del self._known[key]
        self._notify(known.obj, None)

    def _notify(self, old: T | None, new: T | None) -> None:
        for handler in self._handlers:
            self._notify_one(handler, old, new)

    def _notify_one(self, handler: Handler[T], old: T | None, new: T | None) -> None:
        try:
            handler(old, new)
        # The edge of the client: one handler's fault must not end the watch. Nobody can cancel a
        # handler; but it may ask a plugin, which looks at the result of something cancelled.
        except (Exception, CancelledError, SystemExit):
            log.error("handler failed", kind=self._resource.kind)
