"""Expressions of Go's text/template: ``Mod .Index 12``, ``(or .size 10) | Int``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from podium.errors import PodiumError

INDEX: Final = "Index"

_TOKEN: Final = re.compile(r'\s*(\(|\)|\||"(?:[^"\\]|\\.)*"|[^\s()"|]+)')
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?\Z")
_VARIABLE: Final = re.compile(r"\$\w+\Z")
_CONSTANTS: Final = {"true": True, "false": False, "nil": None}

Value = Any  # a number, a string, a boolean, JSON, or None for a parameter that is not given
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Scope:
    """The values of names: parameters, ``.`` (in a loop, its element) and variables."""

    parameters: Values
    dot: Value = None
    is_loop: bool = False
    variables: dict[str, Value] = field(default_factory=dict)

    def for_element(self, dot: Value) -> Scope:
        """Return the scope of a loop's body for one element."""
        return replace(self, dot=dot, is_loop=True, variables=dict(self.variables))

    def for_object(self, index: int) -> Scope:
        """Return the scope for one object."""
        return replace(self, parameters={**self.parameters, INDEX: index})

    def field(self, name: str) -> Value:
        """Return ``.name``, or ``.`` itself for no name."""
        if not name:
            return self.dot if self.is_loop else self.parameters
        if not self.is_loop:
            return self.parameters.get(name)
        return self.dot.get(name) if isinstance(self.dot, dict) else None


Evaluate = Callable[[Scope], Value]


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression, which may use the number of the object."""

    source: str
    evaluate: Evaluate
    uses_index: bool

    def constant_value(self, scope: Scope, what: str) -> Value:
        """Return the value of an expression that must be the same for all objects."""
        if self.uses_index:
            raise PodiumError(f"{{{{{what} {self.source}}}}}: {what} cannot depend on .{INDEX}")
        return self.evaluate(scope)


def parse(source: str) -> Expression:
    tokens = [found[1] for found in _TOKEN.finditer(source)]
    evaluate = _pipeline(iter([*tokens, ")"]), source)
    uses_index = any(token in (f".{INDEX}", f"$.{INDEX}") for token in tokens)
    return Expression(source, evaluate, uses_index)


def _pipeline(tokens: Iterator[str], source: str) -> Evaluate:
    """Parse up to the closing parenthesis: calls, each of which gets the result of the last one."""
    calls: list[list[Evaluate]] = [[]]
    for token in tokens:
        if token == ")":
            break
        if token == "|":
            calls.append([])
        else:
            inner = _pipeline(tokens, source) if token == "(" else _operand(token, source)
            calls[-1].append(inner)
    if not all(calls):
        raise PodiumError(f"{{{{{source}}}}} is not an expression")
    evaluate = _call(calls[0], source)
    for function, *arguments in calls[1:]:
        evaluate = _call([function, *arguments, evaluate], source)
    return evaluate


def _call(parts: list[Evaluate], source: str) -> Evaluate:
    function, *arguments = parts
    if not arguments:
        return function
    return lambda scope: _apply(function(scope), [each(scope) for each in arguments], source)


def _apply(function: Value, arguments: list[Value], source: str) -> Value:
    try:
        return function(*arguments)
    except TypeError as error:  # not a function, or not its number of arguments
        raise PodiumError(f"{{{{{source}}}}} cannot be called: {error}") from error


def _operand(token: str, source: str) -> Evaluate:
    if token.startswith("."):
        return lambda scope: scope.field(token[1:])
    if token.startswith("$."):
        return lambda scope: scope.parameters.get(token[2:])
    if _VARIABLE.match(token):
        return lambda scope: _variable(scope, token, source)
    if token in _FUNCTIONS:
        return lambda _: _FUNCTIONS[token]
    if token in _CONSTANTS:
        return lambda _: _CONSTANTS[token]
    if _NUMBER.match(token) or token.startswith('"'):
        constant = json.loads(token)
        return lambda _: constant
    raise PodiumError(f"{{{{{source}}}}}: {token!r} is not known here")


def _variable(scope: Scope, name: str, source: str) -> Value:
    if name not in scope.variables:
        raise PodiumError(f"{{{{{source}}}}}: {name!r} is not known here")
    return scope.variables[name]


def _number(value: Value) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise PodiumError(f"{value!r} is not a number") from None


def _product(*numbers: Value) -> float:
    product = 1.0
    for number in numbers:
        product *= _number(number)
    return product


def _ratio(dividend: Value, divisor: Value) -> float:
    if not _number(divisor):
        raise PodiumError("division by zero")
    return _number(dividend) / _number(divisor)


def _remainder(dividend: Value, divisor: Value) -> int:
    if not int(_number(divisor)):
        raise PodiumError("division by zero")
    return int(_number(dividend)) % int(_number(divisor))


def _first_true(*values: Value) -> Value:
    return next((value for value in values if value), values[-1])


def _first_false(*values: Value) -> Value:
    return next((value for value in values if not value), values[-1])


_FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = {
    "AddFloat": lambda *numbers: sum(map(_number, numbers)),
    "AddInt": lambda *numbers: int(sum(map(_number, numbers))),
    "SubtractFloat": lambda first, second: _number(first) - _number(second),
    "SubtractInt": lambda first, second: int(_number(first) - _number(second)),
    "MultiplyFloat": _product,
    "MultiplyInt": lambda *numbers: int(_product(*numbers)),
    "DivideFloat": _ratio,
    "DivideInt": lambda first, second: int(_ratio(first, second)),
    "Mod": _remainder,
    "Int": lambda value: int(_number(value)),
    "JSON": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    "eq": lambda first, *others: first in others,
    "ne": lambda first, second: first != second,
    "ge": lambda first, second: _number(first) >= _number(second),
    "gt": lambda first, second: _number(first) > _number(second),
    "le": lambda first, second: _number(first) <= _number(second),
    "lt": lambda first, second: _number(first) < _number(second),
    "not": lambda value: not value,
    "or": _first_true,
    "and": _first_false,
}
