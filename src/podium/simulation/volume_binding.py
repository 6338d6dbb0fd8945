"""Binds claims to volumes, as the controller of persistent volumes does."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from podium.api.claims import BIND_COMPLETED, class_name
from podium.api.objects import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    StorageClass,
)
from podium.apiserver.controllers.volume_matching import best_volume, default_class, provisioned
from podium.simulation.controllers import BOUND, Objects
from podium.simulation.kinds import (
    NODE,
    STORAGE_CLASS,
    VOLUME,
    VOLUME_CLAIM,
    decoded,
    manifest_of,
)

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


class VolumeBinder:
    """Binds claims: to the volume reserved for them, to a matching one, or to a new one."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def offer(self, volume: PersistentVolume) -> None:
        """Bind the claim that a volume is reserved for."""
        ref = volume.spec.claim_ref
        key = "" if ref is None else f"{ref.namespace}/{ref.name}"
        claim = self._objects.find(VOLUME_CLAIM, key)
        if isinstance(claim, PersistentVolumeClaim) and not claim.spec.volume_name:
            self.bind(claim)

    def bind(self, claim: PersistentVolumeClaim) -> None:
        claim = self._with_class(claim)
        found = self._objects.find(STORAGE_CLASS, class_name(claim))
        storage = found if isinstance(found, StorageClass) else None
        waits = storage is not None and storage.volume_binding_mode == "WaitForFirstConsumer"
        volume = self._match(claim, only_reserved=waits)
        node = claim.annotations.get(SELECTED_NODE, "")
        may_provision = storage is not None and storage.provisioner != _NO_PROVISIONER
        if volume is None and storage is not None and may_provision and (node or not waits):
            volume = self._provision(claim, storage, node)
        if volume is not None:
            self._bind(claim, volume)

    def _with_class(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Give a claim without a class the default one, if there is one."""
        if claim.spec.storage_class_name is not None or class_name(claim):
            return claim
        classes = [manifest_of(each) for each in self._objects.all(STORAGE_CLASS).values()]
        for each in classes:
            each["metadata"].setdefault("creationTimestamp", "")
        found = default_class(classes)
        if found is None:
            return claim
        spec = replace(claim.spec, storage_class_name=found["metadata"]["name"])
        return replace(claim, spec=spec)

    def _match(
        self, claim: PersistentVolumeClaim, *, only_reserved: bool
    ) -> PersistentVolume | None:
        volumes = self._objects.all(VOLUME)
        candidates = [
            manifest_of(volume)
            for volume in volumes.values()
            if _may_take(volume, claim, only_reserved=only_reserved)
        ]
        found = best_volume(manifest_of(claim), candidates, only_reserved=only_reserved)
        return None if found is None else volumes[found["metadata"]["name"]]

    def _provision(
        self, claim: PersistentVolumeClaim, storage: StorageClass, node: str
    ) -> PersistentVolume:
        on = self._objects.find(NODE, node) if node else None
        made = provisioned(
            manifest_of(claim), manifest_of(storage), None if on is None else manifest_of(on)
        )
        made["metadata"]["uid"] = f"volume of {claim.uid}"  # unique, and the same in every run
        volume = decoded(made)
        assert isinstance(volume, PersistentVolume)
        return volume

    def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Bind both sides. The volume comes first, so that no other claim can take it."""
        meta = claim.metadata
        ref = ObjectReference("v1", VOLUME_CLAIM, meta.namespace, meta.name, meta.uid)
        status = replace(volume.status, phase=BOUND)
        spec = replace(claim.spec, volume_name=volume.name)
        annotations = {**claim.annotations, BIND_COMPLETED: "yes"}
        bound = replace(
            claim,
            metadata=replace(meta, annotations=annotations),
            spec=spec,
            status=PersistentVolumeClaimStatus(
                BOUND, volume.spec.access_modes, volume.spec.capacity
            ),
        )
        self._objects.put(replace(volume, spec=replace(volume.spec, claim_ref=ref), status=status))
        self._objects.put(bound)


def _may_take(
    volume: PersistentVolume, claim: PersistentVolumeClaim, *, only_reserved: bool
) -> bool:
    ref = volume.spec.claim_ref
    if ref is None:
        return not only_reserved and class_name(volume) == class_name(claim)
    return (ref.namespace, ref.name) == (claim.namespace, claim.name)
