"""The syntax tree of a CEL expression.

Nodes compare by identity, because the checker keeps what it infers in tables by node. ``position``
is the offset of the character that a message about the node points to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from podium.cel.values import Value

ACCUMULATOR: Final = "@result"
UNUSED: Final = "#unused"


@dataclass(eq=False, slots=True)
class Literal:
    position: int
    value: Value


@dataclass(eq=False, slots=True)
class Ident:
    position: int
    name: str


@dataclass(eq=False, slots=True)
class Select:
    """``operand.field``, or ``has(operand.field)`` if ``test_only``."""

    position: int
    operand: Node
    field: str
    test_only: bool = False


@dataclass(eq=False, slots=True)
class Call:
    """A call of a function or operator; ``target`` is the receiver of a member call."""

    position: int
    function: str
    args: list[Node]
    target: Node | None = None
    fold: Fold | None = None


@dataclass(eq=False, slots=True)
class ListNode:
    """A list literal; elements whose index is in ``optional`` may be absent."""

    position: int
    elements: list[Node]
    optional: frozenset[int] = frozenset()


@dataclass(eq=False, slots=True)
class Entry:
    position: int
    key: Node
    value: Node
    optional: bool = False


@dataclass(eq=False, slots=True)
class MapNode:
    position: int
    entries: list[Entry]


@dataclass(eq=False, slots=True)
class FieldInit:
    position: int
    name: str
    value: Node
    optional: bool = False


@dataclass(eq=False, slots=True)
class StructNode:
    """``TypeName{field: value}``."""

    position: int
    type_name: str
    fields: list[FieldInit]


@dataclass(frozen=True, slots=True)
class Fold:
    """How a macro's loop is evaluated directly, without its general expansion.

    ``kind`` names it: all, exists, one, list, map, entry, bind, optMap or optFlatMap. ``filter``
    and ``body`` are parts of the expansion.
    """

    kind: str
    body: Node
    filter: Node | None = None


@dataclass(eq=False, slots=True)
class Comprehension:
    """A loop over a list or map, which every macro with a variable expands to."""

    position: int
    range: Node
    var: str
    var2: str
    accu: str
    init: Node
    condition: Node
    step: Node
    result: Node
    fold: Fold = field(repr=False)


Node = Literal | Ident | Select | Call | ListNode | MapNode | StructNode | Comprehension


def children(node: Node) -> list[Node]:
    """Return the direct parts of a node, in the order in which they are checked."""
    match node:
        case Select():
            return [node.operand]
        case Call():
            return [*([node.target] if node.target else []), *node.args]
        case ListNode():
            return list(node.elements)
        case MapNode():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case StructNode():
            return [init.value for init in node.fields]
        case Comprehension():
            return [node.range, node.init, node.condition, node.step, node.result]
    return []


def walk(root: Node) -> Iterator[Node]:
    """Yield every node once, parents before their parts; shared parts are yielded once."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            pending.extend(reversed(children(node)))
