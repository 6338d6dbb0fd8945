"""Programs that count what they cost, for expressions whose estimate exceeds the limit.

An expression with a lower estimate cannot reach the limit, so it runs without counting. Costs
follow the same table as the estimates, with the sizes that values really have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from podium.cel.checker import Checked
from podium.cel.closures import Evaluate, Frame
from podium.cel.costs import COUNTED
from podium.cel.environment import Environment, Implementation
from podium.cel.program import Builder, Program, is_text_index
from podium.cel.ranges import LIST_COST, MAP_COST, REGEX_FACTOR, STRUCT_COST, TEXT_FACTOR
from podium.cel.syntax import (
    Call,
    Comprehension,
    Ident,
    ListNode,
    MapNode,
    Node,
    Select,
    StructNode,
)
from podium.cel.values import TOO_EXPENSIVE, Value, size
from podium.errors import EvaluationError

# What a loop's expansion costs besides the parts that the expression itself has.
_STEPS: Final = {"all": 3, "exists": 4, "one": 2, "list": LIST_COST + 2, "map": 3, "entry": 2}
_STARTS: Final = {"all": 1, "exists": 1, "one": 2, "list": 11, "map": 31, "entry": 31, "bind": 10}
_CREATED: Final = {ListNode: LIST_COST, MapNode: MAP_COST, StructNode: STRUCT_COST, Ident: 1}
_ACCESS: Final = frozenset(("_[_]", "_[?_]", "_?._"))


class _LimitReached(Exception):
    """Raised at the limit. It is no EvaluationError, because no logical operator may absorb it."""


class MeteredProgram(Program):
    """A program that can tell what an evaluation has cost."""

    def __init__(self, program: Program, meter: int) -> None:
        super().__init__(program.run, program.variables, program.slots)
        self._meter = meter

    def measure(self, values: Mapping[str, Value]) -> tuple[Value | EvaluationError, int]:
        """Return the value or the error of an evaluation, and what it has cost."""
        frame = self.frame_of(values)
        try:
            return self.run(frame), frame[self._meter]
        except EvaluationError as error:
            return error, frame[self._meter]
        except RecursionError:
            return EvaluationError(TOO_EXPENSIVE), frame[self._meter]


def build_metered(checked: Checked, environment: Environment, limit: int) -> MeteredProgram:
    """Return a program that fails as soon as it has cost more than the limit."""
    builder = _MeteredBuilder(checked, environment, limit)
    evaluate, meter = builder.build(checked.root), builder.meter

    def run(frame: Frame) -> Value:
        frame[meter] = 0
        try:
            return evaluate(frame)
        except _LimitReached:
            raise EvaluationError(TOO_EXPENSIVE) from None

    return MeteredProgram(Program(run, tuple(environment.variables), builder.slots), meter)


class _MeteredBuilder(Builder):
    def __init__(self, checked: Checked, environment: Environment, limit: int) -> None:
        super().__init__(checked, environment)
        self.meter = self.new_slot()
        self._limit = limit

    def constant(self, value: Value) -> Evaluate:
        # Not remembered, nor anything folded: what is computed in advance would not be counted.
        return lambda _: value

    def folded(self, evaluate: Evaluate, *_: Evaluate) -> Evaluate:
        return evaluate

    def _charge(self, frame: Frame, cost: int) -> None:
        frame[self.meter] += cost
        if frame[self.meter] > self._limit:
            raise _LimitReached

    def _charged(self, evaluate: Evaluate, cost: int) -> Evaluate:
        if not cost:
            return evaluate

        def charged(frame: Frame) -> Value:
            self._charge(frame, cost)
            return evaluate(frame)

        return charged

    def _build(self, node: Node) -> Evaluate:
        return self._charged(super()._build(node), self._own_cost(node))

    def _own_cost(self, node: Node) -> int:
        if isinstance(node, Comprehension):
            return _STARTS[node.fold.kind]
        if isinstance(node, Call):
            return int(node.function in _ACCESS and not is_text_index(node))
        if isinstance(node, Select):
            return int(node in self.checked.names)
        return _CREATED.get(type(node), 0)

    def _path(self, node: Node) -> Evaluate:
        _, steps = self.chain(node)
        # As in estimates, a field of a value of unknown type is free.
        cost = sum(
            isinstance(step, Call) or self.checked.types[step.operand].kind in COUNTED
            for step in steps
        )
        return self._charged(super()._path(node), cost)

    def _invoke(self, node: Call, callee: Implementation, args: list[Evaluate]) -> Evaluate:
        reached = self.checked.overloads[node]
        overload = reached[0].id if len(reached) == 1 else ""
        name = self.checked.functions[node].name

        def invoke(frame: Frame) -> Value:
            values = [arg(frame) for arg in args]
            result = callee(*values)
            self._charge(frame, _call_cost(name, overload, values, result))
            return result

        return invoke

    def _loop(
        self, kind: str, body: Evaluate, condition: Evaluate | None
    ) -> tuple[Evaluate, Evaluate | None]:
        return self._charged(body, _STEPS[kind]), condition


def _call_cost(name: str, overload: str, args: list[Value], result: Value) -> int:
    rule = _FUNCTIONS.get(name) or _OVERLOADS.get(overload)
    return rule(args, result) if rule else 1


def _scan(index: int, factor: float = TEXT_FACTOR) -> Callable[[list[Value], Value], int]:
    return lambda args, _: math.ceil(size(args[index]) * factor)


def _search(args: list[Value], _: Value) -> int:
    text = math.ceil((1 + size(args[0])) * TEXT_FACTOR)
    return text * math.ceil(size(args[1]) * REGEX_FACTOR)


def _contains(args: list[Value], _: Value) -> int:
    return math.ceil(size(args[0]) * TEXT_FACTOR) * math.ceil(size(args[1]) * TEXT_FACTOR)


def _compare(args: list[Value], _: Value) -> int:
    return math.ceil(min(size(args[0]), size(args[1])) * TEXT_FACTOR)


def _concatenate(args: list[Value], _: Value) -> int:
    return math.ceil((size(args[0]) + size(args[1])) * TEXT_FACTOR)


def _traverse(args: list[Value], _: Value) -> int:
    return _traversal(args[0])


def _traversal(value: Value) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TEXT_FACTOR)
    if isinstance(value, bytes):
        return int(len(value) * TEXT_FACTOR)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    return 1


def _allocated(args: list[Value], result: Value) -> int:
    return size(result) + 1 + LIST_COST


def _squared(args: list[Value], _: Value) -> int:
    items = args[-1]
    factor = 2.0 + (TEXT_FACTOR if items and isinstance(items[0], (str, bytes)) else 0)
    return int(len(items) ** 2 * factor) + 1 + LIST_COST


def _sets(factor: int) -> Callable[[list[Value], Value], int]:
    return lambda args, _: 1 + size(args[0]) * size(args[1]) * factor


_FUNCTIONS: Final[dict[str, Callable[[list[Value], Value], int]]] = {
    **dict.fromkeys(
        ["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"], _traverse
    ),
    **dict.fromkeys(
        [
            "url",
            "lowerAscii",
            "upperAscii",
            "substring",
            "trim",
            "cidr",
            "isIP",
            "isCIDR",
            "quantity",
            "isQuantity",
            "semver",
            "isSemver",
        ],
        _scan(0),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _scan(0, 2 * TEXT_FACTOR)),
    "join": lambda _, result: math.ceil(size(result) * 2 * TEXT_FACTOR),
    **dict.fromkeys(("find", "findAll", "matches"), _search),
    **dict.fromkeys(("slice", "lists.range", "reverse", "flatten"), _allocated),
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _squared),
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
}
_OVERLOADS: Final[dict[str, Callable[[list[Value], Value], int]]] = {
    "starts_with_string": _scan(1),
    "ends_with_string": _scan(1),
    **dict.fromkeys(("string_to_bytes", "bytes_to_string"), _scan(0)),
    **dict.fromkeys(("strings_quote", "string_format"), _scan(0)),
    "in_list": _scan(1, 1),
    "contains_string": _contains,
    **dict.fromkeys(("add_string", "add_bytes"), _concatenate),
    **dict.fromkeys(("equals", "not_equals"), _compare),
    **{
        f"{name}_{kind}": _compare
        for name in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}
