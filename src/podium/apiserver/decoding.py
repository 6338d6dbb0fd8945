"""Turn request bodies into objects: JSON or YAML into dicts, and those into what the schema knows.

As in kube-apiserver, a wrong type is a 400 and an unknown field is dropped. The caller decides by
`fieldValidation` whether an unknown field is an error, a warning or ignored.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import msgspec

from podium.api import quantity
from podium.api.manifests import checked_text, documents
from podium.api.times import parse_time
from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.schemas import ANYTHING, Schema
from podium.apiserver.statuses import Json
from podium.errors import InvalidQuantity, InvalidTime, PodiumError

# Far deeper than any Kubernetes object; deeper ones would exhaust the stack of the walks below.
MAX_DEPTH = 150
_UNKNOWN_SHOWN = 50

Path = tuple[str, ...]

_INTEGERS = {"int32": range(-(2**31), 2**31)}
_INT64 = range(-(2**63), 2**63)


# The type that a server first decodes a body into, as Go prints it.
_TYPE_ONLY = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


class _Mismatch(Exception):
    """A value of the wrong type, described in the words of Go's decoder."""

    def __init__(self, message: str, path: Path = (), go_type: str = "") -> None:
        super().__init__(message)
        self._path = path
        self._type = go_type

    def message(self, root: Schema) -> str:
        if not self._type:
            return str(self)
        return f"{self} into Go struct field {_go_field(root, self._path)} of type {self._type}"


class NotJson(Exception):
    """The text is not JSON. The caller words the refusal."""


def read_json(body: bytes) -> Any:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        is_cut_off = "truncated" in str(error)
        raise NotJson("unexpected end of JSON input" if is_cut_off else str(error)) from None
    check_depth(value)
    return value


def parse_json(body: bytes, kind: str) -> Json:
    """Return the body of a request as plain values; ``kind`` is the expected kind, for messages."""
    try:
        value = read_json(body)
    except NotJson as error:
        raise unrecognized(kind, f"{_NO_KIND}: {error}") from None
    return _recognized(value, kind, body)


def parse_yaml(body: bytes, kind: str, read: YamlReader) -> Json:
    try:
        value = read(body)
    except NotYaml as error:
        raise unrecognized(kind, str(error)) from None
    return _recognized(value, kind, body)


_NO_KIND = "couldn't get version/kind; json parse error"
_SHOWN_OF_A_BODY = 30


def _recognized(value: Any, kind: str, body: bytes) -> Json:
    if not isinstance(value, dict | None):
        why = f"json: cannot unmarshal {got(value)} into Go value of type {_TYPE_ONLY}"
        raise unrecognized(kind, f"{_NO_KIND}: {why}")
    found: Json = value or {}
    version = found.get("apiVersion")
    if isinstance(version, str) and version.count("/") > 1:
        shown = f"{body[:_SHOWN_OF_A_BODY].decode(errors='replace')} ..."
        raise unrecognized(kind, f"unexpected GroupVersion string: {version} ({shown})")
    return found


def unrecognized(kind: str, why: str) -> statuses.Refusal:
    if kind == "DeleteOptions":  # it has no kind that a message could name
        return statuses.bad_request(why)
    about = f"the object provided is unrecognized (must be of type {kind})"
    return statuses.bad_request(f"{about}: {why}")


YamlReader = Callable[[bytes], Any]


class NotYaml(Exception):
    """The text is not YAML, or holds several documents."""


def read_yaml(body: bytes) -> Any:
    try:
        found = documents(checked_text(body))
    except PodiumError as error:
        raise NotYaml(f"yaml: {error}") from None
    if len(found) > 1:
        raise NotYaml("yaml: more than one document")
    return found[0] if found else None


def check_depth(value: Any) -> None:
    """Refuse a value that is nested too deep. Works level by level, without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        if not below:
            return
        level = below
    raise statuses.bad_request("json: exceeded max depth")


def conform(kind: ApiKind, obj: Any) -> tuple[Json, list[str]]:
    """Return the object with its known fields only, and the paths of the unknown ones."""
    if not isinstance(obj, dict):
        raise Undecodable(
            kind, f"json: cannot unmarshal {got(obj)} into Go value of type v1.{kind.kind}"
        )
    walk = _Walk(lenient=kind.custom)
    try:
        found = walk.object(kind.schema, obj, ())
    except _Mismatch as error:
        raise Undecodable(kind, error.message(kind.schema)) from None
    for name in ("apiVersion", "kind"):
        if name in obj:
            found[name] = obj[name]
    return found, walk.unknown[:_UNKNOWN_SHOWN]


def conform_options(schema: Schema, raw: Json) -> Json:
    """Return the options in a request's body with their types checked, without unknown ones."""
    try:
        return _Walk(lenient=False).object(schema, raw, ())
    except _Mismatch as error:
        raise statuses.bad_request(error.message(schema)) from None


class Undecodable(statuses.Refusal):
    """The object does not fit its kind; ``why`` is the decoder's message."""

    def __init__(self, kind: ApiKind, why: str) -> None:
        message = (
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {why}'
        )
        super().__init__(400, statuses.BAD_REQUEST, message)
        self.why = why


class _Walk:
    """One pass over an object that checks types and drops nulls and unknown fields."""

    def __init__(self, lenient: bool) -> None:
        self._lenient = (
            lenient  # types of custom objects are checked later, together with their limits
        )
        self.unknown: list[str] = []

    def value(self, schema: Schema, value: Any, path: Path) -> Any:
        try:
            return self._value(schema, value, path)
        except _Mismatch:
            if self._lenient and path[0] != "metadata":
                return value
            raise

    def _value(self, schema: Schema, value: Any, path: Path) -> Any:
        match schema.type:
            case "any":
                return value
            case "object":
                if not isinstance(value, dict):
                    raise _mismatch(schema, value, path)
                return self.object(schema, value, path)
            case "array":
                return self.array(schema, value, path)
            case _:
                return _scalar(schema, value, path)

    def object(self, schema: Schema, obj: Json, path: Path) -> Json:
        found: Json = {}
        for name, value in obj.items():
            below = schema.child(name)
            if below is None:
                if not (schema.embedded and name in ("apiVersion", "kind", "metadata")):
                    self.unknown.append(".".join((*path, name)))
                    continue
                found[name] = value
            elif value is None and not below.nullable and below.type != "any":
                if name not in schema.properties:
                    found[name] = _zero(below)
            else:
                found[name] = self.value(below, value, (*path, name))
        return found

    def array(self, schema: Schema, value: Any, path: Path) -> list[Any]:
        if not isinstance(value, list):
            raise _mismatch(schema, value, path)
        element = schema.element
        *front, last = path or ("",)
        return [
            _zero(element)
            if one is None and element.type != "any"
            else self.value(element, one, (*front, f"{last}[{index}]"))
            for index, one in enumerate(value)
        ]


def _scalar(schema: Schema, value: Any, path: Path) -> Any:
    if schema.type == "string":
        return _string(schema, value, path)
    if schema.type == "quantity":
        return _quantity(value)
    if not _is_of_type(schema, value):
        raise _mismatch(schema, value, path)
    return value


def _is_of_type(schema: Schema, value: Any) -> bool:
    if isinstance(value, bool):
        return schema.type == "boolean"
    match schema.type:
        case "integer":
            return isinstance(value, int) and value in _INTEGERS.get(schema.format, _INT64)
        case "number":
            return isinstance(value, int | float)
        case "int-or-string":
            return isinstance(value, int | str)
        case _:
            return False


def _string(schema: Schema, value: Any, path: Path) -> str:
    if not isinstance(value, str):
        raise _mismatch(schema, value, path)
    if schema.format == "date-time":
        try:
            parse_time(value)
        except InvalidTime:
            layout = "2006-01-02T15:04:05Z07:00"
            message = f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"'
            raise _Mismatch(message) from None
    elif schema.format == "byte":
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise _Mismatch("illegal base64 data at input byte 0") from None
    return value


def _quantity(value: Any) -> str:
    """Return a quantity in the form in which a server stores it: ``1000m`` becomes ``1``."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        value = got(value)  # not a quantity: refused with the same message
    try:
        return quantity.canonical(value)
    except InvalidQuantity as error:
        raise _Mismatch(str(error)) from None


def _zero(schema: Schema) -> Any:
    """Return what Go's decoder makes of a null inside a list or a map."""
    return {"object": {}, "array": [], "string": "", "boolean": False}.get(schema.type, 0)


def _mismatch(schema: Schema, value: Any, path: Path) -> _Mismatch:
    go_type = "types.UID" if path[-1:] == ("uid",) else _go(schema)
    return _Mismatch(f"json: cannot unmarshal {got(value)}", path, go_type)


def _go_field(root: Schema, path: Path) -> str:
    """Return a field as Go names it: its type, then the names without indexes and keys."""
    owner, names, schema = root, [], root
    for part in path:
        name = part.partition("[")[0]
        if schema.properties:
            owner = schema
            names.append(name)
        schema = schema.child(name) or ANYTHING
        schema = schema.element if "[" in part else schema
    return ".".join([owner.name.rpartition(".")[2], *names])


def got(value: Any) -> str:
    """Return the type of a value in the words of Go's decoder."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return f"number {value}" if isinstance(value, float) else "number"
        case str():
            return "string"
        case list():
            return "array"
        case None:
            return "null"
        case _:
            return "object"


def _go(schema: Schema) -> str:
    match schema.type:
        case "array":
            return f"[]{_go(schema.element)}"
        case "object":
            if schema.name:
                *_, version, kind = schema.name.split(".")
                return f"{version}.{kind}"
            return f"map[string]{_go(schema.additional) if schema.additional else 'interface {}'}"
        case "integer":
            return schema.format or "int64"
        case "boolean":
            return "bool"
        case other:
            return other
