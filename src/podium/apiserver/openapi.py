"""OpenAPI documents, as far as kubectl reads them: definitions, and the parameters of PATCH.

kubectl uses them for explain, validation and merge keys, and to find out whether the server checks
unknown fields itself. Older versions read version 2 as protobuf, newer ones version 3 as JSON.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from podium.apiserver import statuses
from podium.apiserver.answers import Answer
from podium.apiserver.discovery import version as version_of
from podium.apiserver.kinds.api_kind import ApiKind, KindTable
from podium.apiserver.openapi_protobuf import encode_document
from podium.apiserver.published import definitions
from podium.apiserver.schemas import OBJECT_META
from podium.apiserver.statuses import Json

# Clients ask with an "@", which is not allowed in the media type of an answer.
_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_PROTOBUF = _ASKED.replace("@", ".")
_V2, _V3 = "#/definitions/", "#/components/schemas/"
_PATCH_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")
_SHAPE = "x-kubernetes-group-version-kind"


class OpenApi:
    """The documents, cached until the table of kinds changes."""

    def __init__(self, kinds: KindTable) -> None:
        self._kinds = kinds
        self._definitions = definitions(kinds.release)
        self._info = {"title": "Kubernetes", "version": version_of(kinds.release)["gitVersion"]}
        self._made_at = -1
        self._kept: dict[str, Answer] = {}

    def answer(self, parts: list[str], accept: str) -> Answer:
        if self._made_at != self._kinds.generation:
            self._made_at, self._kept = self._kinds.generation, {}
        name = "/".join(parts)
        if parts == ["openapi", "v2"]:
            name += " protobuf" if _ASKED in accept or _PROTOBUF in accept else ""
        if name not in self._kept:
            self._kept[name] = self._make(parts, name.endswith(" protobuf"))
        return self._kept[name]

    def _make(self, parts: list[str], protobuf: bool) -> Answer:
        match parts:
            case ["openapi", "v2"]:
                document = self._version_2()
                if protobuf:
                    return Answer(encode_document(document), media=_PROTOBUF)
                return Answer(msgspec.json.encode(document))
            case ["openapi", "v3"]:
                return Answer(msgspec.json.encode(self._index()))
            case ["openapi", "v3", "api", version]:
                return self._version_3("", version)
            case ["openapi", "v3", "apis", group, version]:
                return self._version_3(group, version)
            case _:
                raise statuses.no_such_path()

    def _version_2(self) -> Json:
        found = {name: _plain(one, _V2) for name, one in self._definitions.items()}
        for kind in self._kinds:
            if kind.custom:
                found[_name(kind)] = _plain(_custom(kind), _V2)
        return {
            "swagger": "2.0",
            "info": self._info,
            "paths": {path: item for kind in self._kinds for path, item in _paths(kind, False)},
            "definitions": found,
        }

    def _index(self) -> Json:
        paths: Json = {}
        for group, versions in self._kinds.groups().items():
            for version in versions:
                path = f"apis/{group}/{version}" if group else f"api/{version}"
                mark = hashlib.sha256(f"{path}{self._kinds.generation}".encode()).hexdigest()
                paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={mark.upper()}"}
        return {"paths": paths}

    def _version_3(self, group: str, version: str) -> Answer:
        kinds = self._kinds.groups().get(group, {}).get(version)
        if kinds is None:
            raise statuses.no_such_path()
        found: Json = {}
        for kind in kinds:
            if kind.custom:
                found[_name(kind)] = _plain(_custom(kind), _V3)
                self._collect(OBJECT_META, found)
            else:
                self._collect(_name(kind), found)
        document = {
            "openapi": "3.0.0",
            "info": self._info,
            "paths": {path: item for kind in kinds for path, item in _paths(kind, True)},
            "components": {"schemas": found},
        }
        return Answer(msgspec.json.encode(document))

    def _collect(self, name: str, found: Json) -> None:
        """Add a definition and all definitions that it refers to."""
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if one not in found and one in self._definitions:
                found[one] = _plain(self._definitions[one], _V3)
                waiting += _references(self._definitions[one])


def _name(kind: ApiKind) -> str:
    found = definitions(kind.release).name_of(kind.group, kind.version, kind.kind)
    if found and not kind.custom:
        return found
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])


def _references(value: Any) -> list[str]:
    match value:
        case dict():
            ref = value.get("$ref")  # the schema of JSON schemas has a field of this name, too
            mine = [ref.removeprefix("#/$defs/")] if isinstance(ref, str) else []
            return mine + [name for one in value.values() for name in _references(one)]
        case list():
            return [name for one in value for name in _references(one)]
        case _:
            return []


def _plain(value: Any, prefix: str) -> Any:
    """Return a schema in OpenAPI's dialect: no "or null" types, references by the given prefix."""
    match value:
        case {"$ref": str(ref), **rest}:
            target = {"$ref": prefix + ref.removeprefix("#/$defs/")}
            if prefix == _V2 or not rest:
                return {**{k: v for k, v in rest.items() if k == "description"}, **target}
            return {**_plain(rest, prefix), "allOf": [target]}
        case {"oneOf": [{"type": ["string", "null"]}, {"type": [str(), "null"]}], **rest}:
            return {**_plain(rest, prefix), "type": "string", "format": "int-or-string"}
        case dict():
            return {key: _typed(key, one, prefix) for key, one in value.items()}
        case list():
            return [_plain(one, prefix) for one in value]
        case _:
            return value


def _typed(key: str, value: Any, prefix: str) -> Any:
    if key == "type" and isinstance(value, list):
        return next((one for one in value if one != "null"), "object")
    if key in ("enum", "required") and isinstance(value, list):
        return value
    return _plain(value, prefix)


def _custom(kind: ApiKind) -> Json:
    raw: Json = dict(
        (kind.details.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    )
    properties = dict(raw.get("properties") or {})
    properties["metadata"] = {"$ref": f"#/$defs/{OBJECT_META}"}
    for name in ("apiVersion", "kind"):
        properties.setdefault(name, {"type": "string"})
    shape = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return {**raw, "properties": properties, _SHAPE: [shape]}


def _paths(kind: ApiKind, is_v3: bool) -> list[tuple[str, Json]]:
    """Return the path of one object with its PATCH operation."""
    inside = "/namespaces/{namespace}" if kind.namespaced else ""
    path = f"{kind.prefix}{inside}/{kind.plural}/{{name}}"
    shape = {"group": kind.group, "kind": kind.kind, "version": kind.version}
    parameters = [_parameter(name, is_v3) for name in _PATCH_PARAMETERS]
    operation = {
        "operationId": f"patch{kind.kind}{kind.group}{kind.version}",
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        _SHAPE: shape,
    }
    return [(path, {"patch": operation})] if "patch" in kind.verbs else []


def _parameter(name: str, is_v3: bool) -> Json:
    found: Json = {"name": name, "in": "query"}
    kind = {"type": "boolean" if name == "force" else "string"}
    return {**found, "schema": kind} if is_v3 else {**found, **kind}
