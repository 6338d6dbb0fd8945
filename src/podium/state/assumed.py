"""Objects as the scheduler expects them to become, in front of what the API has shown so far.

A plugin assumes what it is about to write, so that the next pod already sees it taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from podium.api.meta import ApiObject
from podium.errors import CacheError, NotFound
from podium.state.objects import Store

T = TypeVar("T", bound=ApiObject)


class Assumed(Generic[T]):
    """At most one assumption per object; it holds for the version that it was made from.

    Whatever else the API shows of the object ends it. ``announce`` is called with every change, so
    that nothing judged before outlives it.
    """

    def __init__(self, store: Store[T], announce: Callable[[], None]) -> None:
        self._store = store
        self._announce = announce
        self._by_key: dict[str, T] = {}

    def get(self, key: str) -> T | None:
        """The object as assumed, else as the API has shown it; ``None`` when there is none."""
        return self._by_key.get(key) or self._store.get(key)

    def holds(self, obj: T) -> bool:
        """Whether this very object is what is assumed now."""
        return self._by_key.get(obj.key) is obj

    def assume(self, obj: T) -> None:
        """Take this form of an object for granted; it must be made from the version known here."""
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
        """Drop this very assumption; one that has ended or was replaced is left alone."""
        if self.holds(obj):
            del self._by_key[obj.key]
            self._announce()

    def check_against(self, stored: T | None, key: str) -> bool:
        """The API has shown the object, or that it is gone: end an assumption that is outdated.

        True when one ended: the caller announces it.
        """
        assumed = self._by_key.get(key)
        if assumed is None:
            return False
        # A version shown again is a resync. Without versions nothing tells one from a change.
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
