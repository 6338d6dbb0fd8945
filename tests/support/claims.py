"""Claims and the volumes they may get, for tests of binding them: builders, and random ones.

``claim("data", cls="local", size="5Gi")``, ``volume("pv-1", cls="local", on={ZONE: "z1"})``
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from hypothesis import strategies as st

from podium.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    decode,
)

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
BOUND = "pv.kubernetes.io/bind-completed"
SELECTED = "volume.kubernetes.io/selected-node"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
DELAYED = "WaitForFirstConsumer"
RWO = "ReadWriteOnce"


def claim(
    name: str = "data", *, cls: str | None = "local", size: str = "1Gi", **more: Any
) -> PersistentVolumeClaim:
    """An open claim; ``bound`` names its volume, ``selected`` its node, ``spec`` adds fields."""
    annotations = dict(more.get("annotations", {}))
    if more.get("bound"):
        annotations[BOUND] = "yes"
    if more.get("selected"):
        annotations[SELECTED] = more["selected"]
    spec = {
        "accessModes": [RWO],
        "resources": {"requests": {"storage": size} if size else {}},
        "storageClassName": cls,
        "volumeName": more.get("bound", ""),
        **more.get("spec", {}),
    }
    return _decode(PersistentVolumeClaim, name, spec, {**more, "annotations": annotations})


def volume(
    name: str = "pv", *, cls: str = "local", size: str = "1Gi", **more: Any
) -> PersistentVolume:
    """An available volume; ``on`` are labels its nodes must have, ``claim`` the one it is for."""
    spec = {
        "accessModes": [RWO],
        "capacity": {"storage": size},
        "storageClassName": cls,
        **({"nodeAffinity": affinity(more["on"])} if more.get("on") else {}),
        **({"claimRef": claim_ref(more["claim"])} if "claim" in more else {}),
        **more.get("spec", {}),
    }
    status = {"phase": more.get("phase", "Available")}
    return _decode(PersistentVolume, name, spec, {**more, "namespace": "", "status": status})


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


def storage_class(name: str = "local", **more: Any) -> StorageClass:
    """Delayed and without a provisioner, unless ``provisioner`` or ``mode`` say otherwise."""
    topologies = [
        {"matchLabelExpressions": [{"key": key, "values": text.split()}]}
        for key, text in more.get("topologies", {}).items()
    ]
    return decode(
        StorageClass,
        {
            "metadata": {"name": name},
            "provisioner": more.get("provisioner", "kubernetes.io/no-provisioner"),
            "volumeBindingMode": more.get("mode", DELAYED),
            "allowedTopologies": topologies,
        },
    )


def pool(
    name: str = "pool", *, cls: str = "csi", capacity: Any = "10Gi", **more: Any
) -> CSIStorageCapacity:
    """What a driver has left, on nodes with the labels ``on``; ``{}`` is everywhere."""
    on = more.get("on", {})
    return decode(
        CSIStorageCapacity,
        {
            "metadata": {"name": name, "namespace": "kube-system"},
            "storageClassName": cls,
            "nodeTopology": None if on is None else {"matchLabels": on},
            "capacity": capacity,
            "maximumVolumeSize": more.get("largest"),
        },
    )


def driver(name: str = "csi.example.com", *, checks_room: bool | None = True) -> CSIDriver:
    return decode(CSIDriver, {"metadata": {"name": name}, "spec": {"storageCapacity": checks_room}})


def csi_node(name: str, migrated: str = "") -> CSINode:
    annotations = {MIGRATED: migrated} if migrated else {}
    return decode(CSINode, {"metadata": {"name": name, "annotations": annotations}})


def uses(*claims: str, ephemeral: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The volumes of a pod: by claim name, and generic ephemeral ones by their own."""
    return [
        *({"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims),
        *({"name": name, "ephemeral": {"volumeClaimTemplate": {}}} for name in ephemeral),
    ]


def _decode(kind: Any, name: str, spec: Mapping[str, Any], more: Mapping[str, Any]) -> Any:
    meta = {
        "name": name,
        "namespace": more.get("namespace", "default"),
        "uid": more.get("uid", f"uid-{name}"),
        "resourceVersion": more.get("version", "1"),
        "labels": more.get("labels", {}),
        "annotations": more.get("annotations", {}),
        "deletionTimestamp": more.get("deleted", ""),
        "ownerReferences": more.get("owners", []),
    }
    return msgspec.convert({"metadata": meta, "spec": spec, "status": more.get("status", {})}, kind)


# --- random ones ----------------------------------------------------------------------------------

CLAIMS = ("c0", "c1")
VOLUMES = ("v0", "v1", "v2")
CLASSES = ("local", "csi", "now")
EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
PLACES = ({}, {ZONE: "z1"}, {ZONE: "z1 z2"}, {HOST: "a"}, {"disk": "ssd", ZONE: "z2"})


@st.composite
def claims(draw, name, namespace="default", version="1"):
    kind = draw(st.sampled_from(("open", "open", "bound", "selected")))
    return claim(
        name,
        namespace=namespace,
        uid=f"uid-{namespace}-{name}",
        version=version,
        cls=draw(st.sampled_from(CLASSES)),
        size=draw(st.sampled_from(("1Gi", "2Gi"))),
        bound=draw(st.sampled_from(("v0", "v1", "gone"))) if kind == "bound" else "",
        selected=draw(st.sampled_from(("a", "b"))) if kind == "selected" else "",
    )


@st.composite
def volumes(draw, name, version="1"):
    spec = draw(st.sampled_from(({}, {}, EBS, {"accessModes": ["ReadWriteMany"]})))
    reserved = {"claim": draw(st.sampled_from(CLAIMS))} if draw(st.integers(0, 3)) == 0 else {}
    return volume(
        name,
        version=version,
        cls=draw(st.sampled_from(CLASSES[:2])),
        size=draw(st.sampled_from(("1Gi", "2Gi"))),
        phase=draw(st.sampled_from(("Available", "Available", "Released"))),
        labels=draw(st.sampled_from(({}, {ZONE: "z1"}))),
        on=draw(st.sampled_from(PLACES)),
        spec=spec,
        **reserved,
    )


@st.composite
def descriptions(draw):
    """What says how storage is made: classes, a driver and its pool."""
    places = st.sampled_from(({}, {ZONE: "z1"}, {HOST: "a"}))
    return [
        storage_class("local"),
        storage_class("csi", provisioner="csi.example.com", topologies=draw(places)),
        storage_class("now", mode="Immediate"),
        driver(checks_room=draw(st.booleans())),
        pool(on=draw(places), capacity=draw(st.sampled_from(("1Gi", "5Gi", None)))),
    ]


def claim_uses():
    """The volumes of a pod with one or two of these claims."""
    return st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=2).map(lambda names: uses(*names))


@st.composite
def storage_objects(draw, version="1"):
    """Everything the claims of random pods may meet; some of it is missing."""
    objects = draw(descriptions())
    objects += [draw(volumes(name, version)) for name in VOLUMES]
    objects += [draw(claims(name, version=version)) for name in CLAIMS]
    missing = draw(st.sets(st.integers(0, len(objects) - 1), max_size=2))
    return [obj for place, obj in enumerate(objects) if place not in missing]


def storage_change(version):
    """A new version of one of these claims or volumes."""
    some_claim = st.sampled_from(CLAIMS).flatmap(lambda name: claims(name, version=version))
    some_volume = st.sampled_from(VOLUMES).flatmap(lambda name: volumes(name, version))
    return st.one_of(some_claim, some_volume)
