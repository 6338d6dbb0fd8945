"""Schemas of custom resource definitions, looked through when they are written: patterns that are
none are refused, and rules that are not carried out are told to the client.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.patterns import pattern_problem
from podium.apiserver.statuses import Cause, Json

_RULES = "x-kubernetes-validations"
_LISTS = ("allOf", "anyOf", "oneOf")
_MAPS = ("properties", "patternProperties", "definitions")
# Below `items` and the like the published schema of schemas says nothing about types.
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("type", "format", "pattern", "x-kubernetes-list-type"), ("string", (str,))),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), ("int64", (int,))),
    **dict.fromkeys(("minProperties", "maxProperties"), ("int64", (int,))),
    **dict.fromkeys(("minimum", "maximum"), ("float64", (int, float))),
    **dict.fromkeys(("enum", "required", "x-kubernetes-list-map-keys"), ("array", (list,))),
}
_NAMES = ("required", "x-kubernetes-list-map-keys")
_SINGLE = ("items", "additionalProperties", "additionalItems", "not")


def schema_causes(crd: Json) -> Iterator[Cause]:
    for path, node in _nodes_of(crd):
        yield from _type_causes(node, path)
        pattern = node.get("pattern")
        if isinstance(pattern, str) and (problem := pattern_problem(pattern)):
            detail = f"must be a valid regular expression, but isn't: {problem}"
            yield statuses.bad_value(f"{path}.pattern", pattern, detail)


def _type_causes(node: Json, path: str) -> Iterator[Cause]:
    for name, (wanted, types) in _TYPES.items():
        value = node.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, types)):
            yield statuses.bad_value(f"{path}.{name}", value, f"must be of type {wanted}")
    for name in _NAMES:
        listed = node.get(name)
        if isinstance(listed, list) and not all(isinstance(one, str) for one in listed):
            yield statuses.bad_value(f"{path}.{name}", listed, "must be an array of strings")


def schema_warnings(crd: Json) -> Iterator[str]:
    rules = [path for path, node in _nodes_of(crd) if node.get(_RULES)]
    if rules:
        more = f" and {len(rules) - 1} more" if len(rules) > 1 else ""
        yield f"{rules[0]}.{_RULES}{more}: CEL rules are stored, but not evaluated by podium"


def _nodes_of(crd: Json) -> Iterator[tuple[str, Json]]:
    for index, version in enumerate((crd.get("spec") or {}).get("versions") or []):
        path = f"spec.versions[{index}].schema.openAPIV3Schema"
        yield from _nodes((version.get("schema") or {}).get("openAPIV3Schema"), path)


def _nodes(raw: Any, path: str) -> Iterator[tuple[str, Json]]:
    """A schema and every schema in it, each with its path."""
    if not isinstance(raw, dict):
        return
    yield path, raw
    for name in _SINGLE:
        yield from _nodes(raw.get(name), f"{path}.{name}")
    for name in _MAPS:
        below = raw.get(name)
        for key, one in below.items() if isinstance(below, dict) else ():
            yield from _nodes(one, f"{path}.{name}[{key}]")
    for name in _LISTS:
        listed = raw.get(name)
        for index, one in enumerate(listed) if isinstance(listed, list) else ():
            yield from _nodes(one, f"{path}.{name}[{index}]")
