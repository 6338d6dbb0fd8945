"""CEL's operators on numbers, texts, times and lists, with its ranges and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from podium.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    MOST_CHARACTERS,
    MOST_STEPS,
    NANOS,
    NUMBERS,
    TOO_EXPENSIVE,
    Duration,
    KeyedList,
    Timestamp,
    UInt,
    Value,
    compared_numbers,
    no_such_overload,
    size,
)
from podium.errors import EvaluationError

MIN_TIME: Final = -62135596800 * NANOS
MAX_TIME: Final = 253402300799 * NANOS + NANOS - 1
_ADDED: Final = frozenset((bytes, float, Duration, int, list, str, Timestamp, UInt))
_SUBTRACTED: Final = frozenset((float, Duration, int, Timestamp, UInt))
_MULTIPLIED: Final = frozenset((float, int, UInt))
_COMPARED: Final = frozenset((bool, bytes, float, Duration, int, str, Timestamp, UInt))
# cel-go asks these values for a method before it gives up, and then names no operator.
_RECEIVERS: Final = frozenset((Duration, str, Timestamp))


def _refused(operator: str, left: Value, accepted: frozenset[type]) -> EvaluationError:
    if type(left) in accepted or type(left) in _RECEIVERS:
        return no_such_overload()
    return EvaluationError(f"no such overload: {operator}")


def ranged(number: int) -> int:
    if MIN_INT <= number <= MAX_INT:
        return number
    raise EvaluationError("integer overflow")


def unsigned(number: int) -> UInt:
    if 0 <= number <= MAX_UINT:
        return UInt(number)
    raise EvaluationError("unsigned integer overflow")


def duration(nanos: int) -> Duration:
    if MIN_INT <= nanos <= MAX_INT:
        return Duration(nanos)
    raise EvaluationError("integer overflow")


def timestamp(nanos: int) -> Timestamp:
    if MIN_TIME <= nanos <= MAX_TIME:
        return Timestamp(nanos)
    raise EvaluationError("timestamp overflow")


def add(left: Value, right: Value) -> Value:
    kind, other = type(left), type(right)
    if kind is other:
        if kind is int:
            return ranged(left + right)
        if kind is float:
            return left + right
        if kind in (str, bytes, list):
            return _joined(left, right, MOST_STEPS if kind is list else MOST_CHARACTERS)
        if kind is UInt:
            return unsigned(int(left) + int(right))
        if kind is Duration:
            return duration(left.nanos + right.nanos)
    if {kind, other} == {Duration, Timestamp}:
        return timestamp(left.nanos + right.nanos)
    if isinstance(left, list) and isinstance(right, list):
        if isinstance(left, KeyedList):
            return left.merged(right)
        return _joined(left, right, MOST_STEPS)
    raise _refused("_+_", left, _ADDED)


def _joined(left: Value, right: Value, most: int) -> Value:
    """Concatenate; cel-go does so for lists without copying, which is why it may cost little."""
    if len(left) + len(right) > most:
        raise EvaluationError(TOO_EXPENSIVE)
    return left + right


def subtract(left: Value, right: Value) -> Value:
    kind, other = type(left), type(right)
    if kind is other:
        if kind is int:
            return ranged(left - right)
        if kind is float:
            return left - right
        if kind is UInt:
            return unsigned(int(left) - int(right))
        if kind in (Duration, Timestamp):
            return duration(left.nanos - right.nanos)
    if kind is Timestamp and other is Duration:
        return timestamp(left.nanos - right.nanos)
    raise _refused("_-_", left, _SUBTRACTED)


def multiply(left: Value, right: Value) -> Value:
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return ranged(left * right)
        if kind is float:
            return left * right
        if kind is UInt:
            return unsigned(int(left) * int(right))
    raise _refused("_*_", left, _MULTIPLIED)


def divide(left: Value, right: Value) -> Value:
    kind = type(left)
    if kind is type(right) and kind in _MULTIPLIED:
        if kind is float:
            return _divide_doubles(left, right)
        if right == 0:
            raise EvaluationError("division by zero")
        quotient = abs(left) // abs(right)
        if kind is UInt:
            return UInt(quotient)
        return ranged(quotient if (left < 0) is (right < 0) else -quotient)
    raise _refused("_/_", left, _MULTIPLIED)


def _divide_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def modulo(left: Value, right: Value) -> Value:
    kind = type(left)
    if kind is type(right) and kind in (int, UInt):
        if right == 0:
            raise EvaluationError("modulus by zero")
        if kind is int and left == MIN_INT and right == -1:
            raise EvaluationError("integer overflow")
        rest = abs(left) % abs(right)
        return UInt(rest) if kind is UInt else (-rest if left < 0 else rest)
    raise _refused("_%_", left, frozenset((int, UInt)))


def negate(value: Value) -> Value:
    if type(value) is int:
        return ranged(-value)
    if type(value) is float:
        return -value
    if type(value) is Duration:
        return duration(-value.nanos)
    if type(value) is bool:
        raise no_such_overload()
    raise _refused("-_", value, frozenset())


def invert(value: Value) -> bool:
    if value is True:
        return False
    if value is False:
        return True
    raise no_such_overload()


def compare(operator: str, left: Value, right: Value) -> int:
    """Return -1, 0 or 1; ``operator`` is only named in an error."""
    kind, other = type(left), type(right)
    if kind in NUMBERS and other in NUMBERS:
        found = compared_numbers(left, right)
        if found is None:
            raise EvaluationError("NaN values cannot be ordered")
        return found
    if kind is other and kind in _COMPARED:
        return int(left > right) - int(left < right)
    raise _refused(operator, left, _COMPARED)


def ordering(operator: str, accepted: tuple[int, ...]) -> Callable[[Value, Value], bool]:
    """Return the function of an operator such as ``<=``, which accepts -1 and 0."""
    name = f"_{operator}_"

    def ordered(left: Value, right: Value) -> bool:
        return compare(name, left, right) in accepted

    return ordered


def measured(value: Value) -> int:
    """Evaluate the function ``size``."""
    if isinstance(value, (str, bytes, list, dict)):
        return size(value)
    raise _refused("size", value, frozenset())
