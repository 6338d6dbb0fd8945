"""The objects other than pods and nodes that plugins look up, by kind and key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

import msgspec

from podium.api.meta import ApiObject, is_newer

T = TypeVar("T", bound=ApiObject)


class ObjectStore(Generic[T]):
    """All objects of one kind.

    Invariants: ``_by_key`` and ``_by_namespace`` have the same objects, and no namespace is empty.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, T] = {}
        self._by_namespace: dict[str, dict[str, T]] = {}
        self.version = 0  # grows with every change

    def set(self, obj: T) -> T | None:
        """Store this version; return the one that it replaces."""
        self.version += 1
        old = self._by_key.get(obj.key)
        self._by_key[obj.key] = obj
        self._by_namespace.setdefault(obj.namespace, {})[obj.name] = obj
        return old

    def is_late(self, obj: T) -> bool:
        """Return whether a newer version is stored: watch events may arrive out of order."""
        known = self._by_key.get(obj.key)
        return known is not None and known.uid == obj.uid and is_newer(known, obj)

    def remove(self, key: str) -> T | None:
        obj = self._by_key.pop(key, None)
        if obj is not None:
            self.version += 1
            inside = self._by_namespace[obj.namespace]
            del inside[obj.name]
            if not inside:
                del self._by_namespace[obj.namespace]
        return obj

    def get(self, key: str) -> T | None:
        return self._by_key.get(key)

    def in_namespace(self, namespace: str) -> Iterable[T]:
        return self._by_namespace.get(namespace, _NONE).values()

    def __iter__(self) -> Iterator[T]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)


_NONE: Mapping[str, T] = {}  # type: ignore[valid-type]  # an empty mapping serves every kind


def differ_only_in_version(old: ApiObject, new: ApiObject) -> bool:
    """Return whether two versions of an object differ only in their resource version.

    That is so after a write to fields that podium does not decode, such as managed fields.
    """
    version = new.metadata.resource_version
    metadata = msgspec.structs.replace(old.metadata, resource_version=version)
    return msgspec.structs.replace(old, metadata=metadata) == new
