"""Checks of literals that Kubernetes makes once an expression's types are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from podium.cel import conversions, standard
from podium.cel.checker import Checked
from podium.cel.environment import Environment
from podium.cel.issues import Issue, Issues
from podium.cel.syntax import Call, ListNode, Literal, MapNode, Node, children
from podium.cel.types import Type, describe, unwrapped
from podium.cel.values import Value
from podium.errors import EvaluationError

_LITERALS: Final[dict[str, Callable[[Value], object]]] = {
    "duration": conversions.to_duration,
    "timestamp": conversions.to_timestamp,
    "matches": standard.regex,
}


def validate(checked: Checked, environment: Environment) -> None:
    """Raise ``Issues`` for literals that cannot be what they are used for."""
    if not environment.is_strict:
        return
    found = [
        *_wrong_literals(checked),
        *_mixed_literals(checked, checked.root, is_exempt=False),
    ]
    if found:
        raise Issues(tuple(found))


def _calls(node: Node) -> Iterator[Call]:
    if isinstance(node, Call):
        yield node
    for part in children(node):
        yield from _calls(part)


def _wrong_literals(checked: Checked) -> Iterator[Issue]:
    for call in _calls(checked.root):
        name = checked.functions[call].name
        first = call.args[0] if call.args else None
        if name not in _LITERALS or not isinstance(first, Literal):
            continue
        try:
            _LITERALS[name](first.value)
        except (EvaluationError, ValueError):
            yield Issue(first.position, f"invalid {name} argument")


def _mixed_literals(checked: Checked, node: Node, is_exempt: bool) -> Iterator[Issue]:
    """Yield an issue for each list and map whose elements have different types."""
    exempt = is_exempt or (isinstance(node, Call) and node.function == "format")
    if not exempt and isinstance(node, ListNode):
        parts = [(element, index in node.optional) for index, element in enumerate(node.elements)]
        yield from _mixed(checked, parts)
    if not exempt and isinstance(node, MapNode):
        yield from _mixed(checked, [(entry.key, False) for entry in node.entries])
        yield from _mixed(checked, [(entry.value, entry.optional) for entry in node.entries])
    for part in children(node):
        yield from _mixed_literals(checked, part, exempt)


def _mixed(checked: Checked, parts: list[tuple[Node, bool]]) -> Iterator[Issue]:
    first: Type | None = None
    for node, is_optional in parts:
        kind = checked.types[node]
        if is_optional:
            kind = unwrapped(kind)[0]
        if first is None:
            first = kind
        elif kind != first:
            wrong = f"expected type '{describe(first)}' but found '{describe(kind)}'"
            yield Issue(node.position, wrong)
            return
