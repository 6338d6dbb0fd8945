"""What the schema of a custom resource means to CEL: its type, and how large a value can be.

A part of a schema that says nothing about types has no declaration, and expressions cannot refer to
it. Sizes are bounded by limits in the schema, or else by the largest request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from podium.cel import types
from podium.cel.environment import Shape
from podium.cel.escaping import KEYWORDS, escape
from podium.cel.types import Type, list_of, map_of, struct
from podium.release import V1_36, Release

Schema = Mapping[str, Any]

LARGEST_REQUEST: Final = 3 * 1024 * 1024
_LONGEST_TEXT: Final = LARGEST_REQUEST - 2  # without its quotes
_LONGEST_NAME: Final = 253
_BYTES_PER_CHARACTER: Final = 4
_META_NAMES: Final = ("name", "generateName")
_NUMBERS: Final = {
    "boolean": (types.BOOL, 4),
    "integer": (types.INT, 1),
    "number": (types.DOUBLE, 1),
}
# The type of a format, the longest text, and how many bytes it takes at least.
_FORMATS: Final = {
    "date": (types.TIMESTAMP, 12, 12),
    "date-time": (types.TIMESTAMP, 32, 21),
    "duration": (types.DURATION, 32, 3),
}


@dataclass(frozen=True, slots=True)
class Declared:
    """The type and size of values; ``min_bytes`` is the length of the shortest one in JSON."""

    type: Type
    shape: Shape
    min_bytes: int


@dataclass(frozen=True, slots=True)
class Declarations:
    """Declares schemas as a release does, and collects the objects that it finds in them."""

    release: Release
    objects: dict[str, dict[str, Type]] = field(default_factory=dict)

    def declare(self, schema: Schema, name: str, is_resource: bool = False) -> Declared | None:
        """Declare a schema; objects get names that start with the given one."""
        if schema.get("x-kubernetes-int-or-string"):
            return Declared(types.DYN, Shape(_longest(schema)), 1)
        if is_resource:
            schema = with_metadata(schema, self.release)
        kind = schema.get("type")
        match kind:
            case "array":
                return self._list(schema, name)
            case "object" if isinstance(schema.get("additionalProperties"), dict):
                return self._map(schema, name)
            case "object":
                return self._object(schema, name)
            case "string":
                return _text(schema)
        if kind not in _NUMBERS:
            return None
        found, min_bytes = _NUMBERS[kind]
        return Declared(found, Shape(0), min_bytes)

    def _child(self, schema: Any, name: str) -> Declared | None:
        if not isinstance(schema, dict):
            return None
        return self.declare(schema, name, is_embedded(schema))

    def _list(self, schema: Schema, name: str) -> Declared | None:
        item = self._child(schema.get("items"), f"{name}.@idx")
        if item is None:
            return None
        most = _limit(schema, "maxItems", _LONGEST_TEXT // (item.min_bytes + 1))
        return Declared(list_of(item.type), Shape(most, element=item.shape), 2)

    def _map(self, schema: Schema, name: str) -> Declared | None:
        value = self._child(schema["additionalProperties"], f"{name}.@elem")
        if value is None:
            return None
        most = _limit(schema, "maxProperties", _LONGEST_TEXT // (value.min_bytes + 6))
        shape = Shape(most, key=Shape(0), element=value.shape)
        return Declared(map_of(types.STRING, value.type), shape, 2)

    def _object(self, schema: Schema, name: str) -> Declared:
        fields, shapes = {}, {}
        required, min_bytes = schema.get("required") or (), 2
        for key, below in (schema.get("properties") or {}).items():
            escaped = escape(key)
            declared = self._child(below, f"{name}.{escaped}")
            if declared is None:
                continue
            if escaped is not None:
                fields[escaped], shapes[escaped] = declared.type, declared.shape
            if key in KEYWORDS:
                fields[key] = declared.type
            if key in required and below.get("default") is None:
                min_bytes += len(key.encode()) + declared.min_bytes + 4
        self.objects[name] = fields
        return Declared(struct(name), Shape(0, fields=shapes), min_bytes)


def _limit(schema: Schema, name: str, otherwise: int) -> int:
    limit = schema.get(name)
    return otherwise if limit is None else max(int(limit), 0)


def _longest(schema: Schema) -> int:
    """Return how many bytes a text can have; limits count characters."""
    limit = schema.get("maxLength")
    return _LONGEST_TEXT if limit is None else max(int(limit), 0) * _BYTES_PER_CHARACTER


def _text(schema: Schema) -> Declared:
    form = schema.get("format")
    if form in _FORMATS:
        found, longest, min_bytes = _FORMATS[form]
        return Declared(found, Shape(longest), min_bytes)
    if form == "byte":
        return Declared(types.BYTES, Shape(_limit(schema, "maxLength", _LONGEST_TEXT)), 2)
    longest = _longest(schema)
    choices = schema.get("enum")
    if choices and schema.get("maxLength") is None:
        texts = (choice for choice in choices if isinstance(choice, str))
        longest = max((len(text.encode()) for text in texts), default=0)
    return Declared(types.STRING, Shape(longest), 2)


def is_embedded(schema: Schema) -> bool:
    """Whether values of a schema are whole objects, with a kind and metadata."""
    return bool(schema.get("x-kubernetes-embedded-resource"))


def with_metadata(schema: Schema, release: Release) -> Schema:
    """Return the schema of a resource with what rules can always refer to.

    That is the type, and of the metadata only the names; a schema that describes all of these
    itself stays as it is.
    """
    properties = schema.get("properties") or {}
    meta = properties.get("metadata") or {}
    names = meta.get("properties") or {}
    texts = (
        *(properties.get(name) for name in ("kind", "apiVersion")),
        *(names.get(name) for name in _META_NAMES),
    )
    if meta.get("type") == "object" and all(one and one.get("type") == "string" for one in texts):
        return schema
    text = {"type": "string"}
    described = {"type": "object", "properties": _names(names, release)}
    known = {**properties, "kind": text, "apiVersion": text, "metadata": described}
    return {**schema, "properties": known}


def _names(declared: Mapping[str, Schema], release: Release) -> dict[str, Schema]:
    if release <= V1_36:
        return {name: {"type": "string"} for name in _META_NAMES}
    longest = {"name": _LONGEST_NAME, "generateName": _LONGEST_NAME - 1}
    limits = {
        name: min(most, _limit(declared.get(name, {}), "maxLength", most))
        for name, most in longest.items()
    }
    return {name: {"type": "string", "maxLength": most} for name, most in limits.items()}
