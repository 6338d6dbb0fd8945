"""Estimate what an expression can cost at most, exactly as kube-apiserver does.

The estimate decides whether an expression is accepted, so its oddities matter: each rule here has
its counterpart in cel-go's checker or in Kubernetes' libraries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from podium.cel import types
from podium.cel.call_costs import CALLS, OVERLOADS, Argument, Estimate
from podium.cel.checker import Checked
from podium.cel.environment import Environment
from podium.cel.ranges import (
    LIST_COST,
    MAP_COST,
    NOTHING,
    ONE,
    STRUCT_COST,
    UNKNOWN,
    Range,
    exactly,
)
from podium.cel.syntax import (
    ACCUMULATOR,
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
from podium.cel.types import Kind
from podium.cel.values import MAX_UINT

_SCALARS: Final = frozenset(
    (Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT)
)
# Only fields of these are counted.
COUNTED: Final = frozenset((Kind.MAP, Kind.STRUCT, Kind.PARAM))
_NO_SIZE: Final = Range(MAX_UINT, 0)

Path = tuple[str, ...]


class _Entry(NamedTuple):
    """The sizes of the keys and elements of a list or map."""

    kind: Kind
    key: Range
    value: Range


@dataclass(frozen=True, slots=True)
class _Local:
    path: Path
    size: Range | None
    entry: _Entry | None


@dataclass(slots=True)
class _Known:
    """What has been found out about nodes so far."""

    costs: dict[Node, Range] = field(default_factory=dict)
    paths: dict[Node, Path] = field(default_factory=dict)
    sizes: dict[Node, Range] = field(default_factory=dict)
    entries: dict[Node, _Entry] = field(default_factory=dict)


def estimate(checked: Checked, environment: Environment) -> Range:
    """Return the lowest and highest cost of a checked expression."""
    return _Estimator(checked, environment).cost(checked.root)


class _Estimator:
    def __init__(self, checked: Checked, environment: Environment) -> None:
        self._checked = checked
        self._environment = environment
        self._known = _Known()
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> Range:
        found = self._known.costs.get(node)
        if found is None:
            found = self._known.costs[node] = self._cost(node)
        return found

    def _cost(self, node: Node) -> Range:
        match node:
            case Literal():
                return NOTHING
            case Ident():
                return self._ident(node, node.name)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case StructNode():
                parts = [self.cost(init.value) for init in node.fields]
                return _total(parts).plus(exactly(STRUCT_COST))
            case Comprehension():
                return self._bind(node) if node.fold.kind == "bind" else self._loop(node)

    def _local(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _ident(self, node: Node, name: str) -> Range:
        local = self._local(name)
        self._known.paths[node] = local.path if local else (name.removeprefix("."),)
        return ONE

    def _select(self, node: Select) -> Range:
        if node in self._checked.names:
            return self._ident(node, self._checked.names[node])
        operand = self.cost(node.operand)
        if node.test_only:
            # Kubernetes keeps has() free, as it was in old releases of cel-go.
            return operand
        self._known.paths[node] = (*self._path(node.operand), node.field)
        counted = self._checked.types[node.operand].kind in COUNTED
        return operand.plus(ONE) if counted else operand

    def _path(self, node: Node) -> Path:
        if isinstance(node, Ident):
            local = self._local(node.name)
            if local is not None:
                return local.path
        return self._known.paths.get(node, ())

    def _size(self, node: Node) -> Range | None:
        known = self._known.sizes.get(node)
        if known is None:
            known = _literal_size(node)
        if known is not None:
            return known
        declared = self._declared(self._path(node))
        if declared is not None:
            self._known.sizes[node] = declared
            return declared
        if _is_scalar(self._checked.types[node]):
            return ONE
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.size if local else None

    def _size_or_unknown(self, node: Node) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _declared(self, path: Path) -> Range | None:
        """Return the size that the environment declares for what a path leads to."""
        if not path:
            return None
        environment = self._environment
        shape = environment.shapes.get(path[0], environment.default_shape)
        for name in path[1:]:
            if shape is None:
                return None
            if name in ("@items", "@values"):
                shape = shape.element
            elif name == "@keys":
                shape = shape.key
            else:
                fallback = shape.element if shape.selects_elements else None
                shape = shape.fields.get(name, fallback)
        return None if shape is None else Range(0, shape.max_size)

    def _entry(self, node: Node) -> _Entry | None:
        known = self._known.entries.get(node)
        if known is None and isinstance(node, Ident):
            local = self._local(node.name)
            known = local.entry if local else None
        return known

    def _argument(self, node: Node) -> Argument:
        path = self._path(node)
        if path and path[0] == ACCUMULATOR:
            path = ()
        size = self._size(node)
        return Argument(self._checked.types[node], path, size, node, self._declared)

    def _call(self, node: Call) -> Range:
        if node.function == "dyn" and node not in self._checked.namespaced:
            return self._dyn(node)
        costs = [self.cost(arg) for arg in node.args]
        args = [self._argument(arg) for arg in node.args]
        overloads = self._checked.overloads.get(node, ())
        total, target = NOTHING, None
        if node.target is not None and node not in self._checked.namespaced:
            total = self.cost(node.target)
            target = self._argument(node.target)
        found, size = _NO_SIZE, None
        for overload in overloads:
            call = self._overload(node, overload.id, target, args)
            call_cost = (
                call.cost.plus(_total(costs)) if call.adds_arguments else self._lazy(node, costs)
            )
            found = found.union(call_cost)
            if call.size is not None:
                size = call.size if size is None else size.union(call.size)
            size = self._indexed(node, overload.id, size)
            if size is None:
                size = self._size(node)
        if size is not None:
            self._known.sizes[node] = size
        return total.plus(found) if overloads else NOTHING

    def _dyn(self, node: Call) -> Range:
        cost = self.cost(node.args[0])
        self._copy_sizes(node, node.args[0])
        return cost.plus(ONE)

    def _copy_sizes(self, target: Node, source: Node) -> None:
        size, entry = self._size(source), self._entry(source)
        if size is not None:
            self._known.sizes[target] = size
        if entry is not None:
            self._known.entries[target] = entry

    def _indexed(self, node: Call, overload: str, size: Range | None) -> Range | None:
        if overload not in ("index_list", "index_map"):
            return size
        step = "@items" if overload == "index_list" else "@values"
        entry = self._entry(node.args[0])
        self._known.paths[node] = (*self._path(node.args[0]), step)
        return entry.value if entry else None

    def _overload(
        self, node: Call, overload: str, target: Argument | None, args: list[Argument]
    ) -> Estimate:
        self._pass_entries(node, overload)
        name = self._checked.functions[node].name
        for table, key in ((OVERLOADS, overload), (CALLS, name), (OVERLOADS, f"?{overload}")):
            rule = table.get(key)
            found = rule(overload, target, args) if rule else None
            if found is not None:
                return found
        return Estimate(ONE)

    def _pass_entries(self, node: Call, overload: str) -> None:
        """Let a choice or concatenation have the element sizes of its parts."""
        if overload == "conditional":
            parts = node.args[1:]
        elif overload in ("add_string", "add_bytes", "add_list"):
            parts = node.args
        else:
            return
        left, right = (self._entry(part) for part in parts)
        if left is not None and right is not None:
            joined = _Entry(left.kind, left.key.union(right.key), left.value.union(right.value))
            self._known.entries[node] = joined

    def _lazy(self, node: Call, costs: list[Range]) -> Range:
        """Return the cost of a logical operator or choice, which may skip arguments."""
        if node.function == "_?_:_":
            return costs[0].plus(costs[1].union(costs[2]))
        return Range(costs[0].low, costs[0].plus(costs[1]).high)

    def _list(self, node: ListNode) -> Range:
        sizes = _NO_SIZE if node.elements else Range(0, 0)
        total = exactly(LIST_COST)
        for element in node.elements:
            total = total.plus(self.cost(element))
            sizes = sizes.union(self._size_or_unknown(element))
        self._known.entries[node] = _Entry(Kind.LIST, ONE, sizes)
        return total

    def _map(self, node: MapNode) -> Range:
        keys = items = _NO_SIZE if node.entries else Range(0, 0)
        total = exactly(MAP_COST)
        for entry in node.entries:
            total = total.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            keys = keys.union(self._size_or_unknown(entry.key))
            items = items.union(self._size_or_unknown(entry.value))
        self._known.entries[node] = _Entry(Kind.MAP, keys, items)
        return total

    def _bind(self, node: Comprehension) -> Range:
        total = self.cost(node.range).plus(self.cost(node.init))
        self._push_value(node.accu, node.init)
        total = total.plus(self.cost(node.result))
        self._locals[node.accu].pop()
        self._copy_sizes(node, node.result)
        return total

    def _push_value(self, name: str, node: Node) -> None:
        self._push(name, _Local(self._path(node), self._size(node), self._entry(node)))

    def _loop(self, node: Comprehension) -> Range:
        total = self.cost(node.range).plus(self.cost(node.init))
        self._push_value(node.accu, node.init)
        self._push_variables(node)
        step = self.cost(node.condition).plus(self.cost(node.step))
        for name in filter(None, (node.var, node.var2)):
            self._locals[name].pop()
        total = total.plus(self.cost(node.result))
        self._locals[node.accu].pop()
        count = self._size_or_unknown(node.range)
        self._set_loop_size(node, count)
        return total.plus(count.times(step))

    def _set_loop_size(self, node: Comprehension, count: Range) -> None:
        if isinstance(node.init, Literal):
            size = self._size(node.init)
            assert size is not None
            self._known.sizes[node] = size
        elif isinstance(node.init, (ListNode, MapNode)):
            self._known.sizes[node] = count
            entry = self._entry(node.step)
            if entry is not None:
                self._known.entries[node] = entry

    def _push_variables(self, node: Comprehension) -> None:
        entry, path = self._entry(node.range), self._path(node.range)
        is_list = (entry.kind if entry else self._checked.types[node.range].kind) is Kind.LIST
        keys, elements = entry.key if entry else None, entry.value if entry else None
        if node.var2:
            first = "@indices" if is_list else "@keys"
            self._push(node.var, _Local((*path, first), keys, None))
            second = "@items" if is_list else "@values"
            self._push(node.var2, _Local((*path, second), elements, None))
        elif is_list:
            self._push(node.var, _Local((*path, "@items"), elements, None))
        else:
            self._push(node.var, _Local((*path, "@keys"), keys, None))


def _total(costs: list[Range]) -> Range:
    total = NOTHING
    for cost in costs:
        total = total.plus(cost)
    return total


def _literal_size(node: Node) -> Range | None:
    match node:
        case Literal():
            return exactly(len(node.value) if isinstance(node.value, (str, bytes)) else 1)
        case ListNode():
            return exactly(len(node.elements))
        case MapNode():
            return exactly(len(node.entries))
    return None


def _is_scalar(subject: types.Type) -> bool:
    value, is_optional = types.unwrapped(subject)
    return _is_scalar(value) if is_optional else subject.kind in _SCALARS
