"""Which part of an object a write may set: the object itself its spec, /status its status."""

from __future__ import annotations

from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Json

_SYSTEM = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)
_ZEROS: Json = {"integer": 0, "boolean": False}


def strip_system_metadata(meta: Json) -> None:
    for name in _SYSTEM:
        meta.pop(name, None)


def drop_status(kind: ApiKind, obj: Json) -> None:
    """Remove the status from a new object: its creator may not set it."""
    if kind.has_status and not kind.created_with_status:
        obj.pop("status", None)


def prepare_create(kind: ApiKind, obj: Json, now: str) -> None:
    """Give a new object the status and fields that its kind starts with."""
    if not kind.custom and kind.has_status:
        schema = kind.schema.properties["status"]
        types = {one: schema.properties[one].type for one in schema.required}
        zeros = {one: _ZEROS[kind] for one, kind in types.items() if kind in _ZEROS}
        obj["status"] = {**zeros, **obj.get("status", {})}
    kind.start(obj, now)


def keep_status(kind: ApiKind, old: Json, new: Json) -> Json:
    """Return the new object with the old status: a write of the object leaves it alone."""
    new = kind.keep_from_old(old, new)
    if not kind.has_status:
        return new
    found = {name: value for name, value in new.items() if name != "status"}
    if "status" in old:
        found["status"] = old["status"]
    return found


def only_status(kind: ApiKind, old: Json, new: Json) -> Json:
    """Return the old object with the new status, and with the version the write is based on."""
    meta = dict(old["metadata"])
    for name in ("resourceVersion", "uid"):
        if name in new["metadata"]:
            meta[name] = new["metadata"][name]
        else:
            meta.pop(name, None)
    if kind.status_sets_metadata:
        for name in ("labels", "annotations"):
            if name in new["metadata"]:
                meta[name] = new["metadata"][name]
    if new["metadata"].get("managedFields") is not None:
        meta["managedFields"] = new["metadata"]["managedFields"]
    found = {**old, "metadata": meta}
    if "status" in new:
        found["status"] = new["status"]
    return found


def left_in_status(kind: ApiKind, old: Json, new: Json) -> Json:
    """Return what stays although the writer of a status has left it out."""
    before, after = old.get("status") or {}, new.get("status") or {}
    names = (name for name in kind.kept_in_status if name in before)
    return {name: before[name] for name in names if after.get(name) is None}


def keep_names(old: Json, new: Json) -> None:
    """Keep the metadata that no update changes."""
    for name in ("generateName", "generation", "selfLink"):
        if name in old:
            new[name] = old[name]
        else:
            new.pop(name, None)


def count_generation(kind: ApiKind, old: Json, new: Json) -> None:
    """Raise the generation if the spec has changed."""
    if not kind.counts_generations or kind.generation_stays:
        return
    hidden = ("metadata", "status")
    before = {name: value for name, value in old.items() if name not in hidden}
    after = {name: value for name, value in new.items() if name not in hidden}
    for name in kind.generation_counts:
        before[name] = old["metadata"].get(name) or {}
        after[name] = new["metadata"].get(name) or {}
    new["metadata"]["generation"] = old["metadata"].get("generation", 1) + (before != after)
