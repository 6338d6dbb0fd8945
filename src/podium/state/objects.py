"""Stores of the objects other than pods and nodes that plugins look up, by key.

Persistent volumes have two more indexes, for volume binding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

import msgspec

from podium.api.claims import class_name
from podium.api.meta import ApiObject, is_newer
from podium.api.objects import PersistentVolume

T = TypeVar("T", bound=ApiObject)


class ObjectStore(Generic[T]):
    """All objects of one kind.

    Invariants: ``_by_key`` and ``_by_namespace`` have the same objects, and no namespace is empty.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, T] = {}
        self._by_namespace: dict[str, dict[str, T]] = {}
        self.get: Callable[[str], T | None] = self._by_key.get  # looked up many times per pod
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


_Names = dict[str, None]  # an ordered set
_NO_NAMES: _Names = {}


class VolumeStore(ObjectStore[PersistentVolume]):
    """A store with two indexes, as a class may have thousands of volumes, nearly all claimed.

    Invariant: a volume without a claim reference is in ``_unclaimed`` under its class; any other is
    in ``_claimed`` under the key of its claim. Neither has empty entries.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unclaimed: dict[str, _Names] = {}  # by class
        self._claimed: dict[str, _Names] = {}  # by the key of the claim

    def unclaimed(self, name: str) -> Iterable[PersistentVolume]:
        """Return the volumes of this class that are not reserved for a claim."""
        return (self._by_key[volume] for volume in self._unclaimed.get(name, _NO_NAMES))

    def claimed_by(self, claim_key: str) -> Iterable[PersistentVolume]:
        """Return the volumes that are reserved for, or bound to, the claim with this key."""
        return (self._by_key[volume] for volume in self._claimed.get(claim_key, _NO_NAMES))

    def set(self, obj: PersistentVolume) -> PersistentVolume | None:
        old = super().set(obj)
        if old is not None and _index_key(old) != _index_key(obj):
            self._remove_from_index(old)
        index, key = self._index(obj), _index_key(obj)[1]
        index.setdefault(key, {})[obj.key] = None
        return old

    def remove(self, key: str) -> PersistentVolume | None:
        old = super().remove(key)
        if old is not None:
            self._remove_from_index(old)
        return old

    def check(self) -> None:
        """Raise ``AssertionError`` when the indexes differ from the volumes."""
        fresh = VolumeStore()
        for volume in self:
            fresh.set(volume)
        assert fresh._unclaimed == self._unclaimed, "unclaimed volumes are indexed wrongly"
        assert fresh._claimed == self._claimed, "claimed volumes are indexed wrongly"

    def _index(self, volume: PersistentVolume) -> dict[str, _Names]:
        return self._unclaimed if _index_key(volume)[0] else self._claimed

    def _remove_from_index(self, volume: PersistentVolume) -> None:
        index, key = self._index(volume), _index_key(volume)[1]
        names = index[key]
        del names[volume.key]
        if not names:
            del index[key]


def _index_key(volume: PersistentVolume) -> tuple[bool, str]:
    """Return (True, class) for an unclaimed volume, else (False, key of the claim)."""
    claim = volume.spec.claim_ref
    if claim is None:
        return True, class_name(volume)
    return False, f"{claim.namespace}/{claim.name}"
