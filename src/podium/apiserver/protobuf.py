"""Requests in Kubernetes' protobuf encoding, which newer typed clients send by default.

Answers are JSON, which all these clients accept as well. Types come from the schema, field numbers
from the Go types in `published`. A message without known numbers is refused with 415.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.decoding import NotJson, read_json, unrecognized
from podium.apiserver.published import GoType
from podium.apiserver.schemas import RAW_JSON, Schema
from podium.apiserver.statuses import Json
from podium.apiserver.zeros import drop_zeros

MEDIA = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_MAX_DEPTH = 100

Wire = Iterator[tuple[int, int | bytes]]


class _Unreadable(Exception):
    """The bytes are not a message, or have fields that are not known here."""


def decode(body: bytes, schema: Schema) -> Json:
    """Return the object in a request's body."""
    if not body.startswith(_MAGIC):
        prefix = " ".join(map(str, _MAGIC))
        why = f"does not appear to be a protobuf message, expected prefix [{prefix}]"
        raise unrecognized(schema.name.rpartition(".")[2], f"provided data {why}")
    try:
        envelope = dict(_fields(body[len(_MAGIC) :]))
        raw, kind = envelope.get(2, b""), envelope.get(1, b"")
        if not isinstance(raw, bytes) or not isinstance(kind, bytes):
            raise _Unreadable("the envelope is broken")
        named = dict(_fields(kind))
        found = _message(raw, schema, 0)
    except _Unreadable as error:
        message = f"cannot read the protobuf body of the request: {error}"
        raise statuses.Refusal(415, "UnsupportedMediaType", message) from None
    drop_zeros(
        found, schema
    )  # Go sends every field that is not a pointer, even if it was never set
    for number, name in ((1, "apiVersion"), (2, "kind")):
        if isinstance(text := named.get(number), bytes) and text:
            found[name] = text.decode(errors="replace")
    return found


def _fields(data: bytes) -> Wire:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        match tag & 7:
            case 0:
                value, at = _varint(data, at)
                yield tag >> 3, value
            case 2:
                size, at = _varint(data, at)
                if at + size > len(data):
                    raise _Unreadable("it ends too early")
                yield tag >> 3, data[at : at + size]
                at += size
            case other:
                raise _Unreadable(f"wire type {other} is not supported")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
    raise _Unreadable("a number does not end")


def _message(data: bytes, schema: Schema, depth: int) -> Json:
    found: Json = {}
    if schema.go is None or depth > _MAX_DEPTH:
        raise _Unreadable(f"the message {schema.name or 'without a name'} is not supported")
    _read(found, data, schema.go, schema, depth)
    return found


def _read(found: Json, data: bytes, known: GoType, schema: Schema, depth: int) -> None:
    """Add the fields of a message to an object that has this schema."""
    for number, raw in _fields(data):
        name = known.numbers.get(number, "")
        if isinstance(name, GoType):  # JSON has the fields of this message in place of the message
            _read(found, _bytes(raw), name, schema, depth)
            continue
        below = schema.properties.get(name)
        if below is None:
            raise _Unreadable(f"field {number} of {schema.name} is unknown")
        _put(found, name, raw, below, depth)


def _put(found: Json, name: str, raw: int | bytes, schema: Schema, depth: int) -> None:
    if schema.type == "array":
        found.setdefault(name, []).append(_value(raw, schema.element, depth))
    elif schema.type == "object" and schema.additional is not None:
        entry = dict(_fields(_bytes(raw)))
        key = _bytes(entry.get(1, b"")).decode(errors="replace")
        value = entry.get(2, b"" if schema.additional.type != "integer" else 0)
        found.setdefault(name, {})[key] = _value(value, schema.additional, depth)
    else:
        found[name] = _value(raw, schema, depth)


def _value(raw: int | bytes, schema: Schema, depth: int) -> Any:
    match schema.type:
        case "string":
            return _text(raw, schema)
        case "integer":
            return _signed(raw)
        case "boolean":
            return bool(raw)
        case "quantity":
            return _bytes(dict(_fields(_bytes(raw))).get(1, b"0")).decode(errors="replace")
        case "int-or-string":
            parts = dict(_fields(_bytes(raw)))
            is_text = parts.get(1) == 1
            return _bytes(parts.get(3, b"")).decode() if is_text else _signed(parts.get(2, 0))
        case _ if schema.name in RAW_JSON:
            return _json(_bytes(dict(_fields(_bytes(raw))).get(1, b"null")))
        case _:
            return _message(_bytes(raw), schema, depth + 1)


def _json(raw: bytes) -> Any:
    try:
        return read_json(raw)
    except NotJson:
        raise _Unreadable("the JSON inside it is broken") from None


def _text(raw: int | bytes, schema: Schema) -> str | None:
    if schema.format == "byte":
        return base64.b64encode(_bytes(raw)).decode()
    if schema.format == "date-time":
        parts = dict(_fields(_bytes(raw)))
        seconds, nanos = _signed(parts.get(1, 0)), _signed(parts.get(2, 0))
        if not seconds and not nanos:
            return None
        return _time(seconds, nanos, schema)
    return _bytes(raw).decode(errors="replace")


def _time(seconds: int, nanos: int, schema: Schema) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        raise _Unreadable("a time is out of range") from None
    fraction = f".{nanos // 1000:06d}" if schema.name.endswith("MicroTime") else ""
    return f"{moment}{fraction}Z"


def _bytes(raw: int | bytes) -> bytes:
    if not isinstance(raw, bytes):
        raise _Unreadable("a number where text is expected")
    return raw


def _signed(raw: int | bytes) -> int:
    if isinstance(raw, bytes):
        raise _Unreadable("text where a number is expected")
    return raw - (1 << 64) if raw >= 1 << 63 else raw
