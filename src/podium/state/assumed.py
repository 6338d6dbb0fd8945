"""Objects in the form that a plugin is about to write, before the API server shows them so.

A plugin assumes such an object so that the next pod already sees the volume or claim as taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from podium.api.meta import ApiObject
from podium.errors import CacheError, NotFound
from podium.state.objects import ObjectStore

T = TypeVar("T", bound=ApiObject)


class Assumed(Generic[T]):
    """The assumed objects of one kind, in front of the store of observed ones.

    Invariants: there is at most one assumed form per key, and its resource version is that of the
    stored object. As soon as the API shows another version, or that the object is gone, the assumed
    form is dropped. ``announce`` is called whenever a form is assumed or restored, so that results
    computed before are not reused.
    """

    def __init__(self, store: ObjectStore[T], announce: Callable[[], None]) -> None:
        self._store = store
        self._announce = announce
        self._by_key: dict[str, T] = {}

    def get(self, key: str) -> T | None:
        """Return the assumed form of the object, else the observed one, else ``None``."""
        return self._by_key.get(key) or self._store.get(key)

    def holds(self, obj: T) -> bool:
        """Return whether exactly this object is the assumed form now."""
        return self._by_key.get(obj.key) is obj

    def assume(self, obj: T) -> None:
        """Assume this form of an object. It must be made from the stored version."""
        stored = self._store.get(obj.key)
        if stored is None:
            raise NotFound(f'{type(obj).__name__.lower()} "{obj.key}" not found')
        if _version(stored) != _version(obj):
            raise CacheError(
                f'"{obj.key}" is out of sync (stored: {_version(stored)}, assume: {_version(obj)})'
            )
        self._by_key[obj.key] = obj
        self._announce()

    def restore(self, obj: T) -> None:
        """Drop this form. Does nothing when it is no longer the assumed one."""
        if self.holds(obj):
            del self._by_key[obj.key]
            self._announce()

    def check_against(self, stored: T | None, key: str) -> bool:
        """Drop the assumed form if the observed object (``None``: it is gone) outdates it.

        Returns whether a form was dropped; the caller announces that change.
        """
        assumed = self._by_key.get(key)
        if assumed is None:
            return False
        # The same version again is a resync. An object without a version always counts as changed.
        outdated = stored is None or not _version(stored) or _version(stored) != _version(assumed)
        if outdated:
            del self._by_key[key]
        return outdated

    def __iter__(self) -> Iterator[T]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)


def _version(obj: ApiObject) -> str:
    return obj.metadata.resource_version
