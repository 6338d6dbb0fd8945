"""The claims that placed pods use, by row, each followed to the CSI volume it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from podium.api.claims import claim_key, class_name, named_claim
from podium.api.csi_migration import VolumeId, counted_driver, inline_id, persistent_id
from podium.api.objects import (
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    Volume,
)
from podium.state.attached_volumes import AttachedVolumes
from podium.state.objects import Store
from podium.state.row_counts import RowCounts

_NOBODY = RowCounts()
_NAMED = ""  # the owner of claims that pods name themselves
_UNBOUND = "unbound "  # no handle of a real volume starts like this


@dataclass(slots=True, eq=False)
class _Use:
    volume: VolumeId | None
    rows: RowCounts = field(default_factory=RowCounts)


def _use_of(pod: Pod, volume: Volume) -> tuple[str, str] | None:
    """The claim behind a volume of the pod, and the owner that it must have."""
    named = named_claim(pod, volume)
    if named is None:
        return None
    return claim_key(pod.namespace, named.name), pod.uid if named.is_ephemeral else _NAMED


class ClaimUses:
    """Uses by claim and owner: the claim of an ephemeral volume counts for the pod it belongs to.

    ``attached`` is told of every use of a volume, and told again when a claim, a volume or a class
    changes what a use stands for.
    """

    def __init__(
        self,
        attached: AttachedVolumes,
        claims: Store[PersistentVolumeClaim],
        volumes: Store[PersistentVolume],
        classes: Store[StorageClass],
    ) -> None:
        self._attached = attached
        self._claims = claims
        self._volumes = volumes
        self._classes = classes
        self._uses: dict[str, dict[str, _Use]] = {}  # by claim, then by owner's uid
        self._bound: dict[str, tuple[str, ...]] = {}  # the claims that name a volume

    def change(self, pod: Pod, volumes: Iterable[Volume], row: int, amount: int) -> None:
        """Count volumes of a pod on this row in (+1) or out (-1)."""
        for volume in volumes:
            use = _use_of(pod, volume)
            found = inline_id(volume) if use is None else self._count(*use, row, amount)
            if found is not None:
                self._attached.use(found, row, amount)

    def users(self, key: str) -> RowCounts:
        """How many volumes of pods on each row name this claim. Do not change it."""
        uses = self._uses.get(key)
        return uses[_NAMED].rows if uses and _NAMED in uses else _NOBODY

    def volumes_of(self, pod: Pod, volumes: Iterable[Volume]) -> list[VolumeId]:
        """What the volumes of a pod count as, placed or not; what cannot be found is left out."""
        uses = [(_use_of(pod, volume), volume) for volume in volumes]
        found = [inline_id(v) if use is None else self._stands_for(*use) for use, v in uses]
        return [volume for volume in found if volume is not None]

    def claim_changed(
        self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None
    ) -> list[int]:
        """Follow the claim anew; returns the rows where that makes a difference."""
        claim = new or old
        if claim is None:
            return []
        before = old.spec.volume_name if old is not None else ""
        after = new.spec.volume_name if new is not None else ""
        if before != after:
            self._move(claim.key, before, after)
        return self._follow_again((claim.key,))

    def volume_changed(self, name: str) -> list[int]:
        return self._follow_again(self._bound.get(name, ()))

    def class_changed(self) -> list[int]:
        return self._follow_again(tuple(self._uses))

    def tally(self) -> dict[tuple[str, str], dict[int, int]]:
        """Everything counted, for comparing."""
        return {
            (key, owner): use.rows.items()
            for key, uses in self._uses.items()
            for owner, use in uses.items()
        }

    def _count(self, key: str, owner: str, row: int, amount: int) -> VolumeId | None:
        """Count a use of this claim; returns the volume that it stands for."""
        uses = self._uses.setdefault(key, {})
        use = uses.get(owner)
        if use is None:
            use = uses[owner] = _Use(self._follow(key, owner))
        use.rows.add(row, amount)
        if not use.rows.total:
            del uses[owner]
            if not uses:
                del self._uses[key]
        return use.volume

    def _stands_for(self, key: str, owner: str) -> VolumeId | None:
        use = self._uses.get(key, {}).get(owner)
        return self._follow(key, owner) if use is None else use.volume

    def _follow(self, key: str, owner: str) -> VolumeId | None:
        claim = self._claims.get(key)
        if claim is None:
            return None
        if owner != _NAMED and (claim.controller is None or claim.controller.uid != owner):
            return None
        volume = self._volumes.get(claim.spec.volume_name)
        if volume is not None:
            return persistent_id(volume)
        storage_class = self._classes.get(class_name(claim))
        driver = counted_driver(storage_class.provisioner) if storage_class is not None else None
        return VolumeId(driver, _UNBOUND + key) if driver else None

    def _follow_again(self, keys: Iterable[str]) -> list[int]:
        changed: list[int] = []
        for key in keys:
            for owner, use in self._uses.get(key, {}).items():
                before, use.volume = use.volume, self._follow(key, owner)
                if before == use.volume:
                    continue
                for row, amount in use.rows.items().items():
                    if before is not None:
                        self._attached.use(before, row, -amount)
                    if use.volume is not None:
                        self._attached.use(use.volume, row, amount)
                    changed.append(row)
        return changed

    def _move(self, key: str, before: str, after: str) -> None:
        """The claim no longer names one volume and names another."""
        if before:
            rest = tuple(each for each in self._bound[before] if each != key)
            if rest:
                self._bound[before] = rest
            else:
                del self._bound[before]
        if after:
            self._bound[after] = (*self._bound.get(after, ()), key)
