"""What an expression may refer to: variables, objects with fields, functions and macros.

An environment is a value: the libraries of this package are merged into one, and a caller adds its
variables. Declarations are written in a short notation, such as ``string.(int) -> string`` for a
member function and ``(string, bool) -> bool`` for a global one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from podium.cel import types, values
from podium.cel.macros import STANDARD, Macros
from podium.cel.types import Kind, Type
from podium.cel.values import Value

Implementation = Callable[..., Value]


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; ``args`` starts with the receiver of a member function."""

    id: str
    is_member: bool
    args: tuple[Type, ...]
    result: Type
    implementation: Implementation | None = field(default=None, repr=False)

    def accepts(self, args: tuple[Value, ...]) -> bool:
        """Whether values of unknown type fit this signature at run time."""
        return len(args) == len(self.args) and all(map(fits, args, self.args))


@dataclass(frozen=True, slots=True)
class Function:
    """A function and its overloads; an operator has one implementation for all of them."""

    name: str
    overloads: tuple[Overload, ...]
    operator: Implementation | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """The largest size of a value, for estimates of costs."""

    max_size: int
    key: Shape | None = None
    element: Shape | None = None
    fields: Mapping[str, Shape] = field(default_factory=dict)
    # Whether a name that is not a field, such as ``map.name``, selects an element.
    selects_elements: bool = False


@dataclass(frozen=True, slots=True)
class Library:
    """Functions, macros and named types that belong together."""

    functions: tuple[Function, ...] = ()
    macros: Macros = field(default_factory=dict)
    types: Mapping[str, Type] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Environment:
    """All declarations that one kind of expression is compiled with."""

    functions: Mapping[str, Function] = field(default_factory=dict)
    macros: Macros = field(default_factory=lambda: dict(STANDARD))
    types: Mapping[str, Type] = field(default_factory=dict)
    variables: Mapping[str, Type] = field(default_factory=dict)
    objects: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    # The shape of everything that has none of its own, as in custom resource definitions.
    default_shape: Shape | None = None
    container: str = ""
    # Kubernetes refuses lists and maps of mixed types, and literals that cannot be converted.
    is_strict: bool = True
    # Whether names may be written in backquotes, as since 1.37.
    has_quoted_names: bool = True

    def with_libraries(self, *libraries: Library) -> Environment:
        functions, macros, named = dict(self.functions), dict(self.macros), dict(self.types)
        for library in libraries:
            macros.update(library.macros)
            named.update(library.types)
            for function in library.functions:
                functions[function.name] = _merged(functions.get(function.name), function)
        return replace(self, functions=functions, macros=macros, types=named)

    def with_variables(self, variables: Mapping[str, Type]) -> Environment:
        return replace(self, variables={**self.variables, **variables})


def _merged(old: Function | None, new: Function) -> Function:
    if old is None:
        return new
    ids = {overload.id for overload in new.overloads}
    kept = tuple(overload for overload in old.overloads if overload.id not in ids)
    return Function(new.name, kept + new.overloads, new.operator or old.operator)


def overload(
    identifier: str, signature: str, implementation: Implementation | None = None
) -> Overload:
    """Declare an overload, such as ``overload("size_list", "(list(A)) -> int", len)``."""
    left, _, result = signature.partition(" -> ")
    receiver, dot, rest = left.rpartition(".(") if ".(" in left else ("", "", left[1:])
    args = [receiver] if dot else []
    args += _arguments(rest.removesuffix(")"))
    parsed = tuple(map(types.parse_type, args))
    return Overload(identifier, bool(dot), parsed, types.parse_type(result), implementation)


def _arguments(text: str) -> list[str]:
    """Split at the commas that are not inside parentheses."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()] if text else []


def function(name: str, *overloads: Overload, operator: Implementation | None = None) -> Function:
    return Function(name, overloads, operator)


def library(
    *functions: Function,
    macros: Macros | None = None,
    named: Mapping[str, Type] | None = None,
) -> Library:
    """Return a library of functions, macros and types that expressions can name."""
    return Library(functions, macros or {}, named or {})


def fits(value: Value, declared: Type) -> bool:
    """Whether a value may be passed for a declared type, as far as run time tells."""
    match declared.kind:
        case Kind.DYN | Kind.ANY | Kind.PARAM:
            return True
        case Kind.LIST:
            return isinstance(value, list) and (not value or fits(value[0], declared.params[0]))
        case Kind.MAP:
            return isinstance(value, dict)
        case Kind.STRUCT | Kind.OPAQUE:
            return values.type_of(value).name == declared.name
    return values.type_of(value).kind is declared.kind


def same_for(names: Iterable[str], declare: Callable[[str], Overload]) -> tuple[Overload, ...]:
    """Declare one overload for each of several types."""
    return tuple(declare(name) for name in names)
