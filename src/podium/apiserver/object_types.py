"""Checks that a written object is of the kind and version that the path asks for."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import SCHEME, ApiKind
from podium.apiserver.published import definitions
from podium.apiserver.statuses import Cause, Json, bad_request

_SHOWN_OF_A_BODY = 30


def check_type(kind: ApiKind, raw: Any) -> None:
    """Refuse an object of another kind or version; built-in ones may leave both out."""
    if not isinstance(raw, dict):
        return
    if kind.custom:
        _check_custom_type(kind, raw)
        return
    version, name = raw.get("apiVersion") or kind.api_version, raw.get("kind") or kind.kind
    if (version, name) == (kind.api_version, kind.kind):
        return
    group, _, short = str(version).rpartition("/")
    published = definitions(kind.release)
    is_known = kind.scheme == SCHEME and published.name_of(group, short, str(name)) is not None
    if is_known:
        internal = f"{kind.internal_group.partition('.')[0] or 'core'}.{kind.kind}"
        why = f"converting ({short}.{name}) to ({internal}): unknown conversion"
    else:
        why = f'no kind "{name}" is registered for version "{version}" in scheme "{kind.scheme}"'
    raise bad_request(f'{name} in version "{short}" cannot be handled as a {kind.kind}: {why}')


def _check_custom_type(kind: ApiKind, raw: Json) -> None:
    """Refuse a custom object that does not state its kind and version."""
    version, name = raw.get("apiVersion") or "", raw.get("kind")
    if not name:
        body = msgspec.json.encode(raw).decode()
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind.kind}): "
            f"{untyped(raw)} ({body[:_SHOWN_OF_A_BODY]} ...)"
        )
    if version != kind.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({kind.api_version})"
        )
    if causes := type_causes(kind, raw):
        called = str((raw.get("metadata") or {}).get("name", ""))
        raise statuses.invalid(str(name), kind.group, called, causes)


def untyped(raw: Json) -> str:
    return f"Object 'Kind' is missing in '{msgspec.json.encode(raw).decode()}'"


def type_causes(kind: ApiKind, raw: Json) -> list[Cause]:
    """Return what is wrong with the kind and version that an object states."""
    wanted = {"kind": kind.kind, "apiVersion": kind.api_version}
    return [
        statuses.bad_value(name, raw.get(name) or "", f"must be {right}")
        for name, right in wanted.items()
        if raw.get(name) != right
    ]
