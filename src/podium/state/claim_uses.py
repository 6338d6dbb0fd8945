"""The claims that placed pods use, by row, each resolved to its CSI volume."""

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
from podium.state.objects import ObjectStore
from podium.state.row_counts import RowCounts

_NO_ROWS = RowCounts()
_ANY_OWNER = ""  # for claims that pods name in their spec: any pod may use them
_UNBOUND = "unbound "  # the handle of an unbound claim; no real handle starts like this


@dataclass(slots=True, eq=False)
class _Use:
    """How often a claim is used on each row, and the CSI volume that it counts as, if any."""

    volume: VolumeId | None
    rows: RowCounts = field(default_factory=RowCounts)


def _use_of(pod: Pod, volume: Volume) -> tuple[str, str] | None:
    """Return the key of a volume's claim and the owner it must have; ``None`` without a claim."""
    named = named_claim(pod, volume)
    if named is None:
        return None
    return claim_key(pod.namespace, named.name), pod.uid if named.is_ephemeral else _ANY_OWNER


class ClaimUses:
    """Uses by claim and owner: an ephemeral volume's claim counts only for the pod that owns it.

    Invariants:

    - ``_uses`` has exactly the claims that volumes of placed pods name, existing or not.
    - ``_Use.volume`` is what ``_resolve`` returns for the claim, volume and class as known now.
    - ``attached`` has each use counted under that volume. When a claim, a volume or a class
      changes, ``_resolve_again`` moves the counts from the old volume to the new one.
    - ``_bound`` has, by volume name, the claims whose ``spec.volumeName`` is that name.
    """

    def __init__(
        self,
        attached: AttachedVolumes,
        claims: ObjectStore[PersistentVolumeClaim],
        volumes: ObjectStore[PersistentVolume],
        classes: ObjectStore[StorageClass],
    ) -> None:
        self._attached = attached
        self._claims = claims
        self._volumes = volumes
        self._classes = classes
        self._uses: dict[str, dict[str, _Use]] = {}  # by claim, then by owner's uid
        self._bound: dict[str, tuple[str, ...]] = {}  # the keys of the claims that name a volume

    def change(self, pod: Pod, volumes: Iterable[Volume], row: int, amount: int) -> None:
        """Count volumes of a pod on this row in (+1) or out (-1)."""
        for volume in volumes:
            use = _use_of(pod, volume)
            found = inline_id(volume) if use is None else self._count(*use, row, amount)
            if found is not None:
                self._attached.use(found, row, amount)

    def users(self, key: str) -> RowCounts:
        """Return how many volumes of pods on each row name this claim. Do not change the result."""
        uses = self._uses.get(key)
        return uses[_ANY_OWNER].rows if uses and _ANY_OWNER in uses else _NO_ROWS

    def volumes_of(self, pod: Pod, volumes: Iterable[Volume]) -> list[VolumeId]:
        """Return the CSI volumes of a pod, placed or not, without those that cannot be found."""
        found: list[VolumeId] = []
        for volume in volumes:
            use = _use_of(pod, volume)
            one = inline_id(volume) if use is None else self._volume_of_use(*use)
            if one is not None:
                found.append(one)
        return found

    def claim_changed(
        self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None
    ) -> list[int]:
        """Resolve the claim again; return the rows that this changes."""
        claim = new or old
        if claim is None:
            return []
        before = old.spec.volume_name if old is not None else ""
        after = new.spec.volume_name if new is not None else ""
        if before != after:
            self._update_bound(claim.key, before, after)
        return self._resolve_again((claim.key,))

    def volume_changed(self, name: str) -> list[int]:
        """Resolve the claims of this volume again; return the rows that this changes."""
        return self._resolve_again(self._bound.get(name, ()))

    def class_changed(self) -> list[int]:
        """Resolve all claims again, as unbound ones count for the driver of their class."""
        return self._resolve_again(tuple(self._uses))

    def tally(self) -> dict[tuple[str, str], dict[int, int]]:
        """Return all counts, for ``check_invariants``."""
        return {
            (key, owner): use.rows.items()
            for key, uses in self._uses.items()
            for owner, use in uses.items()
        }

    def _count(self, key: str, owner: str, row: int, amount: int) -> VolumeId | None:
        """Count a use of this claim; return the volume that it counts as."""
        uses = self._uses.setdefault(key, {})
        use = uses.get(owner)
        if use is None:
            use = uses[owner] = _Use(self._resolve(key, owner))
        use.rows.add(row, amount)
        if not use.rows.total:
            del uses[owner]
            if not uses:
                del self._uses[key]
        return use.volume

    def _volume_of_use(self, key: str, owner: str) -> VolumeId | None:
        use = self._uses.get(key, {}).get(owner)
        return self._resolve(key, owner) if use is None else use.volume

    def _resolve(self, key: str, owner: str) -> VolumeId | None:
        claim = self._claims.get(key)
        if claim is None:
            return None
        if owner != _ANY_OWNER and (claim.controller is None or claim.controller.uid != owner):
            return None
        volume = self._volumes.get(claim.spec.volume_name)
        if volume is not None:
            return persistent_id(volume)
        storage_class = self._classes.get(class_name(claim))
        driver = counted_driver(storage_class.provisioner) if storage_class is not None else None
        return VolumeId(driver, _UNBOUND + key) if driver else None

    def _resolve_again(self, keys: Iterable[str]) -> list[int]:
        changed: list[int] = []
        for key in keys:
            for owner, use in self._uses.get(key, {}).items():
                before, use.volume = use.volume, self._resolve(key, owner)
                if before == use.volume:
                    continue
                for row, amount in use.rows.items().items():
                    if before is not None:
                        self._attached.use(before, row, -amount)
                    if use.volume is not None:
                        self._attached.use(use.volume, row, amount)
                    changed.append(row)
        return changed

    def _update_bound(self, key: str, before: str, after: str) -> None:
        """Note that the claim names volume ``after`` instead of ``before`` (empty: none)."""
        if before:
            rest = tuple(each for each in self._bound[before] if each != key)
            if rest:
                self._bound[before] = rest
            else:
                del self._bound[before]
        if after:
            self._bound[after] = (*self._bound.get(after, ()), key)
