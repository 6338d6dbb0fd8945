"""Turn a checked expression into Python closures that evaluate it.

Each node becomes one function of a frame: a list with a slot per variable. No text is ever handed
to Python's own compiler. Errors are exceptions; only the logical operators and loops catch them,
which is how CEL lets ``false && error`` be false. What depends on no variable is computed once,
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from podium.cel import access, conversions, logic, loops
from podium.cel.checker import Checked
from podium.cel.closures import (
    UNSET,
    Evaluate,
    Frame,
    apply,
    dispatcher,
    mapping,
    member_of,
    optional_list,
    path,
    pattern_found,
    read,
    read_global,
    text_equals,
)
from podium.cel.environment import Environment, Implementation
from podium.cel.standard import regex
from podium.cel.syntax import (
    Call,
    Comprehension,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
    StructNode,
)
from podium.cel.types import Type, is_dyn
from podium.cel.values import NONE, Optional, TypeValue, Value, type_name
from podium.errors import EvaluationError, InvalidExpression

_LOGIC: Final = {"_&&_": logic.all_of, "_||_": logic.any_of}
_CONVERSIONS: Final = {
    "bool": conversions.to_bool,
    "bytes": conversions.to_bytes,
    "double": conversions.to_double,
    "duration": conversions.to_duration,
    "int": conversions.to_int,
    "string": conversions.to_string,
    "timestamp": conversions.to_timestamp,
    "uint": conversions.to_uint,
}
_PATTERNS: Final = frozenset(("matches", "find", "findAll"))


class Program:
    """An expression that is ready to be evaluated any number of times."""

    def __init__(self, evaluate: Evaluate, variables: Sequence[str], slots: int) -> None:
        self.run: Final = evaluate
        self.variables: Final = tuple(variables)
        self.slots: Final = slots
        self._locals: Final[Frame] = [None] * (slots - len(variables))

    def frame(self, *values: Value) -> Frame:
        """Return a frame with values for the variables, in the order of ``variables``."""
        return [*values, *self._locals]

    def frame_of(self, values: Mapping[str, Value]) -> Frame:
        """Return a frame with values by name; a variable may be without one."""
        return self.frame(*(values.get(name, UNSET) for name in self.variables))

    def evaluate(self, values: Mapping[str, Value]) -> Value:
        """Evaluate with values by name; a variable without value is an error where it is used."""
        return self.run(self.frame_of(values))


def build(checked: Checked, environment: Environment) -> Program:
    """Return the program of a checked expression."""
    builder = Builder(checked, environment)
    evaluate = builder.build(checked.root)
    return Program(evaluate, tuple(environment.variables), builder.slots)


class Builder:
    """Builds closures bottom up; ``_constants`` remembers those that always return one value."""

    def __init__(self, checked: Checked, environment: Environment) -> None:
        self.checked = checked
        self._environment = environment
        self._globals = {name: slot for slot, name in enumerate(environment.variables)}
        self.slots = len(self._globals)
        self._scopes: list[dict[str, tuple[int, Evaluate | None]]] = []
        self._built: dict[Node, Evaluate] = {}
        self._constants: dict[Evaluate, Value] = {}

    def build(self, node: Node) -> Evaluate:
        # Shared nodes exist only where scopes are the same.
        found = self._built.get(node)
        if found is None:
            found = self._built[node] = self._build(node)
        return found

    def _build(self, node: Node) -> Evaluate:
        match node:
            case Literal():
                return self.constant(node.value)
            case Ident():
                return self._variable(self.checked.names[node])
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case StructNode():
                return self._struct(node)
            case Comprehension():
                return self._comprehension(node)

    def constant(self, value: Value) -> Evaluate:
        def constant(_: Frame) -> Value:
            return value

        self._constants[constant] = value
        return constant

    def is_constant(self, *parts: Evaluate) -> bool:
        return all(part in self._constants for part in parts)

    def folded(self, evaluate: Evaluate, *parts: Evaluate) -> Evaluate:
        """Return the value of an operation on constants at once; one that fails stays."""
        if not self.is_constant(*parts):
            return evaluate
        try:
            return self.constant(evaluate([]))
        except EvaluationError:
            return evaluate

    def _require_constants(self, name: str, args: list[Evaluate]) -> None:
        """Refuse conversions and patterns that can only fail, as cel-go does at this stage."""
        try:
            if name in _CONVERSIONS and self.is_constant(*args):
                _CONVERSIONS[name](self._constants[args[0]])
            if name in _PATTERNS and type(self._constants.get(args[1])) is str:
                regex(self._constants[args[1]])
        except (EvaluationError, ValueError) as error:
            raise InvalidExpression(f"program instantiation failed: {error}") from None

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _variable(self, name: str) -> Evaluate:
        if not name.startswith("."):
            for scope in reversed(self._scopes):
                if name in scope:
                    return read(*scope[name])
        name = name.removeprefix(".")
        slot = self._globals.get(name)
        if slot is None:
            return self.constant(TypeValue(self._environment.types[name].name))
        return read_global(slot, name)

    def _select(self, node: Select) -> Evaluate:
        if node in self.checked.names:
            return self._variable(self.checked.names[node])
        if node.test_only:
            return self._has(self.build(node.operand), node.field)
        return self._path(node)

    def _has(self, operand: Evaluate, name: str) -> Evaluate:
        return self.folded(lambda frame: access.has(operand(frame), name), operand)

    def chain(self, node: Node) -> tuple[Node, list[Select | Call]]:
        """Return where a chain of fields and constant keys starts, and its steps from there."""
        steps: list[Select | Call] = []
        while True:
            if isinstance(node, Select) and not node.test_only and node not in self.checked.names:
                steps.append(node)
                node = node.operand
            elif isinstance(node, Call) and is_text_index(node):
                steps.append(node)
                node = node.args[0]
            else:
                return node, steps[::-1]

    def _path(self, node: Node) -> Evaluate:
        """Build a chain of fields and constant keys as one function."""
        start, steps = self.chain(node)
        root = self.build(start)
        keys = tuple(
            step.field if isinstance(step, Select) else _literal(step.args[1]) for step in steps
        )
        return self.folded(path(root, keys), root)

    def _call(self, node: Call) -> Evaluate:
        if node.fold is not None:
            return self._optional_map(node)
        if node.function in _LOGIC:
            return self._logical(node)
        if is_text_index(node):
            return self._path(node)
        name = self.checked.functions[node].name
        parts = list(node.args)
        if node.target is not None and node not in self.checked.namespaced:
            parts.insert(0, node.target)
        args = [self.build(part) for part in parts]
        self._require_constants(name, args)
        special = self._special(name, args)
        if special is not None:
            return special
        return self.folded(self._invoke(node, self._callee(node, parts), args), *args)

    def _special(self, name: str, args: list[Evaluate]) -> Evaluate | None:
        """Build the operations that do not evaluate all their arguments, or look into values."""
        match name:
            case "_?_:_":
                return logic.conditional(*args)
            case "_[_]":
                return apply(access.element, args)
            case "_[?_]" | "_?._":
                return apply(access.optional_element, args)
            case "or":
                return logic.first_present(*args)
            case "orValue":
                return logic.value_or(*args)
            case "_==_" | "_!=_" if len(args) == 2:
                return self._comparison(name == "_==_", *args)
            case "@in" if args[1] in self._constants:
                return member_of(args[0], self._constants[args[1]])
            case "matches" if type(self._constants.get(args[1])) is str:
                return pattern_found(args[0], regex(self._constants[args[1]]).search)
            case "@not_strictly_false":
                return logic.not_strictly_false(args[0])
        return None

    def _comparison(self, is_equal: bool, left: Evaluate, right: Evaluate) -> Evaluate | None:
        """Build the comparison with a constant text, which needs few looks at types."""
        if type(self._constants.get(right)) is str:
            return text_equals(left, self._constants[right], is_equal)
        return None

    def _callee(self, node: Call, parts: list[Node]) -> Implementation:
        """Return the function of values that a call reaches."""
        function, reached = self.checked.functions[node], self.checked.overloads[node]
        if function.operator is not None:
            return function.operator
        kinds = [self.checked.types[part] for part in parts]
        if len(reached) == 1 and not any(map(_is_loose, kinds)):
            implementation = reached[0].implementation
            assert implementation is not None, function.name
            return implementation
        return dispatcher(function.name, reached if len(reached) == 1 else function.overloads)

    def _invoke(self, _: Call, callee: Implementation, args: list[Evaluate]) -> Evaluate:
        return apply(callee, args)

    def _logical(self, node: Call) -> Evaluate:
        """Build all terms of a chain of one logical operator as one loop."""
        terms: list[Node] = []
        pending: list[Node] = [node]
        while pending:
            part = pending.pop()
            if isinstance(part, Call) and part.function == node.function:
                pending.extend(reversed(part.args))
            else:
                terms.append(part)
        return _LOGIC[node.function]([self.build(term) for term in terms])

    def _list(self, node: ListNode) -> Evaluate:
        elements = [self.build(element) for element in node.elements]
        if node.optional:
            return optional_list(elements, node.optional)
        return self.folded(lambda frame: [part(frame) for part in elements], *elements)

    def _map(self, node: MapNode) -> Evaluate:
        entries = [(self.build(e.key), self.build(e.value), e.optional) for e in node.entries]
        parts = [part for key, value, _ in entries for part in (key, value)]
        return self.folded(mapping(entries), *parts)

    def _struct(self, node: StructNode) -> Evaluate:
        fields = [
            (self.constant(init.name), self.build(init.value), init.optional)
            for init in node.fields
        ]
        return mapping(fields)

    def _comprehension(self, node: Comprehension) -> Evaluate:
        if node.fold.kind == "bind":
            return self._bind(node, self.build(node.init))
        looped = self.build(node.range)
        first = self.new_slot()
        scope: dict[str, tuple[int, Evaluate | None]] = {node.var: (first, None)}
        if node.var2:
            scope[node.var2] = (self.new_slot(), None)
        self._scopes.append(scope)
        body = self.build(node.fold.body)
        condition = self.build(node.fold.filter) if node.fold.filter else None
        self._scopes.pop()
        source = loops.Source(looped, first, has_two=bool(node.var2))
        body, condition = self._loop(node.fold.kind, body, condition)
        return loops.LOOPS[node.fold.kind](source, body, condition)

    def _loop(
        self, kind: str, body: Evaluate, condition: Evaluate | None
    ) -> tuple[Evaluate, Evaluate | None]:
        return body, condition

    def _bind(self, node: Comprehension, value: Evaluate) -> Evaluate:
        slot = self.new_slot()
        self._scopes.append({node.accu: (slot, value)})
        body = self.build(node.result)
        self._scopes.pop()

        def bind(frame: Frame) -> Value:
            frame[slot] = UNSET
            return body(frame)

        return bind

    def _optional_map(self, node: Call) -> Evaluate:
        """Build optMap and optFlatMap so that the receiver is evaluated once."""
        present, fold = node.args[0], node.fold
        assert isinstance(present, Call)
        assert present.target is not None
        assert fold is not None
        inner = fold.body
        assert isinstance(inner, Comprehension)
        target = self.build(present.target)
        slot = self.new_slot()
        self._scopes.append({inner.accu: (slot, None)})
        body = self.build(inner.result)
        self._scopes.pop()
        wraps = fold.kind == "optMap"

        def optional_map(frame: Frame) -> Value:
            found = target(frame)
            if type(found) is not Optional:
                raise EvaluationError(f"no such overload: hasValue({type_name(found)})")
            if found is NONE:
                return NONE
            frame[slot] = found.value
            return Optional(body(frame)) if wraps else body(frame)

        return optional_map


def _is_loose(kind: Type) -> bool:
    """Whether values of a static type can turn out to be of another type at run time."""
    return is_dyn(kind) or any(map(_is_loose, kind.params))


def is_text_index(node: Node) -> bool:
    """Whether a node is ``container["key"]``."""
    if not isinstance(node, Call) or node.function != "_[_]":
        return False
    key = node.args[1]
    return isinstance(key, Literal) and type(key.value) is str


def _literal(node: Node) -> Value:
    assert isinstance(node, Literal)
    return node.value
