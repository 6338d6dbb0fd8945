"""The functions and operators that every CEL expression has."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # it brings no types

from podium.cel import arithmetic, conversions, times, types, values
from podium.cel.environment import (
    Function,
    Library,
    Overload,
    function,
    library,
    overload,
    same_for,
)
from podium.cel.values import Value
from podium.errors import EvaluationError

_ORDERED: Final = (
    "bool", "int64", "int64_double", "int64_uint64", "uint64", "uint64_double", "uint64_int64",
    "double", "double_int64", "double_uint64", "string", "bytes", "timestamp", "duration",
)  # fmt: skip
_NAMED: Final = (
    types.BOOL,
    types.BYTES,
    types.DOUBLE,
    types.DURATION,
    types.INT,
    types.NULL,
    types.STRING,
    types.TIMESTAMP,
    types.TYPE,
    types.UINT,
)
_GO_WORDS: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid named capture group": "invalid named capture",
    "trailing \\ at end of regexp": "trailing backslash at end of expression",
}
_QUIET: Final = re2.Options()
_QUIET.log_errors = False


@lru_cache(maxsize=4096)
def regex(pattern: str) -> Any:
    """Compile a pattern of RE2's syntax; raise ``ValueError`` if it is wrong."""
    try:
        return re2.compile(pattern, options=_QUIET)
    except re2.error as error:
        raise ValueError(_go_message(str(error), pattern)) from error


def _go_message(message: str, pattern: str) -> str:
    """Word an error of RE2 as Go's package regexp does."""
    reason, _, part = message.removeprefix("b").strip("'\"").partition(": ")
    return f"error parsing regexp: {_GO_WORDS.get(reason, reason)}: `{part or pattern}`"


def _matches(text: str, pattern: str) -> bool:
    try:
        return regex(pattern).search(text) is not None
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _of_texts(test: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    """Return the test for values of any type; cel-go names neither the function nor the types."""

    def tested(text: Value, part: Value) -> bool:
        if type(text) is str and type(part) is str:
            return test(text, part)
        raise values.no_such_overload()

    return tested


def _comparison(operator: str, name: str, accepted: tuple[int, ...]) -> Function:
    def declared(kind: str) -> Overload:
        parts = kind.replace("64", "").split("_")
        left, right = parts[0], parts[-1]
        return overload(f"{name}_{kind}", f"({left}, {right}) -> bool")

    ordered = arithmetic.ordering(operator, accepted)
    return function(f"_{operator}_", *same_for(_ORDERED, declared), operator=ordered)


def _converted(name: str, kinds: tuple[str, ...], convert: Any, result: str = "") -> Function:
    result = result or name

    def declared(kind: str) -> Overload:
        # cel-go's identifiers say int64 and uint64 except for conversions of a type to itself.
        return overload(f"{kind}_to_{name}", f"({kind}) -> {result}", convert)

    return function(name, *same_for(kinds, declared))


def _times() -> list[Function]:
    found = []
    for name in times.TIMESTAMP_PARTS:
        part = times.timestamp_part(name)
        overloads = [
            overload(f"timestamp_{name}", "timestamp.() -> int", part),
            overload(f"timestamp_{name}_with_tz", "timestamp.(string) -> int", part),
        ]
        if name in times.DURATION_PARTS:
            span = times.duration_part(name)
            overloads.append(overload(f"duration_{name}", "duration.() -> int", span))
        found.append(function(name, *overloads))
    return found


def _not_strictly_false(value: Value) -> bool:
    return value is not False


_OPERATORS: Final = (
    function("_?_:_", overload("conditional", "(bool, A, A) -> A")),
    function("_&&_", overload("logical_and", "(bool, bool) -> bool")),
    function("_||_", overload("logical_or", "(bool, bool) -> bool")),
    function("!_", overload("logical_not", "(bool) -> bool"), operator=arithmetic.invert),
    function(
        "@not_strictly_false",
        overload("not_strictly_false", "(bool) -> bool"),
        operator=_not_strictly_false,
    ),
    function("_==_", overload("equals", "(A, A) -> bool"), operator=values.equal),
    function(
        "_!=_",
        overload("not_equals", "(A, A) -> bool"),
        operator=values.unequal,
    ),
    function(
        "_+_",
        overload("add_bytes", "(bytes, bytes) -> bytes"),
        overload("add_double", "(double, double) -> double"),
        overload("add_duration_duration", "(duration, duration) -> duration"),
        overload("add_duration_timestamp", "(duration, timestamp) -> timestamp"),
        overload("add_timestamp_duration", "(timestamp, duration) -> timestamp"),
        overload("add_int64", "(int, int) -> int"),
        overload("add_list", "(list(A), list(A)) -> list(A)"),
        overload("add_string", "(string, string) -> string"),
        overload("add_uint64", "(uint, uint) -> uint"),
        operator=arithmetic.add,
    ),
    function(
        "_-_",
        overload("subtract_double", "(double, double) -> double"),
        overload("subtract_duration_duration", "(duration, duration) -> duration"),
        overload("subtract_int64", "(int, int) -> int"),
        overload("subtract_timestamp_duration", "(timestamp, duration) -> timestamp"),
        overload("subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration"),
        overload("subtract_uint64", "(uint, uint) -> uint"),
        operator=arithmetic.subtract,
    ),
    function(
        "_*_",
        overload("multiply_double", "(double, double) -> double"),
        overload("multiply_int64", "(int, int) -> int"),
        overload("multiply_uint64", "(uint, uint) -> uint"),
        operator=arithmetic.multiply,
    ),
    function(
        "_/_",
        overload("divide_double", "(double, double) -> double"),
        overload("divide_int64", "(int, int) -> int"),
        overload("divide_uint64", "(uint, uint) -> uint"),
        operator=arithmetic.divide,
    ),
    function(
        "_%_",
        overload("modulo_int64", "(int, int) -> int"),
        overload("modulo_uint64", "(uint, uint) -> uint"),
        operator=arithmetic.modulo,
    ),
    function(
        "-_",
        overload("negate_double", "(double) -> double"),
        overload("negate_int64", "(int) -> int"),
        operator=arithmetic.negate,
    ),
    _comparison("<", "less", (-1,)),
    _comparison("<=", "less_equals", (-1, 0)),
    _comparison(">", "greater", (1,)),
    _comparison(">=", "greater_equals", (0, 1)),
    function(
        "_[_]",
        overload("index_list", "(list(A), int) -> A"),
        overload("index_map", "(map(A, B), A) -> B"),
    ),
    function(
        "@in",
        overload("in_list", "(A, list(A)) -> bool"),
        overload("in_map", "(A, map(A, B)) -> bool"),
        operator=lambda item, container: values.contains(container, item),
    ),
)

STANDARD: Final[Library] = library(
    *_OPERATORS,
    function(
        "size",
        overload("size_bytes", "(bytes) -> int"),
        overload("bytes_size", "bytes.() -> int"),
        overload("size_list", "(list(A)) -> int"),
        overload("list_size", "list(A).() -> int"),
        overload("size_map", "(map(A, B)) -> int"),
        overload("map_size", "map(A, B).() -> int"),
        overload("size_string", "(string) -> int"),
        overload("string_size", "string.() -> int"),
        operator=arithmetic.measured,
    ),
    function("type", overload("type", "(A) -> type(A)"), operator=conversions.type_value),
    function("dyn", overload("to_dyn", "(A) -> dyn"), operator=lambda value: value),
    _converted("bool", ("bool", "string"), conversions.to_bool),
    _converted("bytes", ("bytes", "string"), conversions.to_bytes),
    _converted("double", ("double", "int", "string", "uint"), conversions.to_double),
    _converted("duration", ("duration", "string"), conversions.to_duration),
    _converted(
        "int", ("int", "double", "duration", "string", "timestamp", "uint"), conversions.to_int
    ),
    _converted(
        "string",
        ("string", "bool", "bytes", "double", "duration", "int", "timestamp", "uint"),
        conversions.to_string,
    ),
    _converted("timestamp", ("timestamp", "int", "string"), conversions.to_timestamp),
    _converted("uint", ("uint", "double", "int", "string"), conversions.to_uint),
    function(
        "contains",
        overload("contains_string", "string.(string) -> bool"),
        operator=_of_texts(lambda text, part: part in text),
    ),
    function(
        "endsWith",
        overload("ends_with_string", "string.(string) -> bool"),
        operator=_of_texts(str.endswith),
    ),
    function(
        "startsWith",
        overload("starts_with_string", "string.(string) -> bool"),
        operator=_of_texts(str.startswith),
    ),
    function(
        "matches",
        overload("matches", "(string, string) -> bool"),
        overload("matches_string", "string.(string) -> bool"),
        operator=_of_texts(_matches),
    ),
    *_times(),
    named={
        **{kind.name: kind for kind in _NAMED},
        "list": types.list_of(types.DYN),
        "map": types.map_of(types.DYN, types.DYN),
    },
)
