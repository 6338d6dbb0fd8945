"""Sets of fields as managedFields write them: tries of ``f:name``, ``k:{keys}`` and ``v:value``.

A trie is a dict. An empty dict is a member with nothing below it; the key ``"."`` marks a member
that has members below. The schema decides what counts as one field: a scalar, an atomic list, or an
element of a list with keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from podium.apiserver.schemas import ANYTHING, Schema
from podium.apiserver.statuses import Json

Fields = dict[str, Any]
Path = tuple[str, ...]

SELF = "."
_ABSENT = object()  # no value at all, unlike null

# Fields without an owner: those that only the server writes, and those that name the object.
UNOWNED = {
    ("f:apiVersion",),
    ("f:kind",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "generation",
            "managedFields",
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        )
    ),
}


def fields_of(value: Any, schema: Schema) -> Fields:
    """Return every field that a value sets."""
    return strip(_fields(value, schema))


def _fields(value: Any, schema: Schema) -> Fields:
    match value:
        case dict() if value and _is_granular(schema):
            return {
                f"f:{name}": _fields(below, schema.child(name) or ANYTHING)
                for name, below in value.items()
            }
        case list() if value and schema.list_type == "map":
            return {
                element_key(one, schema): {SELF: {}, **_fields(one, schema.element)}
                for one in value
                if isinstance(one, dict)
            }
        case list() if value and schema.list_type == "set":
            return {f"v:{_text(one)}": {} for one in value}
        case _:
            return {}


def _all(value: Any, schema: Schema) -> Fields:
    """Return every field of a value that is set or removed as a whole, containers included."""
    match value:
        case dict() if value and _is_granular(schema):
            below = {
                f"f:{name}": _all(one, schema.child(name) or ANYTHING)
                for name, one in value.items()
            }
        case list() if value and schema.list_type == "map":
            below = {
                element_key(one, schema): _all(one, schema.element)
                for one in value
                if isinstance(one, dict)
            }
        case list() if value and schema.list_type == "set":
            below = {f"v:{_text(one)}": {} for one in value}
        case _:
            return {}
    return {SELF: {}, **below}


def _is_granular(schema: Schema) -> bool:
    return not schema.atomic_map and schema.type in ("object", "any")


def element_key(element: Json, schema: Schema) -> str:
    keys = {
        key: element.get(key, schema.key_defaults.get(key))
        for key in sorted(schema.list_keys)
        if element.get(key, schema.key_defaults.get(key)) is not None
    }
    return f"k:{_text(keys)}"


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def strip(fields: Fields) -> Fields:
    """Return the set without the fields that have no owner."""
    found = {key: below for key, below in fields.items() if (key,) not in UNOWNED}
    meta = found.get("f:metadata")
    if meta is not None:
        left = {key: one for key, one in meta.items() if ("f:metadata", key) not in UNOWNED}
        found["f:metadata"] = left
        if not left:
            del found["f:metadata"]
    return found


def changes(old: Any, new: Any, schema: Schema) -> tuple[Fields, Fields]:
    """Return the fields that differ between two values: those set or changed, and those removed."""
    changed, gone = _changes(old, new, schema)
    return strip(changed or {}), strip(gone or {})


def _changes(old: Any, new: Any, schema: Schema) -> tuple[Fields | None, Fields | None]:
    """Like `changes`, but None where nothing differs, since an empty trie is a member."""
    if old is _ABSENT:
        return _all(new, schema), None
    if new is _ABSENT:
        return None, _all(old, schema)
    if old == new:
        return None, None
    match old, new:
        case dict(), dict() if _is_granular(schema):
            pairs = [
                (
                    f"f:{name}",
                    old.get(name, _ABSENT),
                    new.get(name, _ABSENT),
                    schema.child(name) or ANYTHING,
                )
                for name in {**old, **new}
            ]
            return _changed_parts(pairs)
        case list(), list() if schema.list_type == "map":
            before, after = _by_key(old, schema), _by_key(new, schema)
            keyed = {**before, **after}
            return _changed_parts(
                [
                    (key, before.get(key, _ABSENT), after.get(key, _ABSENT), schema.element)
                    for key in keyed
                ]
            )
        case list(), list() if schema.list_type == "set":
            return _changed_members(old, new)
        case _:
            return _all(new, schema), difference(_all(old, schema), _all(new, schema))


def _changed_parts(
    pairs: list[tuple[str, Any, Any, Schema]],
) -> tuple[Fields | None, Fields | None]:
    changed: Fields = {}
    gone: Fields = {}
    for key, old, new, schema in pairs:
        below, lost = _changes(old, new, schema)
        if below is not None:
            changed[key] = below
        if lost is not None and (lost or new is _ABSENT):
            gone[key] = lost
    return changed or None, gone or None


def _changed_members(old: list[Any], new: list[Any]) -> tuple[Fields | None, Fields | None]:
    changed: Fields = {f"v:{_text(one)}": {} for one in new if one not in old}
    gone: Fields = {f"v:{_text(one)}": {} for one in old if one not in new}
    return changed or None, gone or None


def _by_key(elements: list[Any], schema: Schema) -> Json:
    return {element_key(one, schema): one for one in elements if isinstance(one, dict)}


def union(left: Fields, right: Fields) -> Fields:
    found = dict(left)
    for key, below in right.items():
        if key not in found:
            found[key] = below
        elif below and found[key]:
            found[key] = union(found[key], below)
        elif below or found[key]:
            found[key] = {SELF: {}, **(below or found[key])}
    return found


def closed(fields: Fields) -> Fields:
    """Return the set with all parents of its members: the owner of a field owns its parents."""
    return {
        key: {SELF: {}, **closed(below)} if below else below
        for key, below in fields.items()
        if key != SELF
    }


def difference(left: Fields, right: Fields) -> Fields:
    """Return the members of one set that the other does not have."""
    found: Fields = {}
    for key, below in left.items():
        if key not in right:
            found[key] = below
        elif key != SELF:
            left_over = difference(below or {SELF: {}}, right[key] or {SELF: {}})
            if left_over:
                found[key] = {} if left_over == {SELF: {}} else left_over
    return found


def intersection(left: Fields, right: Fields) -> Fields:
    found: Fields = {}
    for key, below in left.items():
        if key not in right:
            continue
        mine, theirs = below or {SELF: {}}, right[key] or {SELF: {}}
        if key == SELF:
            found[key] = {}
        elif both := intersection(mine, theirs):
            found[key] = {} if both == {SELF: {}} else both
    return found


def members(fields: Fields, path: Path = ()) -> Iterator[Path]:
    for key, below in fields.items():
        if key == SELF:
            yield path
        elif not below:
            yield (*path, key)
        else:
            yield from members(below, (*path, key))


def holds(fields: Fields, path: Path) -> bool:
    """Return whether a set has the field at a path, or any field below it."""
    for part in path:
        if part not in fields:
            return False
        fields = fields[part]
    return True


def shown(path: Path) -> str:
    """Return a path in the words of conflicts: ``.spec.containers[name="web"].image``."""
    return "".join(map(_shown, path))


def _shown(part: str) -> str:
    tag, _, rest = part.partition(":")
    match tag:
        case "f":
            return f".{rest}"
        case "k":
            keys = msgspec.json.decode(rest)
            return f"[{','.join(f'{key}={_text(value)}' for key, value in keys.items())}]"
        case _:
            return f"[={rest}]"
