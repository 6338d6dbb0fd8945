"""CEL's values as Python values, with CEL's equality.

null, bool, int, double, string, bytes and list are Python's None, bool, int, float, str, bytes and
list; a map or object is a dict. The classes below are the values that Python lacks. Values never
change after they are made, so lists and dicts may be shared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Final

from podium.cel import types
from podium.cel.types import Type
from podium.errors import EvaluationError

# CEL is dynamically typed, and so is the Python that evaluates it.
Value = Any

MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -(2**63)
MAX_UINT: Final = 2**64 - 1
NANOS: Final = 10**9
NO_SUCH_OVERLOAD: Final = "no such overload"
TOO_EXPENSIVE: Final = "operation cancelled: actual cost limit exceeded"
# Nothing that Kubernetes lets an expression do needs more elements, comparisons or characters.
MOST_STEPS: Final = 1_000_000
MOST_COMPARISONS: Final = 100_000
MOST_CHARACTERS: Final = 50_000_000


class UInt(int):
    """An unsigned integer; its arithmetic is in arithmetic.py."""

    __slots__ = ()


class KeyedList(list[Value]):
    """A list in which order does not matter, since elements are told apart by keys.

    Custom resources have them with the list type ``set``, where an element is its own key, and
    ``map``, where some fields are.
    """

    __slots__ = ("_fields",)

    def __init__(self, items: Iterable[Value], fields: tuple[str, ...] = ()) -> None:
        super().__init__(items)
        self._fields = fields

    def _key(self, item: Value) -> tuple[tuple[type, Value], ...]:
        is_object = self._fields and isinstance(item, dict)
        parts = [item.get(name) for name in self._fields] if is_object else [item]
        if any(isinstance(part, (list, dict)) for part in parts):
            raise EvaluationError("listSet operations are only supported on lists of scalar values")
        return tuple((type(part), part) for part in parts)

    def equals(self, other: list[Value]) -> bool:
        """Whether both have equal elements, in any order."""
        if len(self) != len(other):
            return False
        mine = {self._key(item): item for item in self}
        theirs = {self._key(item): item for item in other}
        return mine.keys() == theirs.keys() and all(equal(mine[key], theirs[key]) for key in mine)

    def merged(self, other: list[Value]) -> KeyedList:
        """Return what ``+`` does: an element with a known key replaces the one that had it."""
        by_key = {self._key(item): item for item in (*self, *other)}
        return KeyedList(by_key.values(), self._fields)


class BoolKey(Enum):
    """A bool as key of a dict, where True would be the same key as 1."""

    FALSE = False
    TRUE = True


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanos: int
    cel_type: ClassVar[Type] = types.DURATION
    go_name: ClassVar[str] = "types.Duration"


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment, as nanoseconds since 1970 in UTC."""

    nanos: int
    cel_type: ClassVar[Type] = types.TIMESTAMP
    go_name: ClassVar[str] = "types.Timestamp"


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """A value that may be absent; ``NONE`` is the absent one."""

    value: Value
    cel_type: ClassVar[Type] = types.optional_of(types.DYN)
    go_name: ClassVar[str] = "*types.Optional"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Optional) or self is NONE or other is NONE:
            return self is other
        return equal(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]  # values need not be hashable

    def get(self) -> Value:
        if self is NONE:
            raise EvaluationError("optional.none() dereference")
        return self.value


NONE: Final = Optional(None)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, such as the result of ``type(1)``."""

    name: str
    cel_type: ClassVar[Type] = types.TYPE
    go_name: ClassVar[str] = "*types.Type"


_TYPES: Final[dict[type, Type]] = {
    bool: types.BOOL,
    bytes: types.BYTES,
    dict: types.map_of(types.DYN, types.DYN),
    float: types.DOUBLE,
    int: types.INT,
    list: types.list_of(types.DYN),
    type(None): types.NULL,
    str: types.STRING,
    UInt: types.UINT,
}
_GO_NAMES: Final = {
    bool: "types.Bool",
    bytes: "types.Bytes",
    float: "types.Double",
    int: "types.Int",
    type(None): "types.Null",
    str: "types.String",
    UInt: "types.Uint",
}
NUMBERS: Final = frozenset((int, float, UInt))
_KEYS: Final = {True: BoolKey.TRUE, False: BoolKey.FALSE}


def type_of(value: Value) -> Type:
    """Return the run-time type of a value, without looking into lists and maps."""
    found = _TYPES.get(type(value))
    if found is not None:
        return found
    if isinstance(value, (dict, list)):
        return _TYPES[dict if isinstance(value, dict) else list]
    kind: Type = value.cel_type
    return kind


def type_name(value: Value) -> str:
    return type_of(value).name


def go_name(value: Value) -> str:
    """Return the name of the Go type that messages of cel-go show for a value."""
    return _GO_NAMES.get(type(value)) or str(value.go_name)


def no_such_overload(*_: Value) -> EvaluationError:
    return EvaluationError(NO_SUCH_OVERLOAD)


def equal(left: Value, right: Value) -> bool:
    """Compare as ``==`` does: numbers by amount, other values only with their own type.

    A quantity, version, address or URL on the left cannot be compared with another type.
    """
    kind, other = type(left), type(right)
    if kind is other and not isinstance(left, (list, dict)):
        return bool(left == right)
    if kind in NUMBERS and other in NUMBERS:
        return compared_numbers(left, right) == 0
    if isinstance(left, list) and isinstance(right, list):
        if isinstance(left, KeyedList):
            return left.equals(right)
        return _equal_lists(left, right, [MOST_COMPARISONS])
    if isinstance(left, dict) and isinstance(right, dict):
        return _equal_maps(left, right, [MOST_COMPARISONS])
    if right is not None and getattr(kind, "equals_only_itself", False):
        raise no_such_overload()
    return False


def unequal(left: Value, right: Value) -> bool:
    """Evaluate ``!=``, which is true where ``==`` fails."""
    try:
        return not equal(left, right)
    except EvaluationError:
        return True


def compared_numbers(left: Value, right: Value) -> int | None:
    """Return -1, 0 or 1, or None for NaN; an integer is rounded to compare it with a double."""
    if type(left) is float or type(right) is float:
        left, right = float(left), float(right)
    if left == right:
        return 0
    return -1 if left < right else (1 if left > right else None)


def _equal_lists(left: list[Value], right: list[Value], budget: list[int]) -> bool:
    if len(left) != len(right):
        return False
    return all(_equal_parts(mine, other, budget) for mine, other in zip(left, right, strict=True))


def _equal_maps(left: dict[Value, Value], right: dict[Value, Value], budget: list[int]) -> bool:
    if len(left) != len(right):
        return False
    return all(key in right and _equal_parts(left[key], right[key], budget) for key in left)


def _equal_parts(left: Value, right: Value, budget: list[int]) -> bool:
    """Compare elements. Lists may share parts, so few characters can mean endless comparisons."""
    budget[0] -= 1
    if budget[0] < 0:
        raise EvaluationError(TOO_EXPENSIVE)
    if type(left) is list and isinstance(right, list):
        return _equal_lists(left, right, budget)
    if isinstance(left, dict) and isinstance(right, dict):
        return _equal_maps(left, right, budget)
    try:
        return equal(left, right)
    except EvaluationError:
        # cel-go only asks whether elements are unequal, and takes an error for a no.
        return True


def to_key(value: Value) -> Value:
    """Return a value as key of a dict; raise for a value that cannot be one."""
    kind = type(value)
    if kind is str or kind is int or kind is UInt or kind is float:
        return value
    if kind is bool:
        return _KEYS[value]
    raise EvaluationError(f"unsupported key type: {type_name(value)}")


def from_key(key: Value) -> Value:
    return key.value if type(key) is BoolKey else key


def contains(container: Value, item: Value) -> bool:
    """Evaluate ``item in container``."""
    if isinstance(container, list):
        return any(_is_same(item, element) for element in container)
    if isinstance(container, dict):
        kind = type(item)
        if kind is bool:
            return _KEYS[item] in container
        return (kind is str or kind in NUMBERS) and item in container
    raise no_such_overload()


def _is_same(item: Value, element: Value) -> bool:
    try:
        return equal(item, element)
    except EvaluationError:
        return False


def size(value: Value) -> int:
    """Return what the function ``size`` returns; 1 for a value without size, as costs count it."""
    if isinstance(value, (str, bytes, list, dict)):
        return len(value)
    if type(value) is Optional and value is not NONE:
        return size(value.value)
    return int(getattr(value, "cel_size", 1))


def is_zero(value: Value) -> bool:
    """Whether ``optional.ofNonZeroValue`` takes a value for absent."""
    if value is NONE or value is None:
        return True
    if type(value) in (Duration, Timestamp):
        return bool(value.nanos == (0 if type(value) is Duration else _YEAR_ONE))
    return type(value) in _TYPES and not value


_YEAR_ONE: Final = -62135596800 * NANOS


def text(value: Value) -> str:
    """Write a value as Go's ``%v`` does."""
    match value:
        case None:
            return "null"
        case bool() | BoolKey():
            return "true" if from_key(value) else "false"
        case float():
            return double_text(value)
        case list():
            return f"[{', '.join(map(text, value))}]"
        case bytes():
            return value.decode("utf-8", "replace")
        case dict():
            pairs = (f"{text(key)}: {text(item)}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
        case TypeValue():
            return value.name
    return str(value)


def double_text(value: float, longest: int = 21) -> str:
    """Write a number as Go does, with an exponent if more digits than ``longest`` are needed."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    assert isinstance(exponent, int)
    text, scale = "".join(map(str, digits)), len(digits) + exponent - 1
    minus = "-" if sign else ""
    if not -5 < scale < longest:
        fraction = f".{text[1:]}" if text[1:] else ""
        return f"{minus}{text[0]}{fraction}e{scale:+03d}"
    if scale < 0:
        return f"{minus}0.{'0' * (-scale - 1)}{text}"
    whole, rest = text[: scale + 1].ljust(scale + 1, "0"), text[scale + 1 :]
    return f"{minus}{whole}{'.' + rest if rest else ''}"


def quoted(value: str) -> str:
    """Write a text as Go's ``%q`` does."""
    return json.dumps(value, ensure_ascii=False)
