"""Look into values: fields, keys and indexes, present or not, with cel-go's errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from podium.cel.values import (
    NONE,
    NUMBERS,
    Optional,
    Value,
    from_key,
    go_name,
    text,
    to_key,
    type_name,
)
from podium.errors import EvaluationError


class _Absent:
    """The result of looking for something that is not there."""


_ABSENT: Final = _Absent()


def _found(container: Value, key: Value) -> Value:
    """Return the element, or ``_ABSENT``; raise if the container has no elements at all."""
    if isinstance(container, dict):
        try:
            return container[to_key(key)]
        except KeyError:
            return _ABSENT
    if isinstance(container, list):
        index = _index(key)
        return container[index] if 0 <= index < len(container) else _ABSENT
    raise EvaluationError(f"no such key: {text(key)}")


def _index(key: Value) -> int:
    if type(key) in NUMBERS:
        if key == int(key):
            return int(key)
        raise EvaluationError(f"unsupported index value {text(key)} in list")
    raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")


def element(container: Value, key: Value) -> Value:
    """Evaluate ``container[key]`` and ``container.key``."""
    if type(container) is Optional:
        return optional_element(container, key)
    found = _found(container, key)
    if found is _ABSENT:
        what = "no such key" if isinstance(container, dict) else "index out of bounds"
        raise EvaluationError(f"{what}: {text(key)}")
    return found


def optional_element(container: Value, key: Value) -> Optional:
    """Evaluate ``container[?key]`` and ``container.?key``."""
    if type(container) is Optional and container is not NONE:
        container = container.value
    if not isinstance(container, (dict, list)):
        return NONE
    found = _found(container, key)
    return NONE if found is _ABSENT else Optional(found)


def has(container: Value, key: str) -> bool:
    """Evaluate ``has(container.key)``."""
    return optional_element(container, key) is not NONE


def elements(container: Value) -> Value:
    """Return what a loop with one variable runs over."""
    if isinstance(container, list):
        return container
    if isinstance(container, dict):
        return [from_key(key) for key in container]
    raise EvaluationError(f"got '{go_name(container)}', expected iterable type")


def pairs(container: Value) -> Iterator[tuple[Value, Value]]:
    """Return what a loop with two variables runs over: indexes or keys, with their elements."""
    if isinstance(container, list):
        return enumerate(container)
    if isinstance(container, dict):
        return ((from_key(key), value) for key, value in container.items())
    raise EvaluationError(f"unsupported comprehension range type: {go_name(container)}")


def insert(target: dict[Value, Value], key: Value, value: Value) -> None:
    """Add an entry to a map under construction."""
    wrapped = to_key(key)
    if wrapped in target:
        raise EvaluationError(f"insert failed: key {text(key)} already exists")
    target[wrapped] = value
