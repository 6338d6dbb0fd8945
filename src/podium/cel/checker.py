"""Infer the type of every part of an expression, and choose the overloads of its calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from podium.cel import types
from podium.cel.environment import Environment, Function, Overload
from podium.cel.issues import Issue, Issues
from podium.cel.syntax import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
    StructNode,
)
from podium.cel.types import Kind, Type, describe, is_dyn, unwrapped
from podium.cel.unify import Bindings, most_general
from podium.cel.values import type_of

_LOGICAL: Final = frozenset(("_&&_", "_||_"))


@dataclass(slots=True)
class Checked:
    """An expression with what the checker found out about its nodes.

    ``names`` has the variable or type that a node names, for a dotted name on the outermost select.
    ``overloads`` has the overloads that a call may reach, ``functions`` the function itself. A call
    such as ``strings.quote(x)`` looks like a member call; those that are not are ``namespaced``.
    """

    root: Node
    types: dict[Node, Type] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)
    overloads: dict[Node, tuple[Overload, ...]] = field(default_factory=dict)
    functions: dict[Node, Function] = field(default_factory=dict)
    namespaced: set[Node] = field(default_factory=set)

    @property
    def output(self) -> Type:
        return self.types[self.root]


def check(root: Node, environment: Environment) -> Checked:
    """Return the checked expression; raise ``Issues`` with everything that is wrong."""
    checker = _Checker(root, environment)
    checker.check(root)
    if checker.issues:
        raise Issues(tuple(checker.issues))
    checked = checker.checked
    for node, found in checked.types.items():
        checked.types[node] = checker.bindings.resolve(found, unbound_to_dyn=True)
    return checked


class _Checker:
    def __init__(self, root: Node, environment: Environment) -> None:
        self.checked = Checked(root)
        self.issues: list[Issue] = []
        self.bindings = Bindings()
        self._environment = environment
        self._scopes: list[dict[str, Type]] = []

    def check(self, node: Node) -> Type:
        known = self.checked.types.get(node)
        if known is None:
            known = self.checked.types[node] = self._infer(node)
        return known

    def _infer(self, node: Node) -> Type:
        match node:
            case Literal():
                return type_of(node.value)
            case Ident():
                return self._ident(node)
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

    def _wrong(self, node: Node, message: str) -> Type:
        self.issues.append(Issue(node.position, message))
        return types.ERROR

    def _mismatch(self, node: Node, expected: Type, found: Type) -> Type:
        return self._wrong(
            node, f"expected type '{describe(expected)}' but found '{describe(found)}'"
        )

    def _undeclared(self, node: Node, name: str) -> Type:
        container = self._environment.container
        return self._wrong(node, f"undeclared reference to '{name}' (in container '{container}')")

    def _candidates(self, name: str) -> list[str]:
        """Return the full names that a name may stand for, the innermost container first."""
        if name.startswith("."):
            return [name[1:]]
        prefix, found = self._environment.container, []
        while prefix:
            found.append(f"{prefix}.{name}")
            prefix = prefix.rpartition(".")[0]
        return [*found, name]

    def _resolve(self, name: str, node: Node) -> Type | None:
        """Return the type of a variable or of the name of a type."""
        if not name.startswith("."):
            for scope in reversed(self._scopes):
                if name in scope:
                    self.checked.names[node] = name
                    return scope[name]
        for candidate in self._candidates(name):
            found = self._environment.variables.get(candidate)
            named = self._environment.types.get(candidate)
            if found is None and named is not None:
                found = types.type_of(named)
            if found is not None:
                self.checked.names[node] = "." + candidate
                return found
        return None

    def _ident(self, node: Ident) -> Type:
        found = self._resolve(node.name, node)
        return found if found is not None else self._undeclared(node, node.name)

    def _select(self, node: Select) -> Type:
        names = None if node.test_only else _qualifiers(node)
        if names is not None and not self._is_local(names[0]):
            found = self._resolve(".".join(names), node)
            if found is not None:
                return found
        result = self._field(node, node.operand, node.field, is_optional=False)
        return types.BOOL if node.test_only else result

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)

    def _field(self, node: Node, operand: Node, name: str, is_optional: bool) -> Type:
        target, was_optional = unwrapped(self.bindings.resolve(self.check(operand)))
        match target.kind:
            case Kind.MAP:
                result = target.params[1]
            case Kind.STRUCT:
                result = self._declared_field(node, target.name, name)
            case Kind.PARAM:
                self.bindings.assignable((types.DYN,), (target,))
                result = types.DYN
            case _:
                if not is_dyn(target) and target.kind is not Kind.ERROR:
                    kind = describe(target)
                    self._wrong(node, f"type '{kind}' does not support field selection")
                result = types.DYN
        if is_optional or was_optional:
            result = types.optional_of(result)
        return self.bindings.resolve(result)

    def _declared_field(self, node: Node, type_name: str, name: str) -> Type:
        fields = self._environment.objects.get(type_name)
        if fields is None:
            return self._wrong(node, f"unexpected failed resolution of '{type_name}'")
        if name not in fields:
            return self._wrong(node, f"undefined field '{name}'")
        return fields[name]

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            self.checked.functions[node] = self._environment.functions[node.function]
            self.checked.overloads[node] = self.checked.functions[node].overloads
            key = node.args[1]
            assert isinstance(key, Literal)
            self.checked.types[key] = types.STRING
            return self._field(node, node.args[0], key.value, is_optional=True)
        for arg in node.args:
            self.check(arg)
        if node.target is None:
            found = self._function(node.function)
            return self._resolved(node, found, None, node.function)
        names = _qualifiers(node.target)
        if names is not None:
            full = ".".join((*names, node.function))
            found = self._function(full)
            if found is not None:
                self.checked.namespaced.add(node)
                return self._resolved(node, found, None, full)
        self.check(node.target)
        return self._resolved(node, self._function(node.function), node.target, node.function)

    def _function(self, name: str) -> Function | None:
        for candidate in self._candidates(name):
            if candidate in self._environment.functions:
                return self._environment.functions[candidate]
        return None

    def _resolved(self, node: Call, found: Function | None, target: Node | None, name: str) -> Type:
        if found is None:
            return self._undeclared(node, name)
        self.checked.functions[node] = found
        if found.name in _LOGICAL:
            return self._logical(node, found)
        args = [self.checked.types[part] for part in (*([target] if target else []), *node.args)]
        result: Type | None = None
        reached: list[Overload] = []
        for overload in found.overloads:
            if overload.is_member is not (target is not None):
                continue
            matched = self._match(overload, args)
            if matched is None:
                continue
            reached.append(overload)
            if result is None:
                result = matched
            elif not is_dyn(result) and matched != result:
                result = types.DYN
        self.checked.overloads[node] = tuple(reached)
        return result if result is not None else self._no_overload(node, found.name, args)

    def _match(self, overload: Overload, args: list[Type]) -> Type | None:
        """Return the result of an overload for these arguments, or None if they do not fit."""
        renamed: dict[Type, Type] = {}
        params = [self._fresh(part, renamed) for part in overload.args]
        if not self.bindings.assignable(args, params):
            return None
        return self.bindings.resolve(self._fresh(overload.result, renamed))

    def _fresh(self, declared: Type, renamed: dict[Type, Type]) -> Type:
        """Replace the type variables of a declaration by unused ones."""
        if declared.kind is Kind.PARAM:
            if declared not in renamed:
                renamed[declared] = self.bindings.fresh()
            return renamed[declared]
        if not declared.params:
            return declared
        params = tuple(self._fresh(part, renamed) for part in declared.params)
        return Type(declared.kind, declared.name, params)

    def _logical(self, node: Call, found: Function) -> Type:
        self.checked.overloads[node] = found.overloads
        result = types.BOOL
        for arg in node.args:
            kind = self.checked.types[arg]
            if not self.bindings.assignable((kind,), (types.BOOL,)):
                result = self._mismatch(arg, types.BOOL, kind)
        return result

    def _no_overload(self, node: Call, name: str, args: list[Type]) -> Type:
        shown = [describe(self.bindings.resolve(arg, unbound_to_dyn=True)) for arg in args]
        is_member = node.target is not None and node not in self.checked.namespaced
        receiver = f"{shown.pop(0)}." if is_member else ""
        signature = f"{receiver}({', '.join(shown)})"
        return self._wrong(
            node, f"found no matching overload for '{name}' applied to '{signature}'"
        )

    def _element(self, node: Node, is_optional: bool) -> Type:
        found = self.check(node)
        if not is_optional:
            return found
        inner, was_optional = unwrapped(self.bindings.resolve(found))
        if not was_optional and not is_dyn(inner):
            self._mismatch(node, types.optional_of(inner), inner)
        return inner

    def _joined(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        if self.bindings.assignable((previous,), (current,)):
            return most_general(previous, current)
        # Whether types may be mixed is for the validators to say.
        return types.DYN

    def _list(self, node: ListNode) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            joined = self._joined(joined, self._element(element, index in node.optional))
        return types.list_of(joined if joined is not None else self.bindings.fresh())

    def _map(self, node: MapNode) -> Type:
        keys: Type | None = None
        items: Type | None = None
        for entry in node.entries:
            keys, items = self._entry(entry, keys, items)
        if keys is None or items is None:
            return types.map_of(self.bindings.fresh(), self.bindings.fresh())
        return types.map_of(keys, items)

    def _entry(self, entry: Entry, keys: Type | None, items: Type | None) -> tuple[Type, Type]:
        keys = self._joined(keys, self.check(entry.key))
        return keys, self._joined(items, self._element(entry.value, entry.optional))

    def _struct(self, node: StructNode) -> Type:
        names = (
            name for name in self._candidates(node.type_name) if name in self._environment.objects
        )
        name = next(names, None)
        for init in node.fields:
            self.check(init.value)
        if name is None:
            return self._not_an_object(node)
        self.checked.names[node] = name
        for init in node.fields:
            declared = self._environment.objects[name].get(init.name)
            given = self._element(init.value, init.optional)
            if declared is None:
                self.issues.append(Issue(init.position, f"undefined field '{init.name}'"))
            elif not self.bindings.assignable((declared,), (given,)):
                message = (
                    f"expected type of field '{init.name}' is '{describe(declared)}' "
                    f"but provided type is '{describe(given)}'"
                )
                self.issues.append(Issue(init.position, message))
        return types.struct(name)

    def _not_an_object(self, node: StructNode) -> Type:
        for name in self._candidates(node.type_name):
            if name in self._environment.types:
                return self._wrong(node, f"'{name}' is not a message type")
        return self._undeclared(node, node.type_name)

    def _comprehension(self, node: Comprehension) -> Type:
        looped = self.bindings.resolve(self.check(node.range))
        accu = self.check(node.init)
        self._scopes.append({node.accu: accu})
        first, second = self._loop_types(node, looped)
        self._scopes.append({node.var: first} | ({node.var2: second} if node.var2 else {}))
        self._assert(node.condition, types.BOOL)
        self._assert(node.step, accu)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self.bindings.resolve(result)

    def _loop_types(self, node: Comprehension, looped: Type) -> tuple[Type, Type]:
        match looped.kind:
            case Kind.LIST:
                element = looped.params[0]
                return (types.INT, element) if node.var2 else (element, element)
            case Kind.MAP:
                return looped.params[0], looped.params[1]
            case Kind.DYN | Kind.ERROR | Kind.PARAM:
                self.bindings.assignable((types.DYN,), (looped,))
                return types.DYN, types.DYN
        self._wrong(
            node.range,
            f"expression of type '{describe(looped)}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
        )
        return types.ERROR, types.ERROR

    def _assert(self, node: Node, expected: Type) -> None:
        found = self.check(node)
        if not self.bindings.assignable((expected,), (found,)):
            self._mismatch(node, expected, found)


def _qualifiers(node: Node) -> list[str] | None:
    """Return the parts of a dotted name, or None if the node is not one."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    return [node.name, *reversed(names)] if isinstance(node, Ident) else None
