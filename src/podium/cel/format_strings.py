"""``string.format``, as version 2 of cel-go's strings library does it for American English."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from podium.cel import conversions, values
from podium.cel.types import Kind
from podium.cel.values import (
    MOST_CHARACTERS,
    TOO_EXPENSIVE,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    from_key,
    quoted,
    type_name,
)
from podium.errors import EvaluationError

_CLAUSE: Final = re.compile(r"%(?:%|(?:\.([0-9]*))?(.)|$)|%\.[0-9]*$", re.DOTALL)
_MAX_PRECISION: Final = 1000
_DEFAULT_PRECISION: Final = 6
_SUPERSCRIPTS: Final = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPECIAL: Final = frozenset(("NaN", "Infinity", "-Infinity"))
WRONG_KIND: Final = {
    "s": (
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists,"
        " types, durations, and timestamps"
    ),
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}


_ANY: Final = (Kind.DYN, Kind.ANY, Kind.ERROR, Kind.PARAM)
_WHOLE: Final = (Kind.INT, Kind.UINT)
# The static types that each clause can write.
ACCEPTED: Final = {
    "s": frozenset(Kind) - {Kind.STRUCT, Kind.OPAQUE},
    "d": frozenset((*_ANY, *_WHOLE)),
    "f": frozenset((*_ANY, Kind.DOUBLE)),
    "e": frozenset((*_ANY, Kind.DOUBLE)),
    "b": frozenset((*_ANY, *_WHOLE, Kind.BOOL)),
    "x": frozenset((*_ANY, *_WHOLE, Kind.STRING, Kind.BYTES)),
    "o": frozenset((*_ANY, *_WHOLE)),
}


def clauses(template: str, count: int) -> list[str]:
    """Return the letters of the clauses in a template; raise if one is wrong or has no argument."""
    found: list[str] = []
    for clause in _CLAUSE.finditer(template):
        if clause[0] == "%%":
            continue
        if len(found) >= count:
            raise EvaluationError(f"index {len(found)} out of range")
        found.append(_parsed(clause)[0])
    return found


def formatted(template: str, args: list[Value]) -> str:
    """Replace each clause of a template by the next argument."""
    remaining = iter(range(len(args) + 1))
    written = 0

    def clause(found: re.Match[str]) -> str:
        nonlocal written
        if found[0] == "%%":
            return "%"
        index = next(remaining)
        if index >= len(args):
            raise EvaluationError(f"index {index} out of range")
        text = _clause(found, args[index])
        written += len(text)
        if written > MOST_CHARACTERS:
            raise EvaluationError(TOO_EXPENSIVE)
        return text

    return _CLAUSE.sub(clause, template)


def _clause(found: re.Match[str], value: Value) -> str:
    kind, precision = _parsed(found)
    try:
        return _FORMATS[kind.lower()](value, precision, kind)
    except EvaluationError as error:
        raise EvaluationError(f"error during formatting: {error}") from None


def _parsed(found: re.Match[str]) -> tuple[str, int]:
    """Return the letter of a clause and its precision."""
    if found[0] == "%":
        raise EvaluationError("unexpected end of string")
    digits, kind = found[1], found[2]
    if kind is None:
        wrong = "error while parsing precision: could not find end of precision specifier"
        raise EvaluationError(f"could not parse formatting clause: {wrong}")
    if kind.lower() not in _FORMATS or kind in "SDFEBO":
        raise EvaluationError(
            f'could not parse formatting clause: unrecognized formatting clause "{kind}"'
        )
    return kind, _DEFAULT_PRECISION if digits is None else _precision(digits)


def _precision(digits: str) -> int:
    if digits and len(digits) < 5 and int(digits) <= _MAX_PRECISION:
        return int(digits)
    reason = (
        'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        if not digits
        else f"precision {digits} exceeds maximum allowed precision {_MAX_PRECISION}"
    )
    raise EvaluationError(
        f"could not parse formatting clause: error while parsing precision: {reason}"
    )


def _refused(kind: str, value: Value) -> EvaluationError:
    return EvaluationError(f"{WRONG_KIND[kind.lower()]}, was given {type_name(value)}")


def _string(value: Value, _: int, kind: str) -> str:
    match value:
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            parts = sorted((_literal(from_key(key)), _literal(item)) for key, item in value.items())
            return f"{{{', '.join(f'{key}:{item}' for key, item in parts)}}}"
        case TypeValue():
            return value.name
    if type(value) not in _PLAIN:
        raise _refused(kind, value)
    return conversions.to_string(value)


_PLAIN: Final = frozenset((bool, bytes, float, int, str, UInt, Duration, Timestamp))


def _literal(value: Value) -> str:
    """Write a value inside a list or map, where it looks like CEL."""
    match value:
        case str():
            return quoted(value)
        case bytes():
            return "b" + quoted(conversions.to_string(value))
        case float():
            return _fixed_point(value, _DEFAULT_PRECISION)
        case Timestamp() | Duration():
            name = "timestamp" if isinstance(value, Timestamp) else "duration"
            return f"{name}({quoted(conversions.to_string(value))})"
    if type(value) in (bool, int, UInt, list, TypeValue, type(None)) or isinstance(value, dict):
        return _string(value, 0, "s")
    raise EvaluationError(f"no formatting function for {type_name(value)}")


def _fixed_point(value: float, precision: int) -> str:
    if not math.isfinite(value):
        return quoted(values.double_text(value))
    return f"{value:.{precision}f}"


def _decimal(value: Value, _: int, kind: str) -> str:
    if type(value) in (int, UInt):
        return str(int(value))
    raise _refused(kind, value)


def _double(value: Value, kind: str) -> float:
    if type(value) is str and value in _SPECIAL:
        return float(value)
    if type(value) is not float:
        raise _refused(kind, value)
    return float(value)


def _infinite(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "∞" if number > 0 else "-∞"


def _fixed(value: Value, precision: int, kind: str) -> str:
    number = _double(value, kind)
    return f"{number:,.{precision}f}" if math.isfinite(number) else _infinite(number)


def _scientific(value: Value, _: int, kind: str) -> str:
    number = _double(value, kind)
    if not math.isfinite(number):
        return _infinite(number)
    # cel-go takes the precision for a width here, which is seldom larger than the number.
    mantissa, exponent = f"{number:.{_DEFAULT_PRECISION}e}".split("e")
    return f"{mantissa}\u202f×\u202f10{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}"


def _binary(value: Value, _: int, kind: str) -> str:
    if type(value) in (bool, int, UInt):
        return f"{int(value):b}"
    raise _refused(kind, value)


def _hex(value: Value, _: int, kind: str) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):{kind}}"
    if type(value) is str:
        value = value.encode()
    if type(value) is not bytes:
        raise _refused(kind, value)
    return value.hex().upper() if kind == "X" else value.hex()


def _octal(value: Value, _: int, kind: str) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):o}"
    raise _refused(kind, value)


_FORMATS: Final[dict[str, Callable[[Value, int, str], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "o": _octal,
}
