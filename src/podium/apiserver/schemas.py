"""Compiled schemas: the published ones of built-in kinds, and those of CustomResourceDefinitions.

One compiled form serves decoding, strategic merge patches, field ownership and required fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from podium.apiserver.published import GoType, definitions, go_type
from podium.apiserver.statuses import Json
from podium.release import Release

_REF = "#/$defs/"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_FIELDS = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"
_RAW = "io.k8s.apimachinery.pkg.runtime.RawExtension"
RAW_JSON = (_FIELDS, _RAW)  # types that hold any JSON; protobuf has it as text


@dataclass(slots=True, eq=False)
class Schema:
    """The values that are allowed at one place in an object."""

    type: str = "any"  # object, array, string, integer, number, boolean, quantity, int-or-string
    format: str = ""
    name: str = ""  # of a published definition: "io.k8s.api.core.v1.Container"
    go: GoType | None = None  # of a published definition
    properties: dict[str, Schema] = field(default_factory=dict)
    additional: Schema | None = None
    items: Schema | None = None
    required: tuple[str, ...] = ()
    list_type: str = "atomic"
    list_keys: tuple[str, ...] = ()
    merge_key: str = ""
    strategies: tuple[str, ...] = ()  # of strategic merge patches: merge, retainKeys, replace
    atomic_map: bool = False
    preserves_unknown: bool = False
    embedded: bool = False  # a complete object with apiVersion, kind and metadata
    nullable: bool = False
    limits: Json = field(default_factory=dict)  # enum, minimum, pattern …; custom kinds only
    default: Any = None
    key_defaults: dict[str, Any] = field(default_factory=dict)

    def child(self, name: str) -> Schema | None:
        """Return the schema below a name; None if the name is unknown here."""
        found = self.properties.get(name) or self.additional
        if found is None and (self.type == "any" or self.preserves_unknown):
            return ANYTHING
        return found

    @property
    def element(self) -> Schema:
        return self.items or ANYTHING


ANYTHING = Schema(preserves_unknown=True)


OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class Schemas:
    """The published schemas of one release. Each is compiled when it is first asked for."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._definitions = definitions(release)
        self._compiled: dict[str, Schema] = {}

    def of_kind(self, group: str, version: str, kind: str) -> Schema:
        """Return the schema of a built-in kind."""
        name = self._definitions.name_of(group, version, kind)
        return self.named(name) if name else ANYTHING

    def named(self, name: str) -> Schema:
        """Return a definition: one object per name, since definitions refer to themselves."""
        return self._compiled.get(name) or self._compile(name)

    def of_custom_kind(self, raw: Mapping[str, Any]) -> Schema:
        """Compile the schema of a CustomResourceDefinition."""
        schema = Schema()
        self._fill(schema, raw)
        schema.limits = {key: raw[key] for key in _LIMITS if raw.get(key) is not None}
        return schema

    def _compile(self, name: str) -> Schema:
        schema = self._compiled[name] = Schema(name=name, go=go_type(self._release, name))
        if name == _QUANTITY:
            schema.type = "quantity"
        elif name == _INT_OR_STRING:
            schema.type = "int-or-string"
        elif name in RAW_JSON:
            schema.preserves_unknown = True
            schema.atomic_map = name == _RAW  # whoever sets it owns it as a whole
        else:
            self._fill(schema, self._definitions[name])
            if schema.type == "object" and not schema.properties and schema.additional is None:
                schema.preserves_unknown = True  # its fields are not described
        return schema

    def _fill(self, schema: Schema, raw: Mapping[str, Any]) -> None:
        schema.type = _type(raw)
        schema.format = raw.get("format") or ""
        schema.required = tuple(_listed(raw.get("required")))
        schema.default = raw.get("default")
        schema.nullable = bool(raw.get("nullable"))
        schema.embedded = bool(raw.get("x-kubernetes-embedded-resource"))
        schema.preserves_unknown = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
        self._fill_children(schema, raw)
        _fill_merging(schema, raw)

    def _fill_children(self, schema: Schema, raw: Mapping[str, Any]) -> None:
        properties = raw.get("properties")
        for name, one in properties.items() if isinstance(properties, dict) else ():
            schema.properties[name] = self._child(one)
        more = raw.get("additionalProperties")
        if isinstance(more, dict):
            schema.additional = self._child(more)
        elif more is True:
            schema.additional = ANYTHING
        if isinstance(raw.get("items"), dict):
            schema.items = self._child(raw["items"])

    def _child(self, raw: Mapping[str, Any]) -> Schema:
        """Return the schema of a property: a definition, refined if the reference says more."""
        if not isinstance(raw, dict):
            return ANYTHING
        ref = raw.get("$ref")
        if not isinstance(ref, str) or ref.removeprefix(_REF) not in self._definitions:
            return self.of_custom_kind(raw)
        target = self.named(ref.removeprefix(_REF))
        extra = {key for key in raw if key.startswith("x-") or key == "default"}
        return _Refined(target, raw) if extra else target


@cache
def schemas_of(release: Release) -> Schemas:
    return Schemas(release)


_LIMITS = (
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)


def _listed(value: Any) -> list[Any]:
    """Return the value if it is a list, else []: parts of a custom schema have any type."""
    return value if isinstance(value, list) else []


def _type(raw: Mapping[str, Any]) -> str:
    if raw.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    kind = raw.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if kind is None and raw.get("properties"):
        return "object"
    return kind if isinstance(kind, str) else "any"


def _fill_merging(schema: Schema, raw: Mapping[str, Any]) -> None:
    schema.list_type = raw.get("x-kubernetes-list-type") or "atomic"
    schema.list_keys = tuple(_listed(raw.get("x-kubernetes-list-map-keys")))
    schema.merge_key = raw.get("x-kubernetes-patch-merge-key") or ""
    schema.strategies = tuple((raw.get("x-kubernetes-patch-strategy") or "").split(","))
    schema.atomic_map = raw.get("x-kubernetes-map-type") == "atomic"
    if schema.list_keys and schema.items:
        found = {key: schema.items.properties.get(key) for key in schema.list_keys}
        schema.key_defaults = {
            key: one.default for key, one in found.items() if one and one.default is not None
        }
        if "protocol" in schema.list_keys:  # the published schemas lack this default
            schema.key_defaults["protocol"] = "TCP"


def blank(schema: Schema) -> Json:
    """Return a built-in object before anything is set, with the parts that are always in it.

    Nobody owns these parts, only what is set inside them.
    """
    # A required object that is not embedded is a pointer, which Go writes even if it is null.
    inside = (*schema.go.embedded, *schema.required) if schema.go else ("metadata",)
    found: Json = {
        name: blank(schema.properties[name])
        for name in inside
        if name in schema.properties and schema.properties[name].type == "object"
    }
    lists = (name for name, one in schema.properties.items() if _is_written(name, one, schema))
    return {**found, **{name: [] for name in lists if schema.name}}


def _is_written(name: str, field: Schema, schema: Schema) -> bool:
    """Return whether a field is a list that Go writes even if nothing is in it."""
    if field.type != "array" or name in schema.required:
        return field.type == "array"
    return field.list_type == "map" and schema.go is not None and name not in schema.go.omitted


class _Refined(Schema):
    """A definition with the merging rules of the property that refers to it."""

    def __init__(self, target: Schema, raw: Mapping[str, Any]) -> None:
        super().__init__()
        for name in Schema.__slots__:
            setattr(self, name, getattr(target, name))
        # The target may still be incomplete while a definition refers to itself: share its parts.
        self.properties = target.properties
        if raw.get("default") is not None:
            self.default = raw["default"]
        if strategy := raw.get("x-kubernetes-patch-strategy"):
            self.strategies = tuple(strategy.split(","))
        if raw.get("x-kubernetes-map-type") == "atomic":
            self.atomic_map = True
