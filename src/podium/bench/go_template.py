"""The part of Go's text/template that the templates of workload files use.

``render`` fills in everything but what depends on ``.Index``, the number of an object. That stays
as a ``Deferred`` value, so that a template is read as YAML once and not for every object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from podium.errors import PodiumError

INDEX: Final = "Index"

_ACTION: Final = re.compile(r"\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}", re.DOTALL)
_TOKEN: Final = re.compile(r'\s*(\(|\)|"(?:[^"\\]|\\.)*"|[^\s()"]+)')
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?\Z")

Value = Any  # a number, a string, a boolean, or None for a parameter that is not given
Values = Mapping[str, Value]
Expression = Callable[[Values], Value]


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
    "not": lambda value: not value,
}


@dataclass(frozen=True, slots=True)
class Deferred:
    """A piece of text that depends on the number of the object."""

    expression: Expression
    values: Values

    def text(self, index: int) -> str:
        return _text(self.expression({**self.values, INDEX: index}))


def render(text: str, values: Values) -> Iterator[str | Deferred]:
    """Yield the pieces of a template in order; ``PodiumError`` if it cannot be filled in."""
    shown = [True]  # for the text around, and for each ``if`` that is open
    taken = [True]  # whether a branch of that ``if`` has been shown
    for piece in _pieces(text):
        if isinstance(piece, str):
            if all(shown):
                yield piece
            continue
        keyword, _, rest = piece[0].partition(" ")
        match keyword:
            case "if":
                taken.append(all(shown) and bool(_decide(rest, values)))
                shown.append(taken[-1])
            case "else" if len(shown) > 1:
                shown[-1] = not taken[-1] and (not rest or bool(_decide(rest[3:], values)))
                taken[-1] = taken[-1] or shown[-1]
            case "end" if len(shown) > 1:
                shown.pop()
                taken.pop()
            case _ if all(shown):
                yield _filled(piece[0], values)
    if len(shown) > 1:
        raise PodiumError("a template has an {{if}} without an {{end}}")


def _pieces(text: str) -> Iterator[str | tuple[str]]:
    """Split into text and actions; an action is a tuple."""
    position, trims = 0, False
    for found in _ACTION.finditer(text):
        before = text[position : found.start()]
        before = before.lstrip() if trims else before
        yield before.rstrip() if found[1] else before
        if not found[2].startswith("/*"):
            yield (found[2],)
        position, trims = found.end(), bool(found[3])
    rest = text[position:]
    yield rest.lstrip() if trims else rest


def _filled(source: str, values: Values) -> str | Deferred:
    expression, uses_index = _parse(source)
    if uses_index:
        return Deferred(expression, values)
    value = expression(values)
    if value is None:
        raise PodiumError(f"{{{{{source}}}}} needs a template parameter that is not given")
    return _text(value)


def _decide(source: str, values: Values) -> Value:
    expression, uses_index = _parse(source.strip())
    if uses_index:
        raise PodiumError(f"{{{{if {source}}}}}: a condition cannot depend on .{INDEX}")
    return expression(values)


def _parse(source: str) -> tuple[Expression, bool]:
    """Return the expression, and whether it uses the number of the object."""
    tokens = [found[1] for found in _TOKEN.finditer(source)]
    expression = _call(iter([*tokens, ")"]), source)
    return expression, f".{INDEX}" in tokens


def _call(tokens: Iterator[str], source: str) -> Expression:
    """Parse up to the closing parenthesis: a value, or a function and its arguments."""
    parts = []
    for token in tokens:
        if token == ")":
            break
        parts.append(_call(tokens, source) if token == "(" else _operand(token, source))
    if not parts:
        raise PodiumError(f"{{{{{source}}}}} is not an expression")
    function, *arguments = parts
    if not arguments:
        return function
    return lambda values: _apply(function(values), [each(values) for each in arguments], source)


def _apply(function: Value, arguments: list[Value], source: str) -> Value:
    try:
        return function(*arguments)
    except TypeError as error:  # not a function, or not its number of arguments
        raise PodiumError(f"{{{{{source}}}}} cannot be called: {error}") from error


def _operand(token: str, source: str) -> Expression:
    if token.startswith("."):
        return lambda values: values.get(token[1:])
    if token in _FUNCTIONS:
        return lambda values: _FUNCTIONS[token]
    if _NUMBER.match(token) or token.startswith('"') or token in ("true", "false"):
        constant = json.loads(token)
        return lambda values: constant
    raise PodiumError(f"{{{{{source}}}}}: {token!r} is not known here")


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
