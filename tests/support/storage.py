"""Storage objects: those of ``podium.testing`` with more short words, and the other kinds.

``claim("data", volume="pv")``, ``volume("pv", csi="disk.example.com", on={ZONE: "z1"})``,
``csi_node("a", {"disk.example.com": 2})``
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from podium.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeAttachment,
    decode,
)
from podium.testing import builders_storage
from podium.testing.builders_storage import storage_class

__all__ = ["storage_class"]

DRIVER = "disk.example.com"
EBS_DRIVER = "ebs.csi.aws.com"
EBS = "kubernetes.io/aws-ebs"
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
BOUND = "pv.kubernetes.io/bind-completed"
SELECTED = "volume.kubernetes.io/selected-node"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def claim(
    name: str = "data", *, selected: str = "", owner: str = "", phase: str = "", **fields: Any
) -> PersistentVolumeClaim:
    """An open claim, or one that is bound to ``volume``.

    ``selected`` is the node that was chosen for it, ``owner`` the uid of the pod it is made for.
    An empty ``storage`` asks for no size.
    """
    if selected:
        fields["annotations"] = {SELECTED: selected, **fields.get("annotations", {})}
    if owner:
        fields["owner_references"] = [{"uid": owner, "controller": True}]
    if fields.get("storage") == "":
        fields["resources"] = {}
    made = builders_storage.claim(name, **{"resource_version": "1", **fields})
    return _in_phase(made, phase) if phase else made


def volume(
    name: str = "pv", *, claim: Any = None, csi: str = "", on: Any = None, **fields: Any
) -> PersistentVolume:
    """An available volume; ``on`` are the labels that its nodes must have, ``csi`` its driver.

    ``claim`` is the claim that it is reserved for, or the name of one.
    """
    phase = fields.pop("phase", "Available")
    if claim is not None:
        fields["claim_ref"] = claim_ref(claim)
    if csi:
        fields["csi"] = {"driver": csi, "volumeHandle": f"h-{name}"}
    if on:
        fields["node_affinity"] = affinity(on)
    return _in_phase(builders_storage.volume(name, **{"resource_version": "1", **fields}), phase)


def _in_phase(obj: Any, phase: str) -> Any:
    return msgspec.structs.replace(obj, status=msgspec.structs.replace(obj.status, phase=phase))


def affinity(labels: Mapping[str, str]) -> dict[str, Any]:
    """``{ZONE: "z1 z2"}``: one of these values of each label."""
    expressions = [
        {"key": key, "operator": "In", "values": text.split()} for key, text in labels.items()
    ]
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}


def claim_ref(claim: Any) -> dict[str, Any]:
    """A reference to a claim; for a name alone, one that an administrator wrote: without a uid."""
    if isinstance(claim, str):
        return {"name": claim, "namespace": "default"}
    return {"name": claim.name, "namespace": claim.namespace, "uid": claim.uid}


def topologies(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """``{ZONE: "z1 z2"}`` as the allowed topologies of a storage class: a term for each label."""
    return [
        {"matchLabelExpressions": [{"key": key, "values": text.split()}]}
        for key, text in labels.items()
    ]


def pool(
    name: str = "pool", *, storage_class: str = "csi", capacity: Any = "10Gi", **more: Any
) -> CSIStorageCapacity:
    """What a driver has left on nodes with the labels ``on``; ``{}`` is everywhere."""
    on = more.get("on", {})
    return decode(
        CSIStorageCapacity,
        {
            "metadata": {"name": name, "namespace": "kube-system"},
            "storageClassName": storage_class,
            "nodeTopology": None if on is None else {"matchLabels": on},
            "capacity": capacity,
            "maximumVolumeSize": more.get("largest"),
        },
    )


def driver(name: str = "csi.example.com", *, checks_room: bool | None = True) -> CSIDriver:
    return decode(CSIDriver, {"metadata": {"name": name}, "spec": {"storageCapacity": checks_room}})


def csi_node(
    name: str, limits: Mapping[str, int | None] | None = None, *, migrated: str = "", **meta: Any
) -> CSINode:
    """The drivers on the node with their limits; ``None`` for a driver without one.

    ``migrated`` names the in-tree plugins whose volumes a driver takes care of.
    """
    drivers = [
        {"name": driver, "nodeID": "id", "allocatable": {} if n is None else {"count": n}}
        for driver, n in (limits or {}).items()
    ]
    annotations = {MIGRATED: migrated} if migrated else {}
    metadata = {"name": name, "annotations": annotations, **meta}
    return decode(CSINode, {"metadata": metadata, "spec": {"drivers": drivers}})


def attachment(name: str, node: str, volume: str, attacher: str = DRIVER) -> VolumeAttachment:
    source = {"persistentVolumeName": volume}
    spec = {"attacher": attacher, "nodeName": node, "source": source}
    return decode(VolumeAttachment, {"metadata": {"name": name}, "spec": spec})


def uses(*claims: str, **disks: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The volumes of a pod: claims by name, and disks as in a manifest."""
    named = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return [*named, *({"name": kind, kind: source} for kind, source in disks.items())]


def ephemeral(name: str = "scratch") -> dict[str, Any]:
    """One volume of a pod: its claim is made with the pod and goes with it."""
    return {"name": name, "ephemeral": {"volumeClaimTemplate": {}}}
