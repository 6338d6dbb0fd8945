"""Claims, volumes and storage classes for tests, as ``builders`` makes pods and nodes.

``claim("data", storage="5Gi", volume="pv-1")``, ``volume("pv-1", storage_class="local")``
"""

from __future__ import annotations

from typing import Any

from podium.api.claims import BIND_COMPLETED
from podium.api.objects import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.api.storage import (
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from podium.api.volumes import PersistentVolumeClaimSpec
from podium.testing.builders import metadata, split, struct

_BOUND = {BIND_COMPLETED: "yes"}


def claim(
    name: str = "data",
    *,
    storage: str = "1Gi",
    storage_class: str = "standard",
    volume: str = "",
    **rest: Any,
) -> PersistentVolumeClaim:
    """A claim, bound to ``volume`` if that is named.

    Every other keyword is a field of the metadata or of the spec by its Python name.
    """
    meta, others = split(rest)
    annotations = {**(_BOUND if volume else {}), **meta.pop("annotations", {})}
    spec = {
        "access_modes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": storage}},
        "storage_class_name": storage_class,
        "volume_name": volume,
    }
    return PersistentVolumeClaim(
        metadata=metadata(
            name,
            meta.pop("labels", ""),
            {"namespace": "default", "annotations": annotations, **meta},
        ),
        spec=struct(PersistentVolumeClaimSpec, {**spec, **others}),
        status=PersistentVolumeClaimStatus(phase="Bound" if volume else "Pending"),
    )


def volume(
    name: str = "pv",
    *,
    storage: str = "1Gi",
    storage_class: str = "standard",
    claim: str = "",
    **rest: Any,
) -> PersistentVolume:
    """A volume, bound to the claim of this name in ``default``, if any.

    Every other keyword is a field of the metadata or of the spec by its Python name: a source such
    as ``csi={"driver": …}``, or ``node_affinity``.
    """
    meta, others = split(rest)
    spec = {
        "access_modes": ["ReadWriteOnce"],
        "capacity": {"storage": storage},
        "storage_class_name": storage_class,
        "claim_ref": _reference(claim) if claim else None,
    }
    return PersistentVolume(
        metadata=metadata(name, meta.pop("labels", ""), meta),
        spec=struct(PersistentVolumeSpec, {**spec, **others}),
        status=PersistentVolumeStatus(phase="Bound" if claim else "Available"),
    )


def storage_class(name: str = "standard", **fields: Any) -> StorageClass:
    """Claims of this class wait for their pod; ``volume_binding_mode="Immediate"`` do not."""
    made = {
        "provisioner": "kubernetes.io/no-provisioner",
        "volume_binding_mode": "WaitForFirstConsumer",
    }
    return struct(StorageClass, {"metadata": metadata(name, "", {}), **made, **fields})


def _reference(claim: str) -> ObjectReference:
    """Without a uid, as an administrator writes it: an API server gives the claim its own."""
    return ObjectReference(kind="PersistentVolumeClaim", namespace="default", name=claim)
