"""Which half of an object a write may set: its spec through itself, its status through /status."""

from __future__ import annotations

from podium.apiserver.kinds import Kind
from podium.apiserver.pod_status import qos_class
from podium.apiserver.statuses import Json

_SYSTEM = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
)
# A node reports its status when it registers, in one go.
_CREATED_WITH_STATUS = frozenset({"nodes"})
# Their status writers set labels and annotations on the way.
_STATUS_WITH_METADATA = frozenset({"pods", "nodes"})


def strip_system_metadata(meta: Json) -> None:
    for name in _SYSTEM:
        meta.pop(name, None)


def prepare_create(kind: Kind, obj: Json) -> None:
    """A new object starts with the status of its kind, whatever was sent."""
    if not kind.has_status or kind.resource in _CREATED_WITH_STATUS:
        return
    obj.pop("status", None)
    if kind.resource == "pods":
        obj["status"] = {"phase": "Pending", "qosClass": qos_class(obj.get("spec") or {})}
    elif kind.resource == "services":
        obj["status"] = {"loadBalancer": {}}
    elif not kind.custom:
        obj["status"] = {}


def keep_status(kind: Kind, old: Json, new: Json) -> Json:
    """A write of the object itself leaves its status alone."""
    if not kind.has_status:
        return new
    found = {name: value for name, value in new.items() if name != "status"}
    if "status" in old:
        found["status"] = old["status"]
    return found


def only_status(kind: Kind, old: Json, new: Json) -> Json:
    """A write of the status leaves all else alone, but for the version it was based on."""
    meta = dict(old["metadata"])
    for name in ("resourceVersion", "uid"):
        if name in new["metadata"]:
            meta[name] = new["metadata"][name]
        else:
            meta.pop(name, None)
    if kind.resource in _STATUS_WITH_METADATA:
        for name in ("labels", "annotations"):
            if name in new["metadata"]:
                meta[name] = new["metadata"][name]
    found = {**old, "metadata": meta}
    if "status" in new:
        found["status"] = new["status"]
    return found
