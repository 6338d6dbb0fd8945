"""CEL's static types, which the checker infers, and the notation that declarations use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Kind(Enum):
    """What a type is; only lists, maps, types and opaque types have parameters."""

    ANY = auto()
    BOOL = auto()
    BYTES = auto()
    DOUBLE = auto()
    DURATION = auto()
    DYN = auto()
    ERROR = auto()
    INT = auto()
    LIST = auto()
    MAP = auto()
    NULL = auto()
    OPAQUE = auto()
    PARAM = auto()
    STRING = auto()
    STRUCT = auto()
    TIMESTAMP = auto()
    TYPE = auto()
    UINT = auto()


@dataclass(frozen=True, slots=True)
class Type:
    """A type; two types are the same when kind, name and parameters are."""

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"


ANY: Final = Type(Kind.ANY, "google.protobuf.Any")
BOOL: Final = Type(Kind.BOOL, "bool")
BYTES: Final = Type(Kind.BYTES, "bytes")
DOUBLE: Final = Type(Kind.DOUBLE, "double")
DURATION: Final = Type(Kind.DURATION, "google.protobuf.Duration")
DYN: Final = Type(Kind.DYN, "dyn")
ERROR: Final = Type(Kind.ERROR, "*error*")
INT: Final = Type(Kind.INT, "int")
NULL: Final = Type(Kind.NULL, "null_type")
STRING: Final = Type(Kind.STRING, "string")
TIMESTAMP: Final = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE: Final = Type(Kind.TYPE, "type")
UINT: Final = Type(Kind.UINT, "uint")

_BY_NOTATION: Final = {
    "any": ANY,
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "duration": DURATION,
    "dyn": DYN,
    "int": INT,
    "null": NULL,
    "string": STRING,
    "timestamp": TIMESTAMP,
    "type": TYPE,
    "uint": UINT,
    "net.IP": Type(Kind.OPAQUE, "net.IP"),
    "net.CIDR": Type(Kind.OPAQUE, "net.CIDR"),
}
_SPECIAL_FORMAT: Final = {
    Kind.ANY: "any",
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}
_TOKEN: Final = re.compile(r"[A-Za-z_][\w.]*|[(),]")


def list_of(element: Type) -> Type:
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def type_of(instance: Type) -> Type:
    """Return the type of a type, such as that of the identifier ``int``."""
    return Type(Kind.TYPE, "type", (instance,))


def optional_of(value: Type) -> Type:
    return Type(Kind.OPAQUE, "optional_type", (value,))


def struct(name: str) -> Type:
    """Return the type of objects with declared fields, or of Kubernetes' own values."""
    return Type(Kind.STRUCT, name)


def param(name: str) -> Type:
    return Type(Kind.PARAM, name)


def is_dyn(subject: Type) -> bool:
    return subject.kind in (Kind.DYN, Kind.ANY)


def is_optional(subject: Type) -> bool:
    return subject.kind is Kind.OPAQUE and subject.name == "optional_type"


def unwrapped(subject: Type) -> tuple[Type, bool]:
    """Return the value type of an optional and True, or the type itself and False."""
    return (subject.params[0], True) if is_optional(subject) else (subject, False)


def describe(subject: Type) -> str:
    """Write a type as the checker's messages do."""
    special = _SPECIAL_FORMAT.get(subject.kind)
    if special is not None:
        return special
    if not subject.params:
        return subject.name
    return f"{subject.name}({', '.join(map(describe, subject.params))})"


def parse_type(text: str) -> Type:
    """Read a type from a declaration, such as ``list(T)`` or ``optional(kubernetes.URL)``."""
    tokens = _TOKEN.findall(text)
    found = _read(tokens)
    if tokens:
        raise ValueError(f"not a CEL type: {text!r}")
    return found


def _read(tokens: list[str]) -> Type:
    name = tokens.pop(0)
    params: list[Type] = []
    if tokens and tokens[0] == "(":
        while tokens.pop(0) != ")":
            params.append(_read(tokens))
    match name, params:
        case "list", [element]:
            return list_of(element)
        case "map", [key, value]:
            return map_of(key, value)
        case "optional", [value]:
            return optional_of(value)
        case "type", [instance]:
            return type_of(instance)
        case _ if len(name) == 1:
            return param(name)
    return _BY_NOTATION.get(name) or struct(name)
