"""Persistent volumes and the claims to them."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api import quantity
from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, UNSET, Cell, column, value_column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.names import subdomain_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_NO_SOURCES = ("capacity", "claimRef", "nodeAffinity")
_ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
_SHORT_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _modes(path: str) -> Cell:
    return lambda obj: ",".join(_SHORT_MODES.get(mode, mode) for mode in at(obj, path) or [])


def _phase(obj: Json) -> str:
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    return at(obj, "status.phase") or ""


def _set_volume_defaults(volume: Json) -> None:
    set_missing(spec_of(volume), persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    host = volume["spec"].get("hostPath")
    if isinstance(host, dict):
        set_missing(host, type="")


def _start_volume(volume: Json, now: str) -> None:
    volume["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}


def _check_volume(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield statuses.required("spec.accessModes")
    for mode in spec.get("accessModes") or []:
        if mode not in _ACCESS_MODES:
            yield statuses.unsupported("spec.accessModes", mode, _ACCESS_MODES)
    if not spec.get("capacity"):
        yield statuses.required("spec.capacity")
        yield statuses.unsupported("spec.capacity", None, ["storage"])
    if not any(isinstance(one, dict) for name, one in spec.items() if name not in _NO_SOURCES):
        yield statuses.required("spec", "must specify a volume type")


def _claim_of(volume: Json) -> str:
    claim = at(volume, "spec.claimRef")
    return f"{claim.get('namespace')}/{claim.get('name')}" if claim else ""


PERSISTENT_VOLUME = ApiKind(
    "",
    "v1",
    "PersistentVolume",
    "persistentvolumes",
    short_names=("pv",),
    namespaced=False,
    subresources=("status",),
    set_defaults=_set_volume_defaults,
    start=_start_volume,
    check=_check_volume,
    columns=(
        NAME,
        value_column("Capacity", "spec.capacity.storage"),
        column("Access Modes", _modes("spec.accessModes")),
        value_column("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
        column("Status", _phase),
        column("Claim", _claim_of),
        value_column("StorageClass", "spec.storageClassName"),
        value_column("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
        value_column("Reason", "status.reason"),
        AGE,
        value_column("VolumeMode", "spec.volumeMode", UNSET, wide=True),
    ),
    shown_when_deleted=True,
)


def set_claim_defaults(claim: Json) -> None:
    set_missing(spec_of(claim), volumeMode="Filesystem")


def _start_claim(claim: Json, now: str) -> None:
    claim["status"] = {"phase": "Pending"}


def _check_claim(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield statuses.required("spec.accessModes", "at least 1 access mode is required")
    for mode in spec.get("accessModes") or []:
        if mode not in _ACCESS_MODES:
            yield statuses.unsupported("spec.accessModes", mode, _ACCESS_MODES)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if not size:
        yield statuses.required("spec.resources[storage]")
    elif quantity.parse(size) <= 0:
        yield statuses.bad_value("spec.resources[storage]", size, "must be greater than zero")
    for problem in subdomain_problems(spec.get("storageClassName") or "x"):
        yield statuses.bad_value("spec.storageClassName", spec["storageClassName"], problem)
    if spec.get("volumeMode") not in ("Block", "Filesystem"):
        modes = ["Block", "Filesystem"]
        yield statuses.unsupported("spec.volumeMode", spec.get("volumeMode"), modes)


def _check_claim_update(old: Json, new: Json) -> Causes:
    """Check an update: bound claims may grow, others may get a volume or a class."""
    before, after = dict(old["spec"]), dict(new["spec"])
    free = (
        ["resources", "volumeAttributesClassName"] if before.get("volumeName") else ["volumeName"]
    )
    if before.get("storageClassName") is None:
        free.append("storageClassName")
    for spec in (before, after):
        for name in free:
            spec.pop(name, None)
    if before != after:
        detail = (
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims"
        )
        yield statuses.not_allowed("spec", detail)


PERSISTENT_VOLUME_CLAIM = ApiKind(
    "",
    "v1",
    "PersistentVolumeClaim",
    "persistentvolumeclaims",
    short_names=("pvc",),
    subresources=("status",),
    set_defaults=set_claim_defaults,
    start=_start_claim,
    check=_check_claim,
    check_update=_check_claim_update,
    columns=(
        NAME,
        column("Status", _phase),
        value_column("Volume", "spec.volumeName"),
        value_column("Capacity", "status.capacity.storage"),
        column("Access Modes", _modes("status.accessModes")),
        value_column("StorageClass", "spec.storageClassName"),
        value_column("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
        AGE,
        value_column("VolumeMode", "spec.volumeMode", UNSET, wide=True),
    ),
    shown_when_deleted=True,
)
