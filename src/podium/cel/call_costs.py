"""What calls of functions are estimated to cost, by function or by overload."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from podium.cel.ranges import (
    LIST_COST,
    NOTHING,
    ONE,
    REGEX_FACTOR,
    TEXT_FACTOR,
    UNKNOWN,
    Range,
    exactly,
)
from podium.cel.syntax import Literal, Node
from podium.cel.types import Kind, Type
from podium.cel.values import MAX_UINT

_TEXTS: Final = (Kind.STRING, Kind.BYTES)
_ADDRESS: Final = Range(4, 16)
_LONGEST_NAMED_PATTERN: Final = 128


@dataclass(frozen=True, slots=True)
class Argument:
    """A receiver or argument, as far as its size is concerned."""

    type: Type
    path: tuple[str, ...]
    computed: Range | None
    node: Node | None
    declared: Callable[[tuple[str, ...]], Range | None]

    @property
    def size(self) -> Range:
        found = self.computed
        if found is None:
            found = self.declared(self.path)
        return UNKNOWN if found is None else found

    @property
    def computed_or_unknown(self) -> Range:
        return UNKNOWN if self.computed is None else self.computed

    @property
    def elements(self) -> Argument | None:
        """Return what a list holds; None if the type has no parameters."""
        if not self.type.params:
            return None
        path = (*self.path, "@items") if self.path else ()
        return Argument(self.type.params[0], path, None, None, self.declared)

    def literal(self, default: int) -> int:
        if isinstance(self.node, Literal) and type(self.node.value) is int:
            return max(0, self.node.value)
        return default


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a call without its arguments, and the size of its result if that is known."""

    cost: Range
    size: Range | None = None
    # Logical operators and choices account for their arguments themselves.
    adds_arguments: bool = True


Rule = Callable[[str, Argument | None, list[Argument]], Estimate | None]


def _parse_first(_: str, __: Argument | None, args: list[Argument]) -> Estimate | None:
    return Estimate(args[0].size.scaled(TEXT_FACTOR)) if args else None


def _parse_twice(_: str, __: Argument | None, args: list[Argument]) -> Estimate | None:
    return Estimate(args[0].size.scaled(2 * TEXT_FACTOR)) if args else None


def _flat(_: str, __: Argument | None, ___: list[Argument]) -> Estimate:
    return Estimate(ONE)


def _over_list(_: str, target: Argument | None, __: list[Argument]) -> Estimate | None:
    if target is None:
        return None
    elements, cost = target.elements, ONE
    if elements is None:
        return Estimate(target.size.scaled(TEXT_FACTOR))
    if elements.type.kind in _TEXTS:
        cost = cost.plus(elements.size.scaled(TEXT_FACTOR))
    return Estimate(target.size.times(cost))


def _includes(overload: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is not None and target.elements is None:
        return Estimate(target.size)
    return _over_list(overload, target, args)


def _url(_: str, __: Argument | None, args: list[Argument]) -> Estimate | None:
    return Estimate(args[0].size.scaled(TEXT_FACTOR), args[0].size) if len(args) == 1 else None


def _transform(_: str, target: Argument | None, __: list[Argument]) -> Estimate | None:
    return Estimate(target.size.scaled(TEXT_FACTOR), target.size) if target else None


def _replace(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None or len(args) < 2:
        return None
    text, old, new = target.size, args[0].size, args[1].size
    count_high, kept_high = _most_replaced(text, old, new)
    count_low, kept_low = _least_replaced(text, old, new)
    size = Range(count_low, count_high).times(new).plus(Range(kept_low, kept_high))
    return Estimate(text.scaled(2 * TEXT_FACTOR), size)


def _most_replaced(text: Range, old: Range, new: Range) -> tuple[int, int]:
    """Return how often the longest result has the new text, and how much it keeps of the old."""
    if old.low == 0:
        return min(text.high + 1, MAX_UINT), text.high
    if new.high <= old.low:
        return 0, text.high
    return math.ceil(text.high / old.low), 0


def _least_replaced(text: Range, old: Range, new: Range) -> tuple[int, int]:
    if old.high == 0:
        return min(text.low + 1, MAX_UINT), text.low
    if old.high <= new.low:
        return 0, text.low
    return math.ceil(text.low / old.high), 0


def _split(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None:
        return None
    most = target.size.high
    if len(args) > 1 and isinstance(args[1].node, Literal) and type(args[1].node.value) is int:
        most = args[1].node.value % 2**64
    return Estimate(target.size.scaled(2 * TEXT_FACTOR), Range(0, most))


def _join(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None:
        return None
    size, elements = NOTHING, target.elements
    if elements is not None:
        size = target.size.times(elements.size)
    if args:
        gaps = Range(max(0, target.size.low - 1), max(0, target.size.high - 1))
        size = size.plus(args[0].size.times(gaps))
    return Estimate(size.scaled(TEXT_FACTOR), size)


def _search(text: Range, pattern: Range) -> Range:
    return text.plus(ONE).scaled(TEXT_FACTOR).times(pattern.scaled(REGEX_FACTOR))


def _find(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None or not args:
        return None
    return Estimate(_search(target.size, args[0].size), Range(0, target.size.high))


def _ip(overload: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    return Estimate(ONE) if overload == "cidr_ip" else _parse_first(overload, target, args)


def _contains_ip(overload: str, _: Argument | None, args: list[Argument]) -> Estimate | None:
    if not args:
        return None
    cost = _ADDRESS.plus(_ADDRESS).scaled(TEXT_FACTOR)
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(args[0].size.scaled(TEXT_FACTOR))
    return Estimate(cost)


def _contains_cidr(overload: str, _: Argument | None, args: list[Argument]) -> Estimate | None:
    if not args:
        return None
    cost = _ADDRESS.plus(_ADDRESS).scaled(TEXT_FACTOR).plus(_ADDRESS.scaled(TEXT_FACTOR)).plus(ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(args[0].size.scaled(TEXT_FACTOR))
    return Estimate(cost)


def _validate(_: str, __: Argument | None, args: list[Argument]) -> Estimate | None:
    if not args:
        return None
    return Estimate(args[0].size.scaled(TEXT_FACTOR).scaled(_LONGEST_NAMED_PATTERN * REGEX_FACTOR))


def _equality(_: str, __: Argument | None, args: list[Argument]) -> Estimate | None:
    kind = args[0].type
    if kind != args[1].type:
        return None
    if kind.name in ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"):
        return Estimate(ONE)
    if kind.name == "kubernetes.NamedFormat":
        return Estimate(Range(1, 64).scaled(TEXT_FACTOR))
    if kind.name == "kubernetes.URL":
        size = args[1].computed or ONE
        return Estimate(Range(1, size.high).scaled(TEXT_FACTOR))
    return None


_FLAT: Final = (
    "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast",
    "isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger",
    "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major",
    "minor", "patch", "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath",
    "getQuery",
)  # fmt: skip

# Kubernetes' rules, by function.
CALLS: Final[dict[str, Rule]] = {
    **dict.fromkeys(_FLAT, _flat),
    **dict.fromkeys(["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"], _over_list),
    **dict.fromkeys(["lowerAscii", "upperAscii", "substring", "trim"], _transform),
    **dict.fromkeys(
        ["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"], _parse_first
    ),
    **dict.fromkeys(("find", "findAll"), _find),
    "includes": _includes,
    "url": _url,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "ip": _ip,
    "ip.isCanonical": _parse_twice,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "_==_": _equality,
}


def _lazy(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    size = (
        args[1].computed_or_unknown.union(args[2].computed_or_unknown) if len(args) == 3 else None
    )
    return Estimate(NOTHING, size, adds_arguments=False)


def _format(_: str, target: Argument | None, __: list[Argument]) -> Estimate | None:
    return Estimate(target.computed_or_unknown.scaled(TEXT_FACTOR)) if target else None


def _to_bytes(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    size = args[0].computed_or_unknown
    return Estimate(size.scaled(TEXT_FACTOR), Range(size.low, size.high * 4 % 2**64))


def _from_bytes(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    size = args[0].computed_or_unknown
    return Estimate(size.scaled(TEXT_FACTOR), Range(size.low // 4, size.high))


def _quote(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    size = args[0].computed_or_unknown
    return Estimate(size.scaled(TEXT_FACTOR), Range(size.low + 2, (size.high * 2 + 2) % 2**64))


def _affix(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    return Estimate(args[0].computed_or_unknown.scaled(TEXT_FACTOR))


def _in_list(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    return Estimate(args[1].computed_or_unknown.scaled(1))


def _matches(_: str, target: Argument | None, args: list[Argument]) -> Estimate:
    text, pattern = (target, args[0]) if target else (args[0], args[1])
    return Estimate(_search(text.computed_or_unknown, pattern.computed_or_unknown))


def _contains(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None:
        return None
    text = target.computed_or_unknown.scaled(TEXT_FACTOR)
    return Estimate(text.times(args[0].computed_or_unknown.scaled(TEXT_FACTOR)))


def _concatenate(overload: str, _: Argument | None, args: list[Argument]) -> Estimate:
    size = args[0].computed_or_unknown.plus(args[1].computed_or_unknown)
    cost = ONE if overload == "add_list" else size.scaled(TEXT_FACTOR)
    return Estimate(cost, size)


def _compare(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    smaller = min(args[0].computed_or_unknown.high, args[1].computed_or_unknown.high)
    return Estimate(Range(1 if smaller else 0, smaller).scaled(TEXT_FACTOR))


def _allocated(size: Range, factor: float) -> Estimate:
    return Estimate(size.scaled(factor).plus(exactly(1 + LIST_COST)), size)


def _slice(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None:
        return None
    length = (args[1].literal(target.size.high) - args[0].literal(0)) % 2**64
    return _allocated(exactly(length), 1)


def _flatten(_: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    if target is None:
        return None
    return _allocated(target.size, float(args[0].literal(MAX_UINT)) if args else 1)


def _count(_: str, __: Argument | None, args: list[Argument]) -> Estimate:
    return _allocated(exactly(args[0].literal(MAX_UINT)), 1)


def _reverse(_: str, target: Argument | None, __: list[Argument]) -> Estimate | None:
    return _allocated(target.size, 1) if target else None


def _distinct(_: str, target: Argument | None, __: list[Argument]) -> Estimate | None:
    return _allocated(target.size.times(target.size), 2.0) if target else None


def _sort(overload: str, target: Argument | None, args: list[Argument]) -> Estimate | None:
    keys = args[0] if args else target
    if keys is None:
        return None
    factor = 2.0 + (TEXT_FACTOR if overload.startswith(("list_string", "list_bytes")) else 0)
    return _allocated(keys.size.times(keys.size), factor)


def _sets(overload: str, _: Argument | None, args: list[Argument]) -> Estimate:
    factor = 2 if overload == "list_sets_equivalent_list" else 1
    return Estimate(args[0].size.times(args[1].size).scaled(factor).plus(ONE))


_SORTED: Final = (
    "int", "uint", "double", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp",
    "string", "bytes",
)  # fmt: skip
_COMPARED: Final = [
    f"{name}_{kind}"
    for name in ("less", "less_equals", "greater", "greater_equals")
    for kind in ("string", "bytes")
]

# cel-go's rules, by overload; those with a question mark apply only after Kubernetes' rules.
OVERLOADS: Final[dict[str, Rule]] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _count,
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    **{f"list_{kind}_sort": _sort for kind in _SORTED},
    **{f"list_{kind}_sortByAssociatedKeys": _sort for kind in _SORTED},
    **{f"list_sets_{name}_list": _sets for name in ("contains", "intersects", "equivalent")},
    "?string_format": _format,
    "?string_to_bytes": _to_bytes,
    "?bytes_to_string": _from_bytes,
    "?strings_quote": _quote,
    "?starts_with_string": _affix,
    "?ends_with_string": _affix,
    "?in_list": _in_list,
    "?matches": _matches,
    "?matches_string": _matches,
    "?contains_string": _contains,
    **dict.fromkeys(("?logical_or", "?logical_and", "?conditional"), _lazy),
    **dict.fromkeys(("?add_string", "?add_bytes", "?add_list"), _concatenate),
    **{f"?{name}": _compare for name in (*_COMPARED, "equals", "not_equals")},
}
