"""The macros of CEL, which expand to comprehensions before an expression is checked.

Each takes the receiver of the call, its arguments and the position of the call, and returns the
expansion, or None to leave the call as it is. The expansions are cel-go's, because costs and
messages depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from podium.cel.issues import Issue
from podium.cel.syntax import (
    ACCUMULATOR,
    UNUSED,
    Call,
    Comprehension,
    Fold,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
)

Macro = Callable[[Node | None, list[Node], int], Node | None]
# By name, number of arguments, and whether the call has a receiver.
Macros = Mapping[tuple[str, int, bool], Macro]

_NO_NAME: Final = "argument must be a simple name"
_NO_IDENT: Final = "argument is not an identifier"
_TAKEN: Final = "iteration variable overwrites accumulator variable"


class BadMacro(Exception):
    """A macro with wrong arguments."""

    def __init__(self, node: Node, message: str) -> None:
        self.issue = Issue(node.position, message)
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class _Loop:
    """The parts of a comprehension that all macros have in common."""

    range: Node
    var: str
    var2: str
    position: int

    def accu(self) -> Ident:
        return Ident(self.position, ACCUMULATOR)

    def call(self, function: str, *args: Node) -> Call:
        return Call(self.position, function, list(args))

    def literal(self, value: object) -> Literal:
        return Literal(self.position, value)

    def when(self, condition: Node | None, step: Node) -> Node:
        """Return the step, done only for elements that the condition accepts."""
        return step if condition is None else self.call("_?_:_", condition, step, self.accu())

    def over(self, fold: Fold, init: Node, step: Node, condition: Node | None = None) -> Node:
        return Comprehension(
            self.position, self.range, self.var, self.var2, ACCUMULATOR, init,
            condition or self.literal(True), step, self.accu(), fold,
        )  # fmt: skip


def _name(node: Node, message: str = _NO_NAME) -> str:
    if not isinstance(node, Ident) or node.name.startswith("."):
        raise BadMacro(node, message)
    if node.name in (ACCUMULATOR, "__result__"):
        raise BadMacro(node, _TAKEN)
    return node.name


def _loop(target: Node | None, names: list[Node], position: int, message: str = _NO_NAME) -> _Loop:
    assert target is not None
    found = [_name(node, message) for node in names]
    if len(set(found)) < len(found):
        raise BadMacro(names[1], f"duplicate variable name: {found[0]}")
    return _Loop(target, found[0], found[1] if len(found) > 1 else "", position)


def has(_: Node | None, args: list[Node], position: int) -> Node:
    if not isinstance(args[0], Select):
        raise BadMacro(args[0], "invalid argument to has() macro")
    return Select(position, args[0].operand, args[0].field, test_only=True)


def every(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:-1], position)
    goes_on = loop.call("@not_strictly_false", loop.accu())
    step = loop.call("_&&_", loop.accu(), args[-1])
    return loop.over(Fold("all", args[-1]), loop.literal(True), step, goes_on)


def some(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:-1], position)
    goes_on = loop.call("@not_strictly_false", loop.call("!_", loop.accu()))
    step = loop.call("_||_", loop.accu(), args[-1])
    return loop.over(Fold("exists", args[-1]), loop.literal(False), step, goes_on)


def exactly_one(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:-1], position)
    counted = loop.call("_+_", loop.accu(), loop.literal(1))
    step = loop.when(args[-1], counted)
    found = loop.over(Fold("one", args[-1]), loop.literal(0), step)
    assert isinstance(found, Comprehension)
    found.result = loop.call("_==_", loop.accu(), loop.literal(1))
    return found


def mapped(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:1], position, _NO_IDENT)
    condition = args[1] if len(args) == 3 else None
    return _listed(loop, condition, args[-1])


def filtered(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:1], position, _NO_IDENT)
    return _listed(loop, args[1], args[0])


def transform_list(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:2], position)
    return _listed(loop, args[2] if len(args) == 4 else None, args[-1])


def _listed(loop: _Loop, condition: Node | None, body: Node) -> Node:
    added = loop.call("_+_", loop.accu(), ListNode(loop.position, [body]))
    fold = Fold("list", body, condition)
    return loop.over(fold, ListNode(loop.position, []), loop.when(condition, added))


def transform_map(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:2], position)
    condition = args[2] if len(args) == 4 else None
    added = loop.call("cel.@mapInsert", loop.accu(), Ident(position, loop.var), args[-1])
    fold = Fold("map", args[-1], condition)
    return loop.over(fold, MapNode(position, []), loop.when(condition, added))


def transform_entry(target: Node | None, args: list[Node], position: int) -> Node:
    loop = _loop(target, args[:2], position)
    condition = args[2] if len(args) == 4 else None
    added = loop.call("cel.@mapInsert", loop.accu(), args[-1])
    fold = Fold("entry", args[-1], condition)
    return loop.over(fold, MapNode(position, []), loop.when(condition, added))


def _bound(name: str, value: Node, body: Node, position: int) -> Node:
    """Return a comprehension that only gives a value a name."""
    return Comprehension(
        position, ListNode(position, []), UNUSED, "", name, value,
        Literal(position, False), Ident(position, name), body, Fold("bind", body),
    )  # fmt: skip


def bind(target: Node | None, args: list[Node], position: int) -> Node | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    if not isinstance(args[0], Ident):
        raise BadMacro(args[0], "cel.bind() variable names must be simple identifiers")
    return _bound(args[0].name, args[1], args[2], position)


def opt_map(target: Node | None, args: list[Node], position: int) -> Node:
    found = _with_value("optMap", target, args, position)
    wrapped = Call(position, "optional.of", [found])
    return _if_present(target, wrapped, Fold("optMap", found), position)


def opt_flat_map(target: Node | None, args: list[Node], position: int) -> Node:
    found = _with_value("optFlatMap", target, args, position)
    return _if_present(target, found, Fold("optFlatMap", found), position)


def _with_value(name: str, target: Node | None, args: list[Node], position: int) -> Node:
    if not isinstance(args[0], Ident):
        raise BadMacro(args[0], f"{name}() variable name must be a simple identifier")
    # The receiver is shared, not copied: copies of copies would grow without bound.
    value = Call(position, "value", [], target)
    return _bound(args[0].name, value, args[1], position)


def _if_present(target: Node | None, found: Node, fold: Fold, position: int) -> Node:
    present = Call(position, "hasValue", [], target)
    absent = Call(position, "optional.none", [])
    return Call(position, "_?_:_", [present, found, absent], fold=fold)


def sort_by(target: Node | None, args: list[Node], position: int) -> Node:
    if not isinstance(target, ListNode | Select | Ident | Comprehension | Call):
        kinds = "a list, identifier, comprehension, call or select expression"
        raise BadMacro(target or args[0], f"sortBy can only be applied to {kinds}")
    name = "@__sortBy_input__"
    keys = mapped(Ident(position, name), args, position)
    body = Call(position, "@sortByAssociatedKeys", [keys], Ident(position, name))
    return _bound(name, target, body, position)


STANDARD: Final[Macros] = {
    ("has", 1, False): has,
    ("all", 2, True): every,
    ("exists", 2, True): some,
    ("exists_one", 2, True): exactly_one,
    ("existsOne", 2, True): exactly_one,
    ("map", 2, True): mapped,
    ("map", 3, True): mapped,
    ("filter", 2, True): filtered,
}
TWO_VARIABLES: Final[Macros] = {
    ("all", 3, True): every,
    ("exists", 3, True): some,
    ("exists_one", 3, True): exactly_one,
    ("existsOne", 3, True): exactly_one,
    ("transformList", 3, True): transform_list,
    ("transformList", 4, True): transform_list,
    ("transformMap", 3, True): transform_map,
    ("transformMap", 4, True): transform_map,
    ("transformMapEntry", 3, True): transform_entry,
    ("transformMapEntry", 4, True): transform_entry,
}
BINDINGS: Final[Macros] = {("bind", 3, True): bind}
OPTIONALS: Final[Macros] = {("optMap", 2, True): opt_map, ("optFlatMap", 2, True): opt_flat_map}
SORT_BY: Final[Macros] = {("sortBy", 2, True): sort_by}
