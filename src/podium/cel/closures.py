"""The smallest parts of a program: functions of a frame for one operation each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Final

from podium.cel import access, values
from podium.cel.environment import Implementation, Overload
from podium.cel.values import NONE, Optional, Value, text, to_key, type_name
from podium.errors import EvaluationError

# One slot per variable; a program's functions share it and write only the slots of loops.
Frame = list[Value]
Evaluate = Callable[[Frame], Value]

UNSET: Final = object()


def read(slot: int, value: Evaluate | None) -> Evaluate:
    if value is None:
        return lambda frame: frame[slot]

    def lazy(frame: Frame) -> Value:
        # A bound value is computed when it is first used: unused, it must not fail.
        found = frame[slot]
        if found is UNSET:
            found = frame[slot] = value(frame)
        return found

    return lazy


def read_global(slot: int, name: str) -> Evaluate:
    def variable(frame: Frame) -> Value:
        found = frame[slot]
        if found is UNSET:
            raise EvaluationError(f"no such attribute(s): {name}")
        return found

    return variable


def path(root: Evaluate, keys: tuple[str, ...]) -> Evaluate:
    """Look up one key after the other; what is unusual about a value is left to the slow way."""
    slow = partial(reduce, access.element, keys)
    if len(keys) > 3:
        return lambda frame: slow(root(frame))
    last = keys[-1]

    def one(frame: Frame) -> Value:
        found = root(frame)
        try:
            return found[last]
        except (LookupError, TypeError):
            return slow(found)

    if len(keys) == 1:
        return one
    middle = keys[-2]

    def two(frame: Frame) -> Value:
        found = root(frame)
        try:
            return found[middle][last]
        except (LookupError, TypeError):
            return slow(found)

    if len(keys) == 2:
        return two
    first = keys[0]

    def three(frame: Frame) -> Value:
        found = root(frame)
        try:
            return found[first][middle][last]
        except (LookupError, TypeError):
            return slow(found)

    return three


def apply(implementation: Implementation, args: Sequence[Evaluate]) -> Evaluate:
    """Call a function whose arguments need no check."""
    match args:
        case []:
            return lambda _: implementation()
        case [one]:
            return lambda frame: implementation(one(frame))
        case [left, right]:
            return lambda frame: implementation(left(frame), right(frame))
    return lambda frame: implementation(*(arg(frame) for arg in args))


def dispatcher(name: str, overloads: Sequence[Overload]) -> Implementation:
    """Return a function that calls the first overload that its arguments fit."""

    def dispatch(*args: Value) -> Value:
        for overload in overloads:
            if overload.implementation is not None and overload.accepts(args):
                return overload.implementation(*args)
        raise EvaluationError(f"no such overload: {name}({', '.join(map(type_name, args))})")

    return dispatch


def member_of(item: Evaluate, container: Value) -> Evaluate:
    """Evaluate ``item in container`` for a constant container."""
    if type(container) is not list or any(type(element) is not str for element in container):
        return lambda frame: values.contains(container, item(frame))
    names = frozenset(container)

    def member(frame: Frame) -> bool:
        found = item(frame)
        return type(found) is str and found in names

    return member


def text_equals(left: Evaluate, wanted: str, is_equal: bool) -> Evaluate:
    """Evaluate ``left == "wanted"``, or ``!=``."""

    def equals(frame: Frame) -> bool:
        found = left(frame)
        if type(found) is str:
            return (found == wanted) is is_equal
        return values.equal(found, wanted) if is_equal else values.unequal(found, wanted)

    return equals


def pattern_found(text: Evaluate, search: Callable[[str], object]) -> Evaluate:
    """Evaluate ``text.matches("pattern")`` with the search of the compiled pattern."""

    def matches(frame: Frame) -> bool:
        found = text(frame)
        if type(found) is str:
            return search(found) is not None
        raise values.no_such_overload()

    return matches


def optional_list(elements: Sequence[Evaluate], optional: frozenset[int]) -> Evaluate:
    def build(frame: Frame) -> Value:
        built = []
        for index, element in enumerate(elements):
            found = element(frame)
            if index not in optional:
                built.append(found)
            elif type(found) is not Optional:
                raise EvaluationError(
                    f"cannot initialize optional list element from non-optional value {text(found)}"
                )
            elif found is not NONE:
                built.append(found.value)
        return built

    return build


def mapping(entries: Sequence[tuple[Evaluate, Evaluate, bool]]) -> Evaluate:
    """Build a map or object; optional entries may be absent."""

    def build(frame: Frame) -> Value:
        built: dict[Value, Value] = {}
        for key_of, value_of, is_optional in entries:
            key, found = key_of(frame), value_of(frame)
            if is_optional:
                if type(found) is not Optional:
                    raise EvaluationError(
                        f"cannot initialize optional entry '{text(key)}' "
                        f"from non-optional value {text(found)}"
                    )
                if found is NONE:
                    continue
                found = found.value
            built[to_key(key)] = found
        return built

    return build
