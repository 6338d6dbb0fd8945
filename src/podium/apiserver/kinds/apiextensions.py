"""The group apiextensions.k8s.io: definitions of custom kinds, and what makes one unusable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.crd_rules import pattern_problem
from podium.apiserver.expressions.definitions import (
    COMBINED,
    Version,
    default_causes,
    expression_causes,
    expressions_of,
    form_causes,
    nested_causes,
)
from podium.apiserver.expressions.rules import RULES, Stored, schema_of
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import CREATED_AT, NAME, column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36, V1_37, Release

CRDS = "customresourcedefinitions.apiextensions.k8s.io"

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_DNS_LABEL_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_NAME.pattern}')"
)
_MAPS = ("properties", "patternProperties", "definitions")
# Below `items` and similar fields the published schema does not describe types.
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("type", "format", "pattern", "x-kubernetes-list-type"), ("string", (str,))),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), ("int64", (int,))),
    **dict.fromkeys(("minProperties", "maxProperties"), ("int64", (int,))),
    **dict.fromkeys(("minimum", "maximum"), ("float64", (int, float))),
    **dict.fromkeys(("enum", "required", "x-kubernetes-list-map-keys", RULES), ("array", (list,))),
    **dict.fromkeys(COMBINED, ("array", (list,))),
    **dict.fromkeys(_MAPS, ("object", (dict,))),
}
_TEXTS_OF_RULES = ("rule", "message", "messageExpression", "reason", "fieldPath")
_SCHEMA = "schema.openAPIV3Schema"
_TEXT_LISTS = ("required", "x-kubernetes-list-map-keys")
_SINGLE = ("items", "additionalProperties", "additionalItems", "not")


def _set_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_missing(spec, conversion={"strategy": "None"})
    names = spec.get("names")
    if isinstance(names, dict) and names.get("kind"):
        set_missing(names, singular=names["kind"].lower(), listKind=f"{names['kind']}List")


def _start(definition: Json, now: str) -> None:
    versions = definition["spec"].get("versions") or []
    stored = [one.get("name") for one in versions if one.get("storage")]
    names = {"plural": "", "kind": ""}
    definition["status"] = {"conditions": [], "acceptedNames": names, "storedVersions": stored}


def _check(release: Release) -> Callable[[Json], Iterator[Cause]]:
    return lambda crd: _causes({}, crd, release)


def _check_update(release: Release) -> Callable[[Json, Json], Iterator[Cause]]:
    return lambda old, crd: _causes(old, crd, release)


def _causes(old: Json, crd: Json, release: Release) -> Iterator[Cause]:
    """Yield everything that makes a definition unusable."""
    spec = crd.get("spec") or {}
    names = spec.get("names") or {}
    plural, group = names.get("plural", ""), spec.get("group", "")
    name = crd["metadata"].get("name", "")
    if name and name != f"{plural}.{group}":
        detail = 'must be spec.names.plural+"."+spec.group'
        yield statuses.bad_value("metadata.name", name, detail)
    if not group:
        yield statuses.required("spec.group")
    if not spec.get("scope"):
        yield statuses.required("spec.scope")
    elif spec["scope"] not in ("Cluster", "Namespaced"):
        yield statuses.unsupported("spec.scope", spec.get("scope"), ["Cluster", "Namespaced"])
    versions = spec.get("versions") or []
    if sum(bool(version.get("storage")) for version in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        yield statuses.bad_value("spec.versions", spec.get("versions"), detail)
    yield from _name_causes(names)
    yield from _version_causes(versions)
    stored = expressions_of(old)
    for found in _versions(old, crd):
        yield from _schema_causes(found, stored, release)


def _name_causes(names: Json) -> Iterator[Cause]:
    for name in ("plural", "singular", "kind", "listKind"):
        path, value = f"spec.names.{name}", names.get(name)
        if not value:
            yield statuses.required(path)
        else:
            yield from _dns_label(value if name in ("plural", "singular") else value.lower(), path)


def _version_causes(versions: list[Json]) -> Iterator[Cause]:
    if not versions:
        detail = "must have at least one stored version"
        yield statuses.bad_value("status.storedVersions", None, detail)
    for index, version in enumerate(versions):
        yield from _dns_label(version.get("name") or "", f"spec.versions[{index}].name")
        if index == 0:  # an older field of the definition that follows the first version
            yield from _dns_label(version.get("name") or "", "spec.version")
        if not schema_of(version):
            yield statuses.required(f"spec.versions[{index}].{_SCHEMA}")


def _dns_label(name: str, path: str) -> Iterator[Cause]:
    if not _NAME.fullmatch(name):
        yield statuses.bad_value(path, name, _DNS_LABEL_RULE)


def _versions(old: Json, crd: Json) -> list[Version]:
    """Return the schemas of all versions; only one if it is the same for all of them."""
    before, after = dict(_schemas(old)), list(_schemas(crd))
    found = [
        Version(schema, f"spec.versions[{index}].{_SCHEMA}", schema == before.get(name))
        for index, (name, schema) in enumerate(after)
    ]
    if any(schema != after[0][1] for _, schema in after):
        return [one for one in found if one.schema]
    return [one._replace(path="spec.validation.openAPIV3Schema") for one in found[:1] if one.schema]


def _schemas(crd: Json) -> Iterator[tuple[str, Json]]:
    for version in (crd.get("spec") or {}).get("versions") or []:
        yield version.get("name") or "", schema_of(version)


def _schema_causes(version: Version, stored: Stored, release: Release) -> Iterator[Cause]:
    nodes = list(_nodes(version.schema, version.path))
    wrong = [cause for path, node in nodes for cause in _type_causes(node, path)]
    if wrong:
        yield from wrong
        return
    wrong = [cause for path, node in nodes for cause in _pattern_causes(node, path)]
    wrong += nested_causes(version)
    if not wrong:
        wrong += default_causes(version, release)
    forms = list(form_causes(version))
    yield from (*wrong, *forms)
    if not wrong:
        yield from expression_causes(version, forms, stored, release)


def _pattern_causes(node: Json, path: str) -> Iterator[Cause]:
    pattern = node.get("pattern")
    if pattern is not None and (problem := pattern_problem(pattern)):
        detail = f"must be a valid regular expression, but isn't: {problem}"
        yield statuses.bad_value(f"{path}.pattern", pattern, detail)


def _type_causes(node: Json, path: str) -> Iterator[Cause]:
    for name, (wanted, types) in _TYPES.items():
        value = node.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, types)):
            yield statuses.bad_value(f"{path}.{name}", value, f"must be of type {wanted}")
    for name in _TEXT_LISTS:
        listed = node.get(name)
        if isinstance(listed, list) and not all(isinstance(one, str) for one in listed):
            yield statuses.bad_value(f"{path}.{name}", listed, "must be an array of strings")
    yield from _rule_type_causes(node.get(RULES), f"{path}.{RULES}")


def _rule_type_causes(rules: Any, path: str) -> Iterator[Cause]:
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        if not isinstance(rule, dict):
            yield statuses.bad_value(f"{path}[{index}]", rule, "must be of type object")
            continue
        for name in _TEXTS_OF_RULES:
            if not isinstance(rule.get(name), str | None):
                detail = "must be of type string"
                yield statuses.bad_value(f"{path}[{index}].{name}", rule[name], detail)


def _nodes(raw: Any, path: str) -> Iterator[tuple[str, Json]]:
    """Yield a schema and every schema inside it, each with its path."""
    if not isinstance(raw, dict):
        return
    yield path, raw
    for name in _SINGLE:
        yield from _nodes(raw.get(name), f"{path}.{name}")
    for name in _MAPS:
        below = raw.get(name)
        for key, one in below.items() if isinstance(below, dict) else ():
            yield from _nodes(one, f"{path}.{name}[{key}]")
    for name in COMBINED:
        listed = raw.get(name)
        for index, one in enumerate(listed) if isinstance(listed, list) else ():
            yield from _nodes(one, f"{path}.{name}[{index}]")


def _served_versions(crd: Json) -> str:
    served = (one for one in crd["spec"]["versions"] if one.get("served"))
    marked = (f"{one['name']}(storage)" if one.get("storage") else one["name"] for one in served)
    return ",".join(sorted(marked))


def _short_names(crd: Json) -> str:
    return ",".join(crd["spec"]["names"].get("shortNames") or [])


def _is_established(crd: Json) -> bool:
    conditions = at(crd, "status.conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


CUSTOM_RESOURCE_DEFINITION = ApiKind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    namespaced=False,
    subresources=("status",),
    scheme="pkg/apiserver/apiserver.go:56",  # that of a server inside the server
    counts_generations=True,
    update_needs_version=True,
    set_defaults=_set_defaults,
    start=_start,
    check=_check(V1_37),
    checks_updates=False,
    check_update=_check_update(V1_37),
    not_required={"CustomResourceDefinitionSpec": ("group", "names", "scope", "versions")},
    columns=(
        NAME,
        column("Scope", lambda crd: crd["spec"]["scope"]),
        column("Versions", _served_versions),
        CREATED_AT,
        column("Group", lambda crd: crd["spec"]["group"], wide=True),
        column("Kind", lambda crd: crd["spec"]["names"]["kind"], wide=True),
        column("ShortNames", _short_names, wide=True),
        column("Established", _is_established, wide=True, kind="boolean"),
    ),
    failed_precondition="precondition failed",
    earlier={
        V1_36: {
            "check": _check(V1_36),
            "check_update": _check_update(V1_36),
            "scheme": "pkg/apiserver/apiserver.go:55",
            "columns": (NAME, CREATED_AT),
            "failed_precondition": "Precondition failed",
        }
    },
)

KINDS = (CUSTOM_RESOURCE_DEFINITION,)
