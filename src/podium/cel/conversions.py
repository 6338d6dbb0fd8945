"""Conversions between types: ``int("1")``, ``string(1.5)``, ``type(x)`` and so on."""

from __future__ import annotations

import math
import re
from typing import Final

from podium.cel import types, values
from podium.cel.arithmetic import MAX_TIME, MIN_TIME
from podium.cel.times import duration_text, parse_duration, parse_timestamp, timestamp_text
from podium.cel.types import Type
from podium.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    NANOS,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
)
from podium.errors import EvaluationError

_INTEGER: Final = re.compile("[+-]?[0-9]{1,40}")
_NATURAL: Final = re.compile("[0-9]{1,40}")
_DOUBLE: Final = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan",
    re.IGNORECASE,
)
_BOOLS: Final = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


def _failed(value: Value, wanted: Type) -> EvaluationError:
    found = values.type_name(value)
    return EvaluationError(f"type conversion error from '{found}' to '{wanted.name}'")


def to_int(value: Value) -> int:
    match value:
        case str():
            return _int_of_text(value)
        case float():
            # The bounds themselves are not safe to convert.
            if not MIN_INT < value < MAX_INT or not math.isfinite(value):
                raise EvaluationError("integer overflow")
            return int(value)
        case Timestamp():
            return value.nanos // NANOS
        case Duration():
            return value.nanos
    if value > MAX_INT:
        raise EvaluationError("integer overflow")
    return int(value)


def _int_of_text(text: str) -> int:
    if _INTEGER.fullmatch(text) and MIN_INT <= int(text) <= MAX_INT:
        return int(text)
    raise _failed(text, types.INT)


def to_uint(value: Value) -> UInt:
    match value:
        case str():
            if _NATURAL.fullmatch(value) and int(value) <= MAX_UINT:
                return UInt(value)
            raise _failed(value, types.UINT)
        case float():
            if not math.isfinite(value) or not 0 <= value < 2.0**64:
                raise EvaluationError("unsigned integer overflow")
            return UInt(value)
    if value < 0:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def to_double(value: Value) -> float:
    if isinstance(value, str) and not _DOUBLE.fullmatch(value):
        raise _failed(value, types.DOUBLE)
    number = float(value)
    if isinstance(value, str) and math.isinf(number) and "inf" not in value.lower():
        raise _failed(value, types.DOUBLE)
    return number


def to_bool(value: Value) -> bool:
    found = _BOOLS.get(value) if isinstance(value, str) else value
    if found is None:
        raise _failed(value, types.BOOL)
    return bool(found)


def to_bytes(value: Value) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def to_string(value: Value) -> str:
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                wrong = "invalid UTF-8 in bytes, cannot convert to string"
                raise EvaluationError(wrong) from None
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case float():
            return values.double_text(value, longest=6)
    return values.text(value)


def to_duration(value: Value) -> Duration:
    found = parse_duration(value) if isinstance(value, str) else value
    if not isinstance(found, Duration):
        raise _failed(value, types.DURATION)
    return found


def to_timestamp(value: Value) -> Timestamp:
    if isinstance(value, int):
        if not MIN_TIME <= value * NANOS <= MAX_TIME:
            raise EvaluationError("timestamp overflow")
        return Timestamp(value * NANOS)
    found = parse_timestamp(value) if isinstance(value, str) else value
    if not isinstance(found, Timestamp):
        raise _failed(value, types.TIMESTAMP)
    return found


def type_value(value: Value) -> TypeValue:
    return TypeValue(values.type_name(value))
