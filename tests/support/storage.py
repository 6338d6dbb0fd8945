"""Storage objects for tests: builders in few words, and random ones from few values.

``claim("data", volume="pv-data")``, ``volume("pv-data", csi="disk.example.com")``,
``csi_node("a", {"disk.example.com": 2})``
"""

from typing import Any

import msgspec
from hypothesis import strategies as st

from podium.api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from tests.support.builders import pairs

DRIVER = "disk.example.com"
EBS_DRIVER = "ebs.csi.aws.com"
EBS = "kubernetes.io/aws-ebs"
ZONE = "topology.kubernetes.io/zone"

CLAIMS = ("data", "more", "once")
VOLUMES = ("pv-1", "pv-2", "pv-3", "pv-ebs")
NAMESPACES = ("default", "other")


def claim(  # noqa: PLR0913  # a keyword per thing that tests say of a claim
    name: str = "data",
    *,
    namespace: str = "default",
    volume: str = "",
    storage_class: str | None = None,
    mode: str = "ReadWriteOnce",
    owner: str = "",
    annotations: dict[str, str] | None = None,
) -> PersistentVolumeClaim:
    """A claim that is bound to ``volume``, if named; ``owner`` is the uid of the pod it is for."""
    completed = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    return _object(
        PersistentVolumeClaim,
        {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{namespace}-{name}",
            "annotations": {**completed, **(annotations or {})},
            "ownerReferences": [{"uid": owner, "controller": True}] if owner else [],
        },
        spec={"volumeName": volume, "storageClassName": storage_class, "accessModes": [mode]},
        status={"phase": "Bound" if volume else "Pending"},
    )


def volume(name: str = "pv-data", *, labels: str = "", **source: Any) -> PersistentVolume:
    """A persistent volume; ``csi`` names the driver, any other source is written as it is."""
    if "csi" in source:
        source["csi"] = {"driver": source["csi"], "volumeHandle": f"h-{name}"}
    meta = {"name": name, "labels": pairs(labels)}
    return _object(PersistentVolume, meta, spec=source, status={"phase": "Bound"})


def storage_class(
    name: str, provisioner: str = DRIVER, mode: str = "WaitForFirstConsumer"
) -> StorageClass:
    return _object(StorageClass, {"name": name}, provisioner=provisioner, volumeBindingMode=mode)


def csi_node(name: str, limits: dict[str, int | None], **meta: Any) -> CSINode:
    """The drivers on the node with their limits; ``None`` for a driver without one."""
    drivers = [
        {"name": driver, "nodeID": "id", "allocatable": {} if n is None else {"count": n}}
        for driver, n in limits.items()
    ]
    return _object(CSINode, {"name": name, **meta}, spec={"drivers": drivers})


def attachment(name: str, node: str, volume: str, attacher: str = DRIVER) -> VolumeAttachment:
    source = {"persistentVolumeName": volume}
    spec = {"attacher": attacher, "nodeName": node, "source": source}
    return _object(VolumeAttachment, {"name": name}, spec=spec)


def uses(*claims: str, **disks: dict[str, Any]) -> list[dict[str, Any]]:
    """The volumes of a pod: claims by name, and disks as they are written."""
    named = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return [*named, *({"name": kind, kind: source} for kind, source in disks.items())]


def ephemeral(name: str = "scratch") -> dict[str, Any]:
    return {"name": name, "ephemeral": {"volumeClaimTemplate": {}}}


@st.composite
def pod_volumes(draw: Any) -> list[dict[str, Any]]:
    """The volumes of a pod: claims, an ephemeral one, disks that it may have to itself."""
    disk = {"pdName": "disk", "readOnly": draw(st.booleans())}
    return draw(
        st.sampled_from(
            (
                uses(draw(st.sampled_from(CLAIMS))),
                uses(*draw(st.lists(st.sampled_from(CLAIMS), max_size=3, unique=True))),
                uses("data", gcePersistentDisk=disk),
                uses(gcePersistentDisk=disk),
                uses(awsElasticBlockStore={"volumeID": "vol-1"}),
                [ephemeral()],
                [{"name": "config", "configMap": {"name": "web"}}],
            )
        )
    )


@st.composite
def storage_object(draw: Any) -> Any:
    """Any object of the small world that the volumes of random pods live in."""
    return draw(st.one_of(_claims(), _volumes(), _classes(), _csi_nodes(), _attachments()))


@st.composite
def storage(draw: Any) -> list[Any]:
    """Most of that world: claims are mostly there, and mostly bound."""
    objects = [draw(_claims(name)) for name in CLAIMS]
    objects += [draw(_volumes(name)) for name in VOLUMES[1:]]
    return [storage_class("std"), *objects, *draw(st.lists(storage_object(), max_size=8))]


@st.composite
def _claims(draw: Any, name: str = "") -> PersistentVolumeClaim:
    name, owner = name or draw(st.sampled_from(CLAIMS)), ""
    if name == "data" and draw(st.integers(0, 5)) == 0:
        name, owner = draw(st.sampled_from(("new-scratch", "p1-scratch"))), "uid-new"
    return claim(
        name,
        namespace=draw(st.sampled_from((*NAMESPACES, "default"))),
        volume=draw(st.sampled_from((*VOLUMES, ""))),
        storage_class=draw(st.sampled_from(("std", "std", "ebs", None))),
        mode="ReadWriteOncePod" if name == "once" else "ReadWriteOnce",
        owner=owner,
    )


@st.composite
def _volumes(draw: Any, name: str = "") -> PersistentVolume:
    name = name or draw(st.sampled_from(VOLUMES))
    labels = draw(st.sampled_from(("", "", f"{ZONE}=z1", f"{ZONE}=z1__z2")))
    if name == "pv-ebs":
        return volume(name, labels=labels, awsElasticBlockStore={"volumeID": "vol-1"})
    return volume(name, labels=labels, csi=DRIVER)


def _classes() -> Any:
    made = (storage_class("std"), storage_class("std", EBS), storage_class("ebs", EBS))
    return st.sampled_from(made)


@st.composite
def _csi_nodes(draw: Any) -> CSINode:
    limits = {driver: draw(st.sampled_from((None, 0, 1, 2))) for driver in (DRIVER, EBS_DRIVER)}
    return csi_node(draw(st.sampled_from(("a", "b", "c"))), limits)


@st.composite
def _attachments(draw: Any) -> VolumeAttachment:
    node, name = draw(st.sampled_from(("a", "b"))), draw(st.sampled_from(VOLUMES))
    return attachment(draw(st.sampled_from(("va-1", "va-2"))), node, name)


def _object(kind: Any, metadata: dict[str, Any], **fields: Any) -> Any:
    return msgspec.convert({"metadata": metadata, **fields}, kind)
