"""Functions on lists: cel-go's lists (version 3) and sets, and Kubernetes' own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Final

from podium.cel import arithmetic, values
from podium.cel.environment import Library, function, library, overload, same_for
from podium.cel.macros import SORT_BY
from podium.cel.values import (
    MOST_STEPS,
    NONE,
    TOO_EXPENSIVE,
    Duration,
    Optional,
    UInt,
    Value,
    equal,
    no_such_overload,
    type_of,
)
from podium.errors import EvaluationError

_COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_IDENTIFIERS: Final = {
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}
_ZEROS: Final[dict[str, Value]] = {
    "int": 0,
    "uint": UInt(0),
    "double": 0.0,
    "duration": Duration(0),
}


def slice_of(items: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        wrong = "start index must be less than or equal to end index"
        raise EvaluationError(f"cannot slice({start}, {end}), {wrong}")
    if end > len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def flatten(items: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    found: list[Value] = []
    for item in items:
        if isinstance(item, list) and depth:
            found.extend(flatten(item, depth - 1))
        else:
            found.append(item)
        if len(found) > MOST_STEPS:
            raise EvaluationError(TOO_EXPENSIVE)
    return found


def sort_by_keys(items: Value, keys: Value) -> list[Value]:
    if not isinstance(items, list) or not isinstance(keys, list):
        raise no_such_overload()
    if len(items) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(items)} and {len(keys)} elements respectively"
        )
    if keys:
        _require_comparable(keys)

    def order(left: int, right: int) -> int:
        return _order(keys[left], keys[right])

    ordered = sorted(range(len(keys)), key=cmp_to_key(order))
    return [items[index] for index in ordered]


def _require_comparable(keys: list[Value]) -> None:
    kind = type_of(keys[0])
    if kind.kind.name.lower() not in _COMPARABLE:
        raise EvaluationError("list elements must be comparable")
    if any(type_of(key) != kind for key in keys):
        raise EvaluationError("list elements must have the same type")


def _order(left: Value, right: Value) -> int:
    return arithmetic.compare("_<_", left, right)


def numbers_up_to(count: int) -> list[Value]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MOST_STEPS:
        wrong = f"size {count} exceeds maximum allowed ({MOST_STEPS})"
        raise EvaluationError(f"lists.range: {wrong}")
    return list(range(count))


def distinct(items: list[Value]) -> list[Value]:
    found: list[Value] = []
    for item in items:
        if not any(equal(item, other) for other in found):
            found.append(item)
    return found


def _first(items: list[Value]) -> Optional:
    return Optional(items[0]) if items else NONE


def _last(items: list[Value]) -> Optional:
    return Optional(items[-1]) if items else NONE


LISTS: Final[Library] = library(
    function("slice", overload("list_slice", "list(T).(int, int) -> list(T)", slice_of)),
    function(
        "flatten",
        overload("list_flatten", "list(list(T)).() -> list(T)", flatten),
        overload("list_flatten_int", "list(dyn).(int) -> list(dyn)", flatten),
    ),
    function(
        "sort",
        *same_for(
            _COMPARABLE,
            lambda kind: overload(
                f"list_{_IDENTIFIERS.get(kind, kind)}_sort", f"list({kind}).() -> list({kind})"
            ),
        ),
        operator=lambda items: sort_by_keys(items, items),
    ),
    function(
        "@sortByAssociatedKeys",
        *same_for(
            _COMPARABLE,
            lambda kind: overload(
                f"list_{_IDENTIFIERS.get(kind, kind)}_sortByAssociatedKeys",
                f"list(T).(list({kind})) -> list(T)",
            ),
        ),
        operator=sort_by_keys,
    ),
    function("lists.range", overload("lists_range", "(int) -> list(int)", numbers_up_to)),
    function(
        "reverse", overload("list_reverse", "list(T).() -> list(T)", lambda items: items[::-1])
    ),
    function("distinct", overload("list_distinct", "list(T).() -> list(T)", distinct)),
    macros=SORT_BY,
)
# cel-go's optional types bring these; they are here because they take lists.
ENDS: Final[Library] = library(
    function("first", overload("list_first", "list(T).() -> optional(T)", _first)),
    function("last", overload("list_last", "list(T).() -> optional(T)", _last)),
)


def _contains_all(items: list[Value], others: list[Value]) -> bool:
    return all(values.contains(items, other) for other in others)


def _intersects(items: list[Value], others: list[Value]) -> bool:
    return any(values.contains(others, item) for item in items)


def _is_equivalent(items: list[Value], others: list[Value]) -> bool:
    return _contains_all(items, others) and _contains_all(others, items)


SETS: Final[Library] = library(
    *(
        function(
            f"sets.{name}",
            overload(f"list_sets_{name}_list", "(list(T), list(T)) -> bool", implementation),
        )
        for name, implementation in (
            ("contains", _contains_all),
            ("equivalent", _is_equivalent),
            ("intersects", _intersects),
        )
    )
)


def is_sorted(items: list[Value]) -> bool:
    return all(_order(left, right) <= 0 for left, right in pairwise(items))


def _total(kind: str) -> Callable[[list[Value]], Value]:
    def total(items: list[Value]) -> Value:
        found = _ZEROS[kind]
        for item in items:
            found = arithmetic.add(found, item)
        return found

    return total


def _extreme(name: str, wanted: int) -> Callable[[list[Value]], Value]:
    def extreme(items: list[Value]) -> Value:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        found = items[0]
        for item in items[1:]:
            if _order(found, item) == wanted:
                found = item
        return found

    return extreme


def _position(items: list[Value], wanted: Value) -> int:
    return next((index for index, item in enumerate(items) if equal(item, wanted)), -1)


def _last_position(items: list[Value], wanted: Value) -> int:
    backwards = range(len(items) - 1, -1, -1)
    return next((index for index in backwards if equal(items[index], wanted)), -1)


def includes(target: Value, wanted: Value) -> bool:
    if isinstance(target, list):
        return any(equal(item, wanted) for item in target)
    return equal(target, wanted)


KUBERNETES_LISTS: Final[Library] = library(
    function(
        "isSorted",
        *same_for(
            _COMPARABLE,
            lambda kind: overload(
                f"list_{kind}_is_sorted_bool", f"list({kind}).() -> bool", is_sorted
            ),
        ),
    ),
    function(
        "sum",
        *same_for(
            _ZEROS,
            lambda kind: overload(
                f"list_{kind}_sum_{kind}", f"list({kind}).() -> {kind}", _total(kind)
            ),
        ),
    ),
    *(
        function(
            name,
            *same_for(
                _COMPARABLE,
                lambda kind, name=name, wanted=wanted: overload(  # type: ignore[misc]  # defaults
                    f"list_{kind}_{name}_{kind}",
                    f"list({kind}).() -> {kind}",
                    _extreme(name, wanted),
                ),
            ),
        )
        for name, wanted in (("min", 1), ("max", -1))
    ),
    function("indexOf", overload("list_a_index_of_int", "list(A).(A) -> int", _position)),
    function(
        "lastIndexOf", overload("list_a_last_index_of_int", "list(A).(A) -> int", _last_position)
    ),
)
INCLUDES: Final[Library] = library(
    function("includes", overload("list_includes_dyn_dyn", "dyn.(dyn) -> bool", includes))
)


def _includes_within_limit(target: Value, wanted: Value) -> bool:
    for index, item in enumerate(target if isinstance(target, list) else ()):
        if index >= _MOST_INCLUDED:
            wrong = f"cannot be applied to lists longer than {_MOST_INCLUDED} values"
            raise EvaluationError(f"'includes' function {wrong}")
        if equal(item, wanted):
            return True
    return not isinstance(target, list) and equal(target, wanted)


_MOST_INCLUDED: Final = 48
# As 1.36 has it, for selectors of devices only.
LIMITED_INCLUDES: Final[Library] = library(
    function(
        "includes", overload("dra_includes_dyn_dyn", "dyn.(dyn) -> bool", _includes_within_limit)
    )
)
