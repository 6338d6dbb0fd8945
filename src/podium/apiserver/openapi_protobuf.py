"""An OpenAPI 2 document as protobuf, the only form that older versions of kubectl read.

Field numbers are those of gnostic's OpenAPIv2.proto. Only what our documents contain is encoded.
"""

from __future__ import annotations

from typing import Any

import msgspec

from podium.apiserver.statuses import Json

_LENGTH_DELIMITED = 2


def encode_document(document: Json) -> bytes:
    info = document["info"]
    return b"".join(
        (
            _text(1, document["swagger"]),
            _message(2, _text(1, info["title"]) + _text(2, info["version"])),
            _message(8, b"".join(_named(2, p, _path(i)) for p, i in document["paths"].items())),
            _message(9, _schemas(document["definitions"])),
        )
    )


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode()) if text else b""


def _true(field: int) -> bytes:
    return _varint(field << 3) + b"\x01"


def _named(field: int, name: str, value: bytes) -> bytes:
    return _message(field, _text(1, name) + _message(2, value))


def _any(value: Any) -> bytes:
    """Encode a free-form value as YAML, of which JSON is a subset."""
    return _text(2, msgspec.json.encode(value).decode())


def _extensions(field: int, raw: Json) -> bytes:
    return b"".join(
        _named(field, key, _any(value)) for key, value in raw.items() if key.startswith("x-")
    )


def _schemas(found: Json) -> bytes:
    return b"".join(_named(1, name, _schema(raw)) for name, raw in found.items())


def _schema(raw: Json) -> bytes:
    if "$ref" in raw:
        return _text(1, raw["$ref"])
    parts = [
        _text(2, raw.get("format") or ""),
        _text(4, raw.get("description") or ""),
        *(_text(19, name) for name in raw.get("required") or ()),
        *(_message(20, _any(one)) for one in raw.get("enum") or ()),
    ]
    more = raw.get("additionalProperties")
    if isinstance(more, dict):
        parts.append(_message(21, _message(1, _schema(more))))
    elif more is True:
        parts.append(_message(21, _true(2)))
    if isinstance(raw.get("type"), str):
        parts.append(_message(22, _text(1, raw["type"])))
    if isinstance(raw.get("items"), dict):
        parts.append(_message(23, _message(1, _schema(raw["items"]))))
    if raw.get("properties"):
        parts.append(_message(25, _schemas(raw["properties"])))
    parts.append(_extensions(31, raw))
    return b"".join(parts)


def _path(item: Json) -> bytes:
    return _message(8, _operation(item["patch"]))


def _operation(raw: Json) -> bytes:
    response = _named(1, "200", _message(1, _text(1, "OK")))
    return b"".join(
        (
            _text(5, raw["operationId"]),
            *(_message(8, _message(1, _parameter(one))) for one in raw["parameters"]),
            _message(9, response),
            _extensions(13, raw),
        )
    )


def _parameter(raw: Json) -> bytes:
    query = _text(2, raw["in"]) + _text(4, raw["name"]) + _text(6, raw["type"])
    return _message(2, _message(3, query))
