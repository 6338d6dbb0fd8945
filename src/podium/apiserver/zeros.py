"""Leave out values that mean the same as no value: empty texts, lists and maps, zero and false.

A real server drops them when it stores an object. `api.py` does so as well, and so does the
protobuf decoder, since protobuf carries all of them: two clients that mean the same then write the
same.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from podium.apiserver.schemas import Schema
from podium.apiserver.statuses import Json

_SCALARS = frozenset({"string", "integer", "boolean", "number"})


def drop_zeros(value: Any, schema: Schema) -> None:
    """Remove from an object, in place, the fields that its Go type leaves out."""
    if schema.preserves_unknown:
        return
    if isinstance(value, dict):
        _drop(value, schema)
        for name, one in value.items():
            if isinstance(one, dict | list) and (below := schema.child(name)) is not None:
                drop_zeros(one, below)
    elif isinstance(value, list) and (element := schema.items) is not None:
        for one in value:
            if not isinstance(one, dict | list):
                return  # a list has one type, and its scalars stay
            drop_zeros(one, element)


def _drop(obj: Json, schema: Schema) -> None:
    if not schema.name:
        return
    silent = _omitted(schema)
    for name in [name for name, value in obj.items() if not value and name in silent]:
        del obj[name]


@cache
def _omitted(schema: Schema) -> frozenset[str]:
    """Return the fields of a published type that are left out while they are zero or empty."""
    if schema.go is None:
        return frozenset()
    fields, omitted = schema.properties.items(), schema.go.omitted
    return frozenset(name for name, one in fields if name in omitted and _has_zero(one))


def _has_zero(schema: Schema) -> bool:
    is_map = schema.type == "object" and schema.additional is not None
    return is_map or schema.type == "array" or schema.type in _SCALARS
