"""Persistent volumes, indexed by class and by claim for volume binding."""

from __future__ import annotations

from collections.abc import Iterable

from podium.api.claims import class_name
from podium.api.objects import PersistentVolume
from podium.state.objects import ObjectStore

_Names = dict[str, None]  # an ordered set
_NONE: _Names = {}


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
        return (self._by_key[volume] for volume in self._unclaimed.get(name, _NONE))

    def claimed_by(self, claim_key: str) -> Iterable[PersistentVolume]:
        """Return the volumes that are reserved for, or bound to, the claim with this key."""
        return (self._by_key[volume] for volume in self._claimed.get(claim_key, _NONE))

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
