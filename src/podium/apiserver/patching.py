"""PATCH requests: which content type changes an object in which way."""

from __future__ import annotations

from typing import Any, NamedTuple

from podium.apiserver import statuses
from podium.apiserver.api import Api, Call
from podium.apiserver.decoding import (
    NotJson,
    NotYaml,
    Undecodable,
    YamlReader,
    check_depth,
    got,
    read_json,
    read_yaml,
)
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.object_types import type_causes, untyped
from podium.apiserver.patch import json_patch, merge_patch
from podium.apiserver.requests import Query, Target, flag
from podium.apiserver.schemas import ANYTHING, Schema
from podium.apiserver.statuses import Cause, Json, Refusal
from podium.apiserver.strategic import strategic_merge
from podium.apiserver.watches import Item
from podium.release import V1_36, V1_37

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)


class Patch(NamedTuple):
    """The body of a PATCH request, not yet parsed."""

    body: bytes
    content_type: str
    query: Query
    read_yaml: YamlReader = read_yaml

    @property
    def media(self) -> str:
        return self.content_type.split(";")[0].strip().lower()


def patch(api: Api, target: Target, change: Patch, call: Call) -> Item:
    """Change an object by the rules of the patch's content type."""
    accepted = tuple(one for one in _TYPES if not (target.kind.custom and one == STRATEGIC))
    if change.media not in accepted:
        raise statuses.unsupported_patch_type(accepted if target.kind.custom else ())
    if change.media == APPLY:
        return _apply(api, target, change, call)
    if "force" in change.query:
        cause = statuses.not_allowed("force", "may not be specified for non-apply patch")
        raise statuses.invalid("PatchOptions", "meta.k8s.io", "", [cause])
    if api.release >= V1_37:  # 1.36 finds this out later, with other words for each type of patch
        _check_json(change.body)

    def changed(live: Json) -> Json:
        found = patched(live, change, target.kind.schema)
        if not isinstance(found, dict):
            raise statuses.bad_request("the patched object is no object with metadata")
        if target.kind.custom:
            _check_custom(target.kind, found)
        return found

    try:
        return api.modify(target.kind, target.key, changed, call)
    except Undecodable as error:
        raise _unpatchable(error.why) from None


def _check_json(body: bytes) -> None:
    try:
        read_json(body)
    except NotJson:
        raise statuses.bad_request("invalid JSON patch") from None


def _check_custom(kind: ApiKind, found: Json) -> None:
    """Refuse a patch that changes the kind or version of a custom object."""
    if not found.get("kind"):
        raise _unpatchable(untyped(found))
    causes = type_causes(kind, found)
    if causes:
        group = str(found.get("apiVersion") or "").rpartition("/")[0]
        name = str((found.get("metadata") or {}).get("name", ""))
        raise statuses.invalid(str(found["kind"]), group, name, causes)


def _unpatchable(why: str) -> Refusal:
    """Return the 422 for a valid patch whose result is not a valid object."""
    cause = Cause("FieldValueInvalid", "patch", f'Invalid value: "{{}}": {why}')
    message = f' "" is invalid: {cause}'
    return Refusal(422, statuses.INVALID, message, {"causes": [cause.to_json()]})


def patched(live: Json, change: Patch, schema: Schema = ANYTHING) -> Any:
    """Return the object after a patch that is not an apply."""
    match change.media:
        case "application/json-patch+json":
            found: Any = json_patch(live, _parsed(change, list, "[]handlers.jsonPatchOp"))
        case "application/merge-patch+json":
            found = merge_patch(live, _parsed(change, dict, "map[string]interface {}"))
        case "application/strategic-merge-patch+json":
            parsed = _parsed(change, dict, "map[string]interface {}")
            _check_metadata(parsed)
            found = strategic_merge(live, parsed, schema)
        case _:
            raise statuses.unsupported_patch_type()
    check_depth(found)
    return found


def _check_metadata(change: Json) -> None:
    """Refuse metadata of a wrong type, as the Go types of a strategic merge do."""
    given = change.get("metadata")
    if given is not None and not isinstance(given, dict):
        raise _unpatchable(f"cannot restore struct from: {_RESTORED.get(type(given), 'float64')}")


_RESTORED = {bool: "bool", int: "int64", str: "string", list: "slice"}


def _parsed(change: Patch, wanted: type, go_type: str) -> Any:
    """Parse the patch; refusals name the type that it is read as."""
    prefix = "" if change.media == STRATEGIC else "error decoding patch: "
    try:
        parsed = read_json(change.body)
    except NotJson as error:
        raise statuses.bad_request(f"{prefix}{error}") from None
    if not isinstance(parsed, wanted):
        why = f"json: cannot unmarshal {got(parsed)} into Go value of type {go_type}"
        raise statuses.bad_request(f"{prefix}{why}")
    return parsed


class _Words(NamedTuple):
    """How refusals of an applied configuration start."""

    not_yaml: str
    not_an_object: str


_APPLY_WORDS = {
    V1_36: _Words("error decoding YAML: error converting YAML to JSON", "error decoding YAML"),
    V1_37: _Words("error encoding patch", "error decoding patch"),
}


def _apply(api: Api, target: Target, change: Patch, call: Call) -> Item:
    if not change.query.get("fieldManager"):
        cause = statuses.required("fieldManager", "is required for apply patch")
        raise statuses.invalid("PatchOptions", "meta.k8s.io", "", [cause])
    words = _APPLY_WORDS[api.release]
    try:
        config = change.read_yaml(change.body)
    except NotYaml as error:
        raise statuses.bad_request(f"{words.not_yaml}: {error}") from None
    if config is None:
        config = {}
    if not isinstance(config, dict):
        raise statuses.bad_request(
            f"{words.not_an_object}: error unmarshaling JSON: while decoding JSON: json: cannot "
            f"unmarshal {got(config)} into Go value of type map[string]interface {{}}"
        )
    kind, given = target.kind, (config.get("apiVersion") or "", config.get("kind") or "")
    if given != (kind.api_version, kind.kind):
        group, _, version = str(given[0]).rpartition("/")
        raise statuses.bad_request(f"invalid object type: {group}/{version}, Kind={given[1]}")
    return api.apply(kind, target.key, config, call, flag(change.query, "force"))
