"""Checks of literals that Kubernetes makes once an expression's types are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from podium.cel import conversions, standard
from podium.cel.checker import Checked
from podium.cel.environment import Environment
from podium.cel.format_strings import ACCEPTED, WRONG_KIND, clauses
from podium.cel.issues import Issue, Issues
from podium.cel.syntax import Call, ListNode, Literal, MapNode, Node, children, walk
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
        *_wrong_formats(checked),
        *_mixed_literals(checked),
    ]
    if found:
        raise Issues(tuple(found))


def _calls(checked: Checked) -> list[Call]:
    return [node for node in walk(checked.root) if isinstance(node, Call)]


def _wrong_literals(checked: Checked) -> Iterator[Issue]:
    for call in _calls(checked):
        name = checked.functions[call].name
        first = call.args[0] if call.args else None
        if name not in _LITERALS or not isinstance(first, Literal):
            continue
        try:
            _LITERALS[name](first.value)
        except (EvaluationError, ValueError):
            yield Issue(first.position, f"invalid {name} argument")


def _wrong_formats(checked: Checked) -> Iterator[Issue]:
    """Yield an issue for each constant template that its list of arguments does not fit."""
    for call in _calls(checked):
        target, args = call.target, call.args[0] if call.args else None
        if call.function != "format" or not isinstance(target, Literal):
            continue
        if type(target.value) is str and isinstance(args, ListNode):
            yield from _wrong_format(checked, call, target.value, args)


def _wrong_format(checked: Checked, call: Call, template: str, args: ListNode) -> Iterator[Issue]:
    count = len(args.elements)
    try:
        kinds = clauses(template, count)
    except EvaluationError as error:
        yield Issue(call.position, str(error))
        return
    for kind, node in zip(kinds, args.elements, strict=False):
        wrong = _misfit(checked, kind, node)
        if wrong is not None:
            given = checked.types[wrong].name
            reason = f"{WRONG_KIND[kind.lower()]}, was given {given}"
            yield Issue(wrong.position, f"error during formatting: {reason}")
            return
    if count > len(kinds):
        wanted = f"(expected {len(kinds)}, got {count})"
        yield Issue(call.position, f"too many arguments supplied to string.format {wanted}")


def _misfit(checked: Checked, kind: str, node: Node) -> Node | None:
    """Return the node that a clause cannot write, if any."""
    if kind == "s":
        parts = children(node) if isinstance(node, (ListNode, MapNode)) else []
        for part in parts:
            found = _misfit(checked, kind, part)
            if found is not None:
                return found
    return None if checked.types[node].kind in ACCEPTED[kind.lower()] else node


def _mixed_literals(checked: Checked) -> Iterator[Issue]:
    """Yield an issue for each list and map whose elements have different types."""
    exempt = {part for call in _calls(checked) if call.function == "format" for part in walk(call)}
    for node in walk(checked.root):
        if node in exempt:
            continue
        if isinstance(node, ListNode):
            parts = [(part, index in node.optional) for index, part in enumerate(node.elements)]
            yield from _mixed(checked, parts)
        if isinstance(node, MapNode):
            yield from _mixed(checked, [(entry.key, False) for entry in node.entries])
            yield from _mixed(checked, [(entry.value, entry.optional) for entry in node.entries])


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
