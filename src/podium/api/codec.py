"""Decode objects from JSON or plain dicts; errors name the object, the field and the reason."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

from podium.api.meta import NOTHING_KEPT, KeptJson, RawObject, Value
from podium.errors import InvalidObject, Problem

T = TypeVar("T", bound=Value)

# What the decoder raises on invalid input: bad JSON, wrong types, bad text, too deep nesting.
UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)


def decode(kind: type[T], data: bytes | str | Mapping[str, Any], keep_raw: bool = False) -> T:
    """Decode one object from JSON or from a dict; with ``keep_raw`` its ``raw()`` works.

    As for the API server, null means that the field is not given.
    """
    try:
        decoded = _decode(kind, data)
    except UNREADABLE as error:
        raise _explained(kind, data, error) from error
    if not keep_raw:
        return decoded
    if not isinstance(decoded, RawObject):
        raise TypeError(f"{kind.__name__} cannot keep its JSON")
    kept = KeptJson(_as_bytes(data))
    return cast(T, msgspec.structs.replace(decoded, _raw=kept))


def encode(obj: Value) -> bytes:
    """Return JSON of the fields that podium knows, without defaults; never write it to an API."""
    if isinstance(obj, RawObject):
        obj = msgspec.structs.replace(obj, _raw=NOTHING_KEPT)
    return msgspec.json.encode(obj)


def _decode(kind: type[T], data: bytes | str | Mapping[str, Any]) -> T:
    try:
        if isinstance(data, Mapping):
            return msgspec.convert(data, kind)
        return cast(T, _decoder(kind).decode(data))
    except msgspec.ValidationError as error:
        if "got `null`" not in str(error):
            raise
    # Nulls are rare: decoding without looking for them first costs the usual object nothing.
    plain = data if isinstance(data, Mapping) else msgspec.json.decode(data)
    return msgspec.convert(_without_nulls(plain, _shape(kind)), kind)


@cache
def _decoder(kind: type[Value]) -> msgspec.json.Decoder[Value]:
    return msgspec.json.Decoder(kind)


@cache
def _shape(kind: type[Value]) -> inspect.Type:
    return inspect.type_info(kind)


def _without_nulls(value: Any, shape: inspect.Type) -> Any:
    """Drop null fields; as in Go, null in a map or a list becomes the zero of its type."""
    shape = _container(shape)
    match shape, value:
        case inspect.StructType(), dict():
            shapes = {known.encode_name: known.type for known in shape.fields}
            return {
                key: _without_nulls(item, shapes[key])
                for key, item in value.items()
                if item is not None and key in shapes
            }
        case inspect.DictType(), dict():
            return {key: _or_zero(item, shape.value_type) for key, item in value.items()}
        case inspect.VarTupleType(), list() | tuple():
            return [_or_zero(item, shape.item_type) for item in value]
    return value


def _container(shape: inspect.Type) -> inspect.Type:
    """Return the struct, map or list inside an optional type."""
    if isinstance(shape, inspect.UnionType):
        inner = (inspect.StructType, inspect.DictType, inspect.VarTupleType)
        return next((member for member in shape.types if isinstance(member, inner)), shape)
    return shape


def _or_zero(value: Any, shape: inspect.Type) -> Any:
    if value is not None:
        return _without_nulls(value, shape)
    match shape:
        case inspect.StrType():
            return ""
        case inspect.StructType() | inspect.DictType():
            return {}
        case inspect.VarTupleType():
            return []
    return 0


def _explained(kind: type[Value], data: Any, error: Exception) -> InvalidObject:
    reason, _, path = str(error).partition(" - at `$")
    problem = Problem(path.rstrip("`").lstrip("."), reason)
    return InvalidObject(kind.__name__, _readable_key(data), [problem])


def _readable_key(data: Any) -> str:
    """Return the object's key as far as it can be read from invalid data."""
    try:
        plain = data if isinstance(data, Mapping) else msgspec.json.decode(data)
        meta = plain["metadata"]
        parts = (meta.get("namespace"), meta.get("name"))
    except (*UNREADABLE, LookupError, TypeError, AttributeError):
        return ""
    return "/".join(part for part in parts if isinstance(part, str) and part)


def _as_bytes(data: bytes | str | Mapping[str, Any]) -> bytes:
    if isinstance(data, Mapping):
        return msgspec.json.encode(data)
    return data.encode() if isinstance(data, str) else bytes(data)
