"""Custom objects against the schema of their definition: defaults, formats and limits.

CEL rules are in ``expressions``.

Patterns are regular expressions in Go's syntax, matched in linear time: Python's `re` knows other
syntax, and a pattern of a client could keep it busy for ever.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]  # it brings no types

from podium.apiserver import statuses
from podium.apiserver.expressions.changes import by_key, identical, key_of
from podium.apiserver.schemas import Schema
from podium.apiserver.statuses import Cause, Json
from podium.cel.schema_values import PARSERS

Causes = Iterator[Cause]


def fill_defaults(value: Any, schema: Schema) -> None:
    """Fill in the schema's defaults, in place."""
    match value:
        case dict():
            for name, below in schema.properties.items():
                if name not in value and below.default is not None:
                    value[name] = copy.deepcopy(below.default)
            for name, one in value.items():
                child = schema.child(name)
                if child is not None:
                    fill_defaults(one, child)
        case list():
            for one in value:
                fill_defaults(one, schema.element)


def custom_causes(obj: Json, schema: Schema, old: Json | None = None) -> Causes:
    """Check a new object, or one that replaces an old one: parts that stay are tolerated."""
    for name, value in obj.items():
        if name not in ("metadata", "apiVersion", "kind") and (below := schema.child(name)):
            yield from _causes(value, below, name, _old_field(old, name))
    for name in schema.required:
        if name not in obj:
            yield statuses.required(name)


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "int-or-string": (int, str),
}


def _type_causes(value: Any, schema: Schema, path: str) -> Causes:
    wanted = _TYPES.get(schema.type)
    if wanted is None or (value is None and schema.nullable):
        return
    if isinstance(value, wanted) and not (isinstance(value, bool) and bool not in wanted):
        return
    got = _type_of(value)
    expected = "integer,string" if schema.type == "int-or-string" else schema.type
    detail = f'Invalid value: "{got}": {path} in body must be of type {expected}: "{got}"'
    yield Cause("FieldValueTypeInvalid", path, detail)


def _type_of(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "null"


def _format_causes(value: Any, form: str, path: str) -> Causes:
    """Check the formats that have a type of their own in CEL; others are not enforced."""
    parse = PARSERS.get(form)
    if parse is not None and isinstance(value, str) and parse(value) is None:
        shown = statuses.quoted(value)
        detail = f"Invalid value: {shown}: {path} in body must be of type {form}: {shown}"
        yield Cause("FieldValueTypeInvalid", path, detail)


def _duplicates(value: list[Any], schema: Schema, path: str) -> Causes:
    """Report elements that appear twice in a list with keys or a set."""
    seen = []
    for index, one in enumerate(value):
        if schema.list_type == "map" and isinstance(one, dict):
            key: Any = {name: one.get(name) for name in schema.list_keys}
        elif schema.list_type == "set":
            key = one
        else:
            continue
        if key in seen:
            yield statuses.duplicate(f"{path}[{index}]", key)
        seen.append(key)


class _Absent:
    """Stands for the old value of a field that the old object lacks."""


_ABSENT = _Absent()


def _old_field(old: Any, name: str) -> Any:
    return old.get(name, _ABSENT) if isinstance(old, dict) else _ABSENT


def _causes(value: Any, schema: Schema, path: str, old: Any) -> Causes:
    if identical(value, old):
        return
    if wrong := list(_type_causes(value, schema, path)):
        yield from wrong
        return
    yield from _format_causes(value, schema.format, path)
    yield from _limit_causes(value, schema.limits, path)
    match value:
        case dict():
            yield from _field_causes(value, schema, path, old)
        case list():
            yield from _duplicates(value, schema, path)
            yield from _item_causes(value, schema, path, old)


def _field_causes(value: Json, schema: Schema, path: str, old: Any) -> Causes:
    for name in schema.required:
        if name not in value:
            yield statuses.required(f"{path}.{name}")
    for name, one in value.items():
        if child := schema.child(name):
            yield from _causes(one, child, f"{path}.{name}", _old_field(old, name))


def _item_causes(value: list[Any], schema: Schema, path: str, old: Any) -> Causes:
    names = schema.list_keys if schema.list_type == "map" else ()
    before = by_key(names, old)
    for index, one in enumerate(value):
        known = before.get(key_of(names, one), _ABSENT)
        yield from _causes(one, schema.element, f"{path}[{index}]", known)


def _limit_causes(value: Any, limits: Json, path: str) -> Causes:
    if "enum" in limits and value not in limits["enum"]:
        yield statuses.unsupported(path, value, [str(one) for one in limits["enum"]])
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_causes(value, limits, path)
    elif isinstance(value, str | list | dict):
        yield from _size_causes(value, limits, path)
    if isinstance(value, str) and "pattern" in limits and not fits(limits["pattern"], value):
        detail = f"{path} in body should match '{limits['pattern']}'"
        yield statuses.bad_value(path, value, detail)


def _number_causes(value: float, limits: Json, path: str) -> Causes:
    low, high = limits.get("minimum"), limits.get("maximum")
    if low is not None and (value < low or (limits.get("exclusiveMinimum") and value == low)):
        detail = f"{path} in body should be greater than or equal to {low}"
        yield statuses.bad_value(path, value, detail)
    if high is not None and (value > high or (limits.get("exclusiveMaximum") and value == high)):
        detail = f"{path} in body should be less than or equal to {high}"
        yield statuses.bad_value(path, value, detail)


_SIZES = {
    str: ("minLength", "maxLength", "be at least {} chars long"),
    list: ("minItems", "maxItems", "have at least {} items"),
    dict: ("minProperties", "maxProperties", "have at least {} properties"),
}


def _size_causes(value: str | list[Any] | Json, limits: Json, path: str) -> Causes:
    low, high, what = _SIZES[type(value)]
    size = len(value)
    if size < limits.get(low, 0):
        detail = f"{path} in body should {what.format(limits[low])}"
        yield statuses.bad_value(path, value if isinstance(value, str) else size, detail)
    if high in limits and size > limits[high]:
        if isinstance(value, str):
            yield statuses.too_long(path, limits[high])
        else:
            yield statuses.too_many(path, size, limits[high])


def pattern_problem(pattern: str) -> str:
    """Return why a pattern is not a valid regular expression; empty if it is one."""
    try:
        _compiled(pattern)
    except re2.error as error:
        detail = error.args[0]
        return detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return ""


def fits(pattern: str, text: str) -> bool:
    """Return whether the pattern matches anywhere in the text."""
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False  # the client gets the error; keep it out of our error stream
    return re2.compile(pattern, options=options)
