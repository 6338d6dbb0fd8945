"""The part of Go's text/template that the templates of workload files use.

``render`` fills in everything but what depends on ``.Index``, the number of an object. That stays
as a ``Deferred`` value, so that a template is read as YAML once and not for every object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from podium.bench.go_expressions import Expression, Scope, Value, Values, parse
from podium.errors import PodiumError

_ACTION: Final = re.compile(r"\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}", re.DOTALL)
_ASSIGNED: Final = re.compile(r"(\$\w+)\s*:?=\s*(.*)", re.DOTALL)
_MOST_LOOPS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Deferred:
    """A piece of text that depends on the number of the object."""

    expression: Expression
    scope: Scope

    def text(self, index: int) -> str:
        return _text(self.expression.evaluate(self.scope.for_object(index)))


Piece = str | Deferred


@dataclass(frozen=True, slots=True)
class _If:
    """Branches with their conditions; the last one may have none."""

    branches: list[tuple[Expression | None, list[Any]]]


@dataclass(frozen=True, slots=True)
class _Range:
    variable: str  # with its dollar sign; empty if there is none
    looped: Expression
    body: list[Any]


@dataclass(frozen=True, slots=True)
class _Assignment:
    variable: str
    expression: Expression


def render(text: str, values: Values) -> Iterator[Piece]:
    """Yield the pieces of a template in order; ``PodiumError`` if it cannot be filled in."""
    nodes, _ = _block(_pieces(text), "")
    yield from _render(nodes, Scope(values))


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


def _block(pieces: Iterator[str | tuple[str]], opened: str) -> tuple[list[Any], str]:
    """Parse up to the end of a block; return its nodes, and the action that ends it."""
    nodes: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str):
            nodes.append(piece)
            continue
        keyword, _, rest = piece[0].partition(" ")
        match keyword:
            case "if":
                nodes.append(_if(pieces, rest))
            case "range":
                nodes.append(_range(pieces, rest))
            case "else" | "end" if opened:
                return nodes, piece[0]
            case _:
                nodes.append(_action(piece[0]))
    if opened:
        raise PodiumError(f"a template has an {{{{{opened}}}}} without an {{{{end}}}}")
    return nodes, ""


def _if(pieces: Iterator[str | tuple[str]], condition: str) -> _If:
    branches: list[tuple[Expression | None, list[Any]]] = []
    while True:
        body, ended_by = _block(pieces, "if")
        branches.append((parse(condition.strip()) if condition else None, body))
        if ended_by == "end":
            return _If(branches)
        condition = ended_by.removeprefix("else").strip().removeprefix("if")


def _range(pieces: Iterator[str | tuple[str]], source: str) -> _Range:
    assigned = _ASSIGNED.match(source)
    variable, looped = (assigned[1], assigned[2]) if assigned else ("", source)
    body, ended_by = _block(pieces, "range")
    if ended_by != "end":
        raise PodiumError("{{else}} of a {{range}} is not known here")
    return _Range(variable, parse(looped), body)


def _action(source: str) -> _Assignment | Expression:
    assigned = _ASSIGNED.match(source)
    return _Assignment(assigned[1], parse(assigned[2])) if assigned else parse(source)


def _render(nodes: list[Any], scope: Scope) -> Iterator[Piece]:
    for node in nodes:
        match node:
            case str():
                yield node
            case Expression():
                yield _fill_in(node, scope)
            case _Assignment():
                scope.variables[node.variable] = node.expression.constant_value(scope, "a variable")
            case _If():
                yield from _render(_choose_branch(node, scope), scope)
            case _Range():
                yield from _repeat(node, scope)


def _choose_branch(node: _If, scope: Scope) -> list[Any]:
    for condition, body in node.branches:
        if condition is None or condition.constant_value(scope, "a condition"):
            return body
    return []


def _repeat(node: _Range, scope: Scope) -> Iterator[Piece]:
    looped = node.looped.constant_value(scope, "a loop")
    if isinstance(looped, int) and 0 <= looped <= _MOST_LOOPS:
        looped = range(looped)
    if not isinstance(looped, (list, range)):
        raise PodiumError(f"{{{{range {node.looped.source}}}}}: cannot loop over {looped!r}")
    for element in looped:
        inner = scope.for_element(element)
        if node.variable:
            inner.variables[node.variable] = element
        yield from _render(node.body, inner)


def _fill_in(expression: Expression, scope: Scope) -> Piece:
    if expression.uses_index:
        return Deferred(expression, scope)
    value = expression.evaluate(scope)
    if value is None:
        what = f"{{{{{expression.source}}}}}"
        raise PodiumError(f"{what} needs a template parameter that is not given")
    return _text(value)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
