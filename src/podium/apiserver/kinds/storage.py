"""The group storage.k8s.io: storage classes, CSI drivers and what they report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import (
    AGE,
    CREATED_AT,
    NAME,
    NONE,
    UNSET,
    Cell,
    Column,
    column,
    flag_column,
    value_column,
)
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import declared_immutable, immutable, spec_of
from podium.apiserver.names import subdomain_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36

Causes = Iterator[Cause]

_GROUP = "storage.k8s.io"


def _set_class_defaults(obj: Json) -> None:
    set_missing(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _check_class(obj: Json) -> Causes:
    for name, choices in (
        ("reclaimPolicy", ["Delete", "Retain"]),
        ("volumeBindingMode", ["Immediate", "WaitForFirstConsumer"]),
    ):
        if obj.get(name) not in choices:
            yield statuses.unsupported(name, obj.get(name), choices)


def _is_default(storage_class: Json) -> bool:
    marked = at(storage_class, "metadata.annotations") or {}
    return bool(marked.get("storageclass.kubernetes.io/is-default-class") == "true")


def _name_if_default(storage_class: Json, now: float) -> str:
    """Return the name, with a mark at each class that is annotated as the default class."""
    name: str = storage_class["metadata"]["name"]
    return f"{name} (default)" if _is_default(storage_class) else name


def _names_in_list(classes: list[Json]) -> Cell:
    """Return the cell with a mark at one default class: the newest, of those the first by name."""
    by_name = sorted(filter(_is_default, classes), key=lambda one: str(one["metadata"]["name"]))
    found = max(by_name, key=lambda one: str(at(one, "metadata.creationTimestamp")), default=None)
    marked = found["metadata"]["name"] if found else None

    def cell(storage_class: Json) -> str:
        name: str = storage_class["metadata"]["name"]
        return f"{name} (default)" if name == marked else name

    return cell


_CLASS_COLUMNS = (
    value_column("Provisioner", "provisioner"),
    value_column("ReclaimPolicy", "reclaimPolicy", "Delete"),
    value_column("VolumeBindingMode", "volumeBindingMode", "Immediate"),
    flag_column("AllowVolumeExpansion", "allowVolumeExpansion"),
    AGE,
)


STORAGE_CLASS = ApiKind(
    _GROUP,
    "v1",
    "StorageClass",
    "storageclasses",
    short_names=("sc",),
    namespaced=False,
    set_defaults=_set_class_defaults,
    check=_check_class,
    check_update=declared_immutable(
        "provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"
    ),
    earlier={
        V1_36: {
            "check_update": immutable(
                "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"
            ),
            "columns": (replace(NAME, cell=_name_if_default), *_CLASS_COLUMNS),
        }
    },
    columns=(replace(NAME, cell_of_list=_names_in_list), *_CLASS_COLUMNS),
    shown_when_deleted=True,
)


def _set_csi_node_defaults(obj: Json) -> None:
    for driver in spec_of(obj).get("drivers") or []:
        driver.setdefault("topologyKeys", None)


CSI_NODE = ApiKind(
    _GROUP,
    "v1",
    "CSINode",
    "csinodes",
    namespaced=False,
    subresources=("status",),
    update_needs_version=True,
    set_defaults=_set_csi_node_defaults,
    complete=lambda node: spec_of(node).setdefault("drivers", None),
    not_required={"CSINodeSpec": ("drivers",)},
    columns=(
        NAME,
        column("Drivers", lambda o: len(at(o, "spec.drivers") or []), kind="integer"),
        AGE,
    ),
    shown_when_deleted=True,
    earlier={V1_36: {"subresources": ()}},
)


def _set_csi_driver_defaults(obj: Json) -> None:
    _set_csi_driver_basics(obj)
    set_missing(obj["spec"], preventPodSchedulingIfMissing=False)


def _set_csi_driver_basics(obj: Json) -> None:
    """Fill in the defaults of both releases, which are all that 1.36 has."""
    set_missing(
        spec_of(obj),
        attachRequired=True,
        podInfoOnMount=False,
        requiresRepublish=False,
        seLinuxMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        volumeLifecycleModes=["Persistent"],
    )


def _check_csi_driver_update(old: Json, new: Json) -> Causes:
    for name, shown in (
        ("attachRequired", "attachedRequired"),  # kube-apiserver's path in messages
        ("volumeLifecycleModes", "volumeLifecycleModes"),
    ):
        if old["spec"].get(name) != new["spec"].get(name):
            yield statuses.bad_value(f"spec.{shown}", new["spec"].get(name), "field is immutable")


def _warn_of_tokens(driver: Json) -> Iterator[str]:
    spec = driver["spec"]
    if spec.get("tokenRequests") and "serviceAccountTokenInSecrets" not in spec:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set "
            "to true to prevent possible logging of tokens in volume attributes"
        )


def _token_requests(driver: Json) -> str:
    listed = [one.get("audience", "") for one in at(driver, "spec.tokenRequests") or []]
    return ",".join(listed) or UNSET


CSI_DRIVER = ApiKind(
    _GROUP,
    "v1",
    "CSIDriver",
    "csidrivers",
    namespaced=False,
    update_needs_version=True,
    set_defaults=_set_csi_driver_defaults,
    check_update=_check_csi_driver_update,
    creation_warnings=_warn_of_tokens,
    columns=(
        NAME,
        flag_column("AttachRequired", "spec.attachRequired"),
        flag_column("PodInfoOnMount", "spec.podInfoOnMount"),
        flag_column("StorageCapacity", "spec.storageCapacity"),
        column("TokenRequests", _token_requests),
        flag_column("RequiresRepublish", "spec.requiresRepublish"),
        column("Modes", lambda o: ",".join(at(o, "spec.volumeLifecycleModes") or []) or NONE),
        AGE,
    ),
    shown_when_deleted=True,
    earlier={V1_36: {"set_defaults": _set_csi_driver_basics}},
)


def _check_capacity(capacity: Json) -> Causes:
    name = capacity.get("storageClassName") or ""
    for problem in subdomain_problems(name):
        yield statuses.bad_value("storageClassName", name, problem)


CSI_STORAGE_CAPACITY = ApiKind(
    _GROUP,
    "v1",
    "CSIStorageCapacity",
    "csistoragecapacities",
    check=_check_capacity,
    not_required={"CSIStorageCapacity": ("storageClassName",)},
    columns=(NAME, CREATED_AT),
)


def _check_attachment(attachment: Json) -> Causes:
    yield from _source_causes(attachment)
    yield from _attacher_causes(attachment)


def _check_attacher_first(attachment: Json) -> Causes:
    """Check an attachment in the order of 1.36."""
    yield from _attacher_causes(attachment)
    yield from _source_causes(attachment)


def _attacher_causes(attachment: Json) -> Causes:
    if not at(attachment, "spec.attacher"):
        yield statuses.required("spec.attacher")


def _source_causes(attachment: Json) -> Causes:
    spec = attachment.get("spec") or {}
    sources = ("inlineVolumeSpec", "persistentVolumeName")
    if not any((spec.get("source") or {}).get(name) for name in sources):
        detail = f"must specify exactly one of {' and '.join(sources)}"
        yield statuses.required("spec.source", detail)
    node = spec.get("nodeName") or ""
    for problem in subdomain_problems(node):
        yield statuses.bad_value("spec.nodeName", node, problem)


VOLUME_ATTACHMENT = ApiKind(
    _GROUP,
    "v1",
    "VolumeAttachment",
    "volumeattachments",
    namespaced=False,
    subresources=("status",),
    update_needs_version=True,
    check=_check_attachment,
    check_update=declared_immutable("spec"),
    not_required={
        "VolumeAttachment": ("spec",),
        "VolumeAttachmentSpec": ("attacher", "nodeName", "source"),
    },
    columns=(
        NAME,
        Column("Attacher", "string", 0, lambda o, now: at(o, "spec.attacher"), "name"),
        column("PV", lambda o: at(o, "spec.source.persistentVolumeName") or ""),
        column("Node", lambda o: at(o, "spec.nodeName")),
        flag_column("Attached", "status.attached"),
        AGE,
    ),
    shown_when_deleted=True,
    earlier={V1_36: {"check": _check_attacher_first, "check_update": immutable("spec")}},
)


def _check_attributes_class(attributes: Json) -> Causes:
    if not attributes.get("driverName"):
        yield statuses.required("driverName")
    if not attributes.get("parameters"):
        yield statuses.required("parameters", "must contain at least one key/value pair")


VOLUME_ATTRIBUTES_CLASS = ApiKind(
    _GROUP,
    "v1",
    "VolumeAttributesClass",
    "volumeattributesclasses",
    short_names=("vac",),
    namespaced=False,
    check=_check_attributes_class,
    columns=(NAME, column("DriverName", lambda o: o.get("driverName", "")), AGE),
    shown_when_deleted=True,
)

KINDS = (
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    VOLUME_ATTACHMENT,
    VOLUME_ATTRIBUTES_CLASS,
)
