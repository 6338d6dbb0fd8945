"""Values that say nothing: empty texts, lists and maps, zero and false, where leaving a field out
means the same. A real server drops them when it stores an object, so `api.py` and the decoder of
protobuf, which carries them all, do so too: two clients that mean the same write the same.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from podium.apiserver.published import go_type
from podium.apiserver.schemas import Schema, named
from podium.apiserver.statuses import Json

_SCALARS = frozenset({"string", "integer", "boolean", "number"})


def drop_zeros(value: Any, schema: Schema) -> None:
    """Take out of an object, in place, what its type would not write."""
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
                return  # a list is of one type, and scalars in it stay
            drop_zeros(one, element)


def _drop(obj: Json, schema: Schema) -> None:
    if not schema.name:
        return
    silent = _silent(schema.name)
    for name in [name for name, value in obj.items() if not value and name in silent]:
        del obj[name]


@cache
def _silent(definition: str) -> frozenset[str]:
    """The fields of a published type that are not written while they are zero or empty."""
    known = go_type(definition)
    if known is None:
        return frozenset()
    fields = named(definition).properties.items()
    return frozenset(name for name, one in fields if name in known.omitted and _has_zero(one))


def _has_zero(schema: Schema) -> bool:
    is_map = schema.type == "object" and schema.additional is not None
    return is_map or schema.type == "array" or schema.type in _SCALARS
