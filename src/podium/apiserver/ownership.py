"""Field owners: keep managedFields up to date, and carry out server-side apply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from podium.apiserver import statuses
from podium.apiserver.fields import (
    SELF,
    Fields,
    Path,
    changes,
    closed,
    difference,
    element_key,
    fields_of,
    holds,
    intersection,
    members,
    shown,
    union,
)
from podium.apiserver.schemas import ANYTHING, Schema, blank
from podium.apiserver.statuses import Json

APPLY, UPDATE = "Apply", "Update"
KUBECTL = "kubectl"  # the manager of an apply that names none
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Manager(NamedTuple):
    """A client that writes fields, and the operation by which it does."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    def __str__(self) -> str:
        inside = f' with subresource "{self.subresource}"' if self.subresource else ""
        version = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.name}"{inside}{version}'


@dataclass(slots=True)
class Ownership:
    """The managers of one object, with their fields and the times of their last changes."""

    fields: dict[Manager, Fields] = field(default_factory=dict)
    times: dict[Manager, str] = field(default_factory=dict)

    @classmethod
    def read(cls, entries: Any) -> Ownership:
        """Read managedFields. Entries that make no sense are left out, as kube-apiserver does."""
        found = cls()
        for entry in entries if isinstance(entries, list) else []:
            if not isinstance(entry, dict) or not isinstance(entry.get("fieldsV1"), dict):
                continue
            manager = Manager(
                str(entry.get("manager", "")),
                str(entry.get("operation", UPDATE)),
                str(entry.get("apiVersion", "")),
                str(entry.get("subresource", "")),
            )
            found.fields[manager] = entry["fieldsV1"]
            found.times[manager] = str(entry.get("time", ""))
        return found

    def write(self) -> list[Json]:
        entries = []
        for manager, fields in self.fields.items():
            entry = {
                "manager": manager.name,
                "operation": manager.operation,
                "apiVersion": manager.api_version,
                "time": self.times.get(manager, ""),
                "fieldsType": "FieldsV1",
                "fieldsV1": fields,
            }
            if manager.subresource == "scale" or not entry["time"]:
                del entry[
                    "time"
                ]  # scale entries, and managers that changed nothing, get no new time
            if manager.subresource:
                entry["subresource"] = manager.subresource
            entries.append(entry)
        return sorted(entries, key=_rank)

    def set(self, manager: Manager, fields: Fields, now: str) -> None:
        if not fields:
            self.fields.pop(manager, None)
        elif self.fields.get(manager) != fields:
            self.fields[manager] = fields
            self.times[manager] = now

    def take(self, fields: Fields, manager: Manager) -> None:
        """Make the manager the only owner of these fields."""
        if not fields:
            return
        for other in list(self.fields):
            if other != manager:
                left = difference(self.fields[other], fields)
                if left:
                    self.fields[other] = left
                else:
                    del self.fields[other]

    def of_others(self, manager: Manager) -> Fields:
        found: Fields = {}
        for other, fields in self.fields.items():
            if other != manager:
                found = union(found, fields)
        return found


def _rank(entry: Json) -> tuple[bool, str, str]:
    return (entry["operation"] != APPLY, entry.get("time", ""), entry["manager"])


class Writer(NamedTuple):
    """The manager that writes now, and the time."""

    manager: Manager
    now: str


def track(old: Json | None, new: Json, schema: Schema, writer: Writer) -> None:
    """Record in ``new`` who set which field, after a write that is not an apply."""
    meta = new["metadata"]
    before = (old or {}).get("metadata", {}).get("managedFields")
    entries = meta["managedFields"] if meta.get("managedFields") is not None else before
    ownership = Ownership.read(entries)
    changed, gone = changes(old or blank(schema), new, schema)
    ownership.take(union(changed, gone), writer.manager)
    mine = difference(ownership.fields.get(writer.manager, {}), gone)
    if changed or gone:
        ownership.set(writer.manager, union(mine, changed), writer.now)
    meta["managedFields"] = ownership.write()
    if not meta["managedFields"]:
        del meta["managedFields"]


def apply(live: Json, config: Json, schema: Schema, writer: Writer, force: bool) -> Json:
    """Return the object after an apply; raise 409 where other managers own a different value."""
    ownership = Ownership.read(live.get("metadata", {}).get("managedFields"))
    wanted = fields_of(config, schema)
    merged: Json = merge(live, config, schema)
    changed, _ = changes(live, merged, schema)
    touched = intersection(wanted, changed)
    free = inherited(live, schema) if writer.manager.name == KUBECTL else {}
    _settle_conflicts(ownership, touched, free, writer.manager if not force else None)
    ownership.take(touched, writer.manager)
    dropped = difference(closed(ownership.fields.get(writer.manager, {})), closed(wanted))
    others = ownership.of_others(writer.manager)
    for path in sorted(members(dropped)):
        if not holds(others, path):
            merged = _without(merged, path, schema)
    ownership.fields[writer.manager] = wanted
    if not wanted:
        del ownership.fields[writer.manager]
    if merged != live:
        ownership.times[writer.manager] = writer.now
    merged["metadata"] = {**merged["metadata"]}
    merged["metadata"]["managedFields"] = ownership.write()
    if writer.manager.name == KUBECTL and LAST_APPLIED in _annotations(live):
        merged["metadata"]["annotations"] = {**_annotations(merged), LAST_APPLIED: _noted(config)}
    return merged


def _annotations(obj: Json) -> Json:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _noted(config: Json) -> str:
    """Return what kubectl would note of a configuration if it had applied it itself."""
    return msgspec.json.encode(config, order="sorted").decode() + "\n"


def inherited(live: Json, schema: Schema) -> Fields:
    """Return the fields that a client-side `kubectl apply` set and nobody has changed since.

    When the same configuration is applied on the server, these fields count as applied before.
    """
    try:
        last = msgspec.json.decode(_annotations(live).get(LAST_APPLIED, "{}"))
    except (msgspec.DecodeError, TypeError):
        return {}
    if not isinstance(last, dict):
        return {}
    changed, gone = changes(last, live, schema)
    return difference(difference(fields_of(last, schema), changed), gone)


def _settle_conflicts(
    ownership: Ownership, touched: Fields, free: Fields, manager: Manager | None
) -> None:
    """Raise 409 where others own a field that is being changed, unless forced."""
    if manager is None:
        return
    held = difference(touched, free)
    found = {
        other: sorted(map(shown, members(both)))
        for other, fields in ownership.fields.items()
        if other != manager and (both := intersection(held, fields))
    }
    if found:
        raise _conflicts(found)


def _conflicts(found: dict[Manager, list[str]]) -> statuses.Refusal:
    count = sum(map(len, found.values()))
    lines, causes = [], []
    for manager, paths in found.items():
        if len(paths) == 1:
            lines.append(f"conflict with {manager}: {paths[0]}")
        else:
            listed = "".join(f"\n- {path}" for path in paths)
            lines.append(f"conflicts with {manager}:{listed}")
        causes += [
            {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
            for path in paths
        ]
    noun = "conflict" if count == 1 else "conflicts"
    return statuses.apply_conflict(f"Apply failed with {count} {noun}: " + "\n".join(lines), causes)


def merge(live: Any, config: Any, schema: Schema) -> Any:
    """Merge what is applied into what is there: maps and keyed lists merge, others are replaced."""
    match live, config:
        case dict(), dict() if not schema.atomic_map and schema.type in ("object", "any"):
            found = dict(live)
            for name, value in config.items():
                found[name] = merge(live.get(name), value, schema.child(name) or ANYTHING)
            return found
        case list(), list() if schema.list_type == "map":
            return _merge_elements(live, config, schema)
        case list(), list() if schema.list_type == "set":
            return live + [one for one in config if one not in live]
        case _:
            return config


def _merge_elements(live: list[Any], config: list[Any], schema: Schema) -> list[Any]:
    found = {element_key(one, schema): one for one in live if isinstance(one, dict)}
    for one in config:
        if isinstance(one, dict):
            key = element_key(one, schema)
            found[key] = merge(found.get(key, {}), one, schema.element)
    return list(found.values())


def _without(value: Any, path: Path, schema: Schema) -> Any:
    """Return the value without the field at a path; containers that become empty are removed."""
    part, rest = path[0], path[1:]
    match value:
        case dict() if part.startswith("f:") and part[2:] in value:
            name = part[2:]
            found = {key: one for key, one in value.items() if key != name}
            if rest:
                left = _without(value[name], rest, schema.child(name) or ANYTHING)
                if left not in ({}, []):
                    return {**value, name: left}
            return found
        case list() if part.startswith("k:"):
            return [
                one
                for before in value
                if (one := _without_in_element(before, part, rest, schema)) is not None
            ]
        case list() if part.startswith("v:"):
            return [one for one in value if f"v:{_encoded(one)}" != part]
        case _:
            return value


def _without_in_element(element: Any, key: str, rest: Path, schema: Schema) -> Any:
    if not isinstance(element, dict) or element_key(element, schema) != key:
        return element
    return _without(element, rest, schema.element) if rest and rest != (SELF,) else None


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
