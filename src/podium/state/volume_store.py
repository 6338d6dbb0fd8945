"""Persistent volumes, with the two questions that binding a claim asks of them."""

from __future__ import annotations

from collections.abc import Iterable

from podium.api.claims import class_name
from podium.api.objects import PersistentVolume
from podium.state.objects import Store

_Names = dict[str, None]  # an ordered set
_NONE: _Names = {}


class VolumeStore(Store[PersistentVolume]):
    """A class may have thousands of volumes, nearly all of them claimed: those are never listed."""

    def __init__(self) -> None:
        super().__init__()
        self._unclaimed: dict[str, _Names] = {}  # by class
        self._claimed: dict[str, _Names] = {}  # by the key of the claim

    def unclaimed(self, name: str) -> Iterable[PersistentVolume]:
        """The volumes of this class that are reserved for no claim."""
        return (self._by_key[volume] for volume in self._unclaimed.get(name, _NONE))

    def claimed_by(self, claim_key: str) -> Iterable[PersistentVolume]:
        """The volumes that are reserved for, or bound to, the claim with this key."""
        return (self._by_key[volume] for volume in self._claimed.get(claim_key, _NONE))

    def set(self, obj: PersistentVolume) -> PersistentVolume | None:
        old = super().set(obj)
        if old is not None and _shelf_of(old) != _shelf_of(obj):
            self._take_down(old)
        index, shelf = self._index(obj), _shelf_of(obj)[1]
        index.setdefault(shelf, {})[obj.key] = None
        return old

    def remove(self, key: str) -> PersistentVolume | None:
        old = super().remove(key)
        if old is not None:
            self._take_down(old)
        return old

    def check(self) -> None:
        """Raise ``AssertionError`` when the indexes are not what the volumes add up to."""
        fresh = VolumeStore()
        for volume in self:
            fresh.set(volume)
        assert fresh._unclaimed == self._unclaimed, "unclaimed volumes are not where they belong"
        assert fresh._claimed == self._claimed, "claimed volumes are not where they belong"

    def _index(self, volume: PersistentVolume) -> dict[str, _Names]:
        return self._unclaimed if _shelf_of(volume)[0] else self._claimed

    def _take_down(self, volume: PersistentVolume) -> None:
        index, shelf = self._index(volume), _shelf_of(volume)[1]
        names = index[shelf]
        del names[volume.key]
        if not names:
            del index[shelf]


def _shelf_of(volume: PersistentVolume) -> tuple[bool, str]:
    """Whether it is unclaimed, and its class or else its claim."""
    claim = volume.spec.claim_ref
    if claim is None:
        return True, class_name(volume)
    return False, f"{claim.namespace}/{claim.name}"
