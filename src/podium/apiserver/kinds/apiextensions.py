"""The group apiextensions.k8s.io: definitions of custom kinds, and what makes one unusable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.crd_rules import pattern_problem
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import CREATED_AT, NAME, column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.watches import Item
from podium.release import V1_36

CRDS = "customresourcedefinitions.apiextensions.k8s.io"

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_DNS_LABEL_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_NAME.pattern}')"
)
_RULES = "x-kubernetes-validations"
_LISTS = ("allOf", "anyOf", "oneOf")
_MAPS = ("properties", "patternProperties", "definitions")
# Below `items` and similar fields the published schema does not describe types.
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("type", "format", "pattern", "x-kubernetes-list-type"), ("string", (str,))),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), ("int64", (int,))),
    **dict.fromkeys(("minProperties", "maxProperties"), ("int64", (int,))),
    **dict.fromkeys(("minimum", "maximum"), ("float64", (int, float))),
    **dict.fromkeys(("enum", "required", "x-kubernetes-list-map-keys"), ("array", (list,))),
}
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


def _check(crd: Json) -> Iterator[Cause]:
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
    yield from _schema_causes(crd)


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
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            yield statuses.required(f"spec.versions[{index}].schema.openAPIV3Schema")


def _dns_label(name: str, path: str) -> Iterator[Cause]:
    if not _NAME.fullmatch(name):
        yield statuses.bad_value(path, name, _DNS_LABEL_RULE)


def _schema_causes(crd: Json) -> Iterator[Cause]:
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
    for name in _TEXT_LISTS:
        listed = node.get(name)
        if isinstance(listed, list) and not all(isinstance(one, str) for one in listed):
            yield statuses.bad_value(f"{path}.{name}", listed, "must be an array of strings")


def _schema_warnings(crd: Json) -> Iterator[str]:
    rules = [path for path, node in _nodes_of(crd) if node.get(_RULES)]
    if rules:
        more = f" and {len(rules) - 1} more" if len(rules) > 1 else ""
        yield f"{rules[0]}.{_RULES}{more}: CEL rules are stored, but not evaluated by podium"


def _nodes_of(crd: Json) -> Iterator[tuple[str, Json]]:
    for index, version in enumerate((crd.get("spec") or {}).get("versions") or []):
        path = f"spec.versions[{index}].schema.openAPIV3Schema"
        yield from _nodes((version.get("schema") or {}).get("openAPIV3Schema"), path)


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
    for name in _LISTS:
        listed = raw.get(name)
        for index, one in enumerate(listed) if isinstance(listed, list) else ():
            yield from _nodes(one, f"{path}.{name}[{index}]")


def _warnings(item: Item) -> Iterator[str]:
    return _schema_warnings(item.decode())


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
    check=_check,
    not_required={"CustomResourceDefinitionSpec": ("group", "names", "scope", "versions")},
    warnings=_warnings,
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
            "scheme": "pkg/apiserver/apiserver.go:55",
            "columns": (NAME, CREATED_AT),
            "failed_precondition": "Precondition failed",
        }
    },
)

KINDS = (CUSTOM_RESOURCE_DEFINITION,)
