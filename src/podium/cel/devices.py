"""Selectors of devices: the expressions in device classes and in requests of resource claims.

A selector depends on the device alone, so it is evaluated once per device when a slice changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from podium.cel import types
from podium.cel.attribute_reads import attributes_read
from podium.cel.closures import Evaluate
from podium.cel.compilation import compile_expression
from podium.cel.environment import Environment, Shape
from podium.cel.kubernetes import BASE
from podium.cel.lists import INCLUDES, LIMITED_INCLUDES
from podium.cel.macros import BINDINGS
from podium.cel.parser import parse
from podium.cel.quantities import QUANTITY, parse_quantity
from podium.cel.semvers import parse_semver
from podium.cel.types import Type, map_of
from podium.cel.values import TOO_EXPENSIVE, Value, type_name
from podium.errors import EvaluationError, InvalidExpression
from podium.release import V1_36, Release

MAX_COST: Final = 1_000_000
MAX_LENGTH: Final = 10 * 1024

_DEVICE: Final = "kubernetes.DRADevice"
_TEXT: Final = Shape(64)
_MOST: Final = 32
_HINT: Final = (
    ". consider using CEL optional chaining (.? followed by orValue())"
    " or guarding the check with has() for optional fields"
)
# How Go words that a value is not a bool.
_NOT_BOOL: Final = {
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "string": "unsupported native conversion from string to 'bool'",
    "double": "type conversion error from Double to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
}


class _Domains(dict[str, dict[str, Value]]):
    """Attributes or capacities by domain; an unknown domain is empty, but not contained."""

    def __missing__(self, domain: str) -> dict[str, Value]:
        return _EMPTY


_EMPTY: Final[dict[str, Value]] = {}


@dataclass(frozen=True, slots=True)
class DeviceView:
    """A device as selectors see it; ``error`` is what every selector fails with, if anything."""

    value: dict[str, Value]
    error: str = ""


def device_view(
    driver: str,
    device: Mapping[str, Any],
    release: Release,
    *,
    has_lists: bool = False,
) -> DeviceView:
    """Return the view of a device of a resource slice, given as it is in JSON.

    Names without a domain belong to the driver. Attributes with several values exist since 1.37; in
    1.36 only with the feature gate ``DRAListTypeAttributes``, which ``has_lists`` stands for.
    """
    has_lists = has_lists or release > V1_36
    attributes, capacity = _Domains(), _Domains()
    try:
        for name, attribute in (device.get("attributes") or {}).items():
            _put(attributes, driver, name, _attribute(name, attribute, has_lists))
        for name, amount in (device.get("capacity") or {}).items():
            _put(capacity, driver, name, parse_quantity(str(amount.get("value", 0))))
    except EvaluationError as error:
        return DeviceView({}, str(error))
    value = {
        "driver": driver,
        "allowMultipleAllocations": bool(device.get("allowMultipleAllocations")),
        "attributes": attributes,
        "capacity": capacity,
    }
    return DeviceView(value)


def _put(domains: _Domains, driver: str, name: str, value: Value) -> None:
    domain, slash, identifier = name.partition("/")
    if not slash:
        domain, identifier = driver, name
    domains.setdefault(domain, {})[identifier] = value


def _attribute(name: str, attribute: Mapping[str, Any], has_lists: bool) -> Value:
    try:
        if has_lists:
            for kind in ("ints", "bools", "strings"):
                if attribute.get(kind) is not None:
                    return list(attribute[kind])
            if attribute.get("versions") is not None:
                return [parse_semver(version) for version in attribute["versions"]]
        for kind in ("int", "bool", "string"):
            if attribute.get(kind) is not None:
                return attribute[kind]
        if attribute.get("version") is not None:
            return parse_semver(attribute["version"])
    except EvaluationError as error:
        raise EvaluationError(f"attribute {name}: parse semantic version: {error}") from None
    raise EvaluationError(f"attribute {name}: unsupported attribute value")


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled selector; ``cost`` is the most that one evaluation can cost.

    ``attributes`` are the names of the attributes whose values it may read, without their domains;
    ``None`` if it may read all.
    """

    text: str
    cost: int
    attributes: frozenset[str] | None
    _run: Evaluate
    _locals: tuple[None, ...]

    def matches(self, device: DeviceView) -> bool:
        """Whether a device matches; raise ``EvaluationError`` if that cannot be said."""
        if device.error:
            raise EvaluationError(device.error)
        try:
            found = self._run([device.value, *self._locals])
        except RecursionError:
            raise EvaluationError(TOO_EXPENSIVE) from None
        if found is True or found is False:
            return found
        raise EvaluationError(_not_bool(found))


def _not_bool(found: Value) -> str:
    kind = type_name(found)
    reason = _NOT_BOOL.get(kind, f"type conversion error from {kind} to 'bool'")
    return f"CEL result of type {kind} could not be converted to bool: {reason}"


def compile_selector(text: str, release: Release, *, is_new: bool = False) -> Selector:
    """Compile a selector; raise ``InvalidExpression`` with the API server's words if it is wrong.

    The API server checks expressions that are new in an object (``is_new``) against what the
    previous release understands; the scheduler accepts all that its own release does.
    """
    environment, attribute = _environment(release, is_new)
    try:
        compiled = compile_expression(text, environment, MAX_COST)
    except InvalidExpression as error:
        if str(error).startswith("program instantiation"):
            raise
        raise InvalidExpression(f"compilation failed: {error}") from None
    if compiled.output not in (types.BOOL, attribute):
        found = compiled.output
        raise InvalidExpression(f"must evaluate to bool or the unknown type, not {found}")
    program = compiled.program
    tree = parse(text, environment.macros, has_quoted_names=environment.has_quoted_names)
    reads = attributes_read(tree)
    return Selector(text, compiled.cost, reads, program.run, tuple(program.frame()))


def with_hint(error: str, release: Release) -> str:
    """Return a run-time error as the scheduler of a release reports it."""
    return error + _HINT if release > V1_36 and "no such key:" in error else error


@lru_cache(maxsize=8)
def _environment(release: Release, is_new: bool) -> tuple[Environment, Type]:
    """Return the environment of selectors, and the type that attributes have in it."""
    is_dynamic = release > V1_36 and not is_new
    attribute = types.DYN if is_dynamic else types.ANY
    quoted = release > V1_36
    base = replace(BASE, macros={**BASE.macros, **BINDINGS}, has_quoted_names=quoted)
    if not is_new:
        base = base.with_libraries(INCLUDES if is_dynamic else LIMITED_INCLUDES)
    fields = {
        "driver": types.STRING,
        "attributes": map_of(types.STRING, map_of(types.STRING, attribute)),
        "capacity": map_of(types.STRING, map_of(types.STRING, QUANTITY)),
        "allowMultipleAllocations": types.BOOL,
    }
    environment = replace(base, objects={_DEVICE: fields}, shapes={"device": _shape()})
    return environment.with_variables({"device": types.struct(_DEVICE)}), attribute


def _shape() -> Shape:
    """Return how large the parts of a device can be, by the limits of the API."""
    domain, identifier = Shape(63), Shape(32)
    attributes = Shape(_MOST, identifier, _TEXT, selects_elements=True)
    capacities = Shape(_MOST, identifier, Shape(0))
    return Shape(
        0,
        fields={
            "driver": Shape(63),
            "attributes": Shape(_MOST, domain, attributes),
            "capacity": Shape(_MOST, domain, capacities),
            "allowMultipleAllocations": Shape(1),
        },
    )
