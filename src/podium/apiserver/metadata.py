"""What every object's metadata must be: names, labels, annotations, owners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.kinds import Kind
from podium.apiserver.statuses import Cause, Json

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_ANNOTATIONS_BYTES = 256 * 1024
_MAX_SUBDOMAIN, _MAX_LABEL = 253, 63

_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    f"validation is '{_SUBDOMAIN}')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    f"validation is '{_LABEL}')"
)
_AS_LABEL = frozenset({"services", "statefulsets.apps"})
_AS_PATH = frozenset({"rbac.authorization.k8s.io"})  # groups whose names only must fit into a path
# Kinds of which the rest is judged first, and then of their names only that they fit into a path.
JUDGED_LAST = frozenset({"events", "poddisruptionbudgets.policy"})
# Kinds with newer rules: names are measured in bytes, prefixes of names not at all.
_IN_BYTES = frozenset({"replicationcontrollers", "deviceclasses.resource.k8s.io"})


def name_problems(kind: Kind, name: str) -> list[str]:
    """What is wrong with a name of this kind; empty when it is valid."""
    if kind.group in _AS_PATH or kind.resource in JUDGED_LAST:
        return _path_problems(name)
    if kind.resource == "namespaces":
        return ["must not contain dots"] if "." in name else label_problems(name)
    if kind.resource in _AS_LABEL:
        return label_problems(name)
    found = subdomain_problems(name)
    if kind.resource in _IN_BYTES:
        return [
            one.replace("no more than 253 characters", "no more than 253 bytes") for one in found
        ]
    return found


def label_problems(name: str) -> list[str]:
    return _checked(name, _MAX_LABEL, _LABEL, _LABEL_RULE)


def subdomain_problems(name: str) -> list[str]:
    return _checked(name, _MAX_SUBDOMAIN, _SUBDOMAIN, _SUBDOMAIN_RULE)


def _checked(name: str, longest: int, pattern: str, rule: str) -> list[str]:
    found = [f"must be no more than {longest} characters"] if len(name) > longest else []
    return found if re.fullmatch(pattern, name) else [*found, rule]


def _path_problems(name: str) -> list[str]:
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


def metadata_causes(kind: Kind, meta: Json) -> Iterator[Cause]:
    """Everything wrong with an object's metadata."""
    yield from _name_causes(kind, meta)
    yield from label_causes(meta.get("labels"), "metadata.labels")
    yield from _annotation_causes(meta.get("annotations") or {})
    yield from _finalizer_causes(kind, meta.get("finalizers") or [])
    yield from _owner_causes(meta.get("ownerReferences") or [])


def label_causes(labels: Json | None, path: str) -> Iterator[Cause]:
    for key, value in (labels or {}).items():
        for problem in label_key_problems(key):
            yield statuses.bad_value(path, key, problem)
        for problem in label_value_problems(value):
            yield statuses.bad_value(path, value, problem)


_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def _finalizer_causes(kind: Kind, finalizers: list[str]) -> Iterator[Cause]:
    for index, finalizer in enumerate(finalizers):
        for problem in label_key_problems(finalizer):
            yield statuses.bad_value("metadata.finalizers", finalizer, problem)
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS and not kind.custom:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield statuses.bad_value(f"metadata.finalizers[{index}]", finalizer, detail)


def _name_causes(kind: Kind, meta: Json) -> Iterator[Cause]:
    name, prefix = meta.get("name", ""), meta.get("generateName", "")
    if prefix and kind.resource not in _IN_BYTES:
        for problem in name_problems(kind, f"{prefix.rstrip('-.')}x"):
            yield statuses.bad_value("metadata.generateName", prefix, problem)
    if not name:
        if not prefix:
            yield statuses.required("metadata.name", "name or generateName is required")
        return
    for problem in name_problems(kind, name):
        yield statuses.bad_value("metadata.name", name, problem)


def _annotation_causes(annotations: Json) -> Iterator[Cause]:
    for key in annotations:
        for problem in label_key_problems(key.lower()):
            yield statuses.bad_value("metadata.annotations", key, problem)
    size = sum(len(key) + len(value) for key, value in annotations.items())
    if size > _ANNOTATIONS_BYTES:
        yield statuses.too_long("metadata.annotations", _ANNOTATIONS_BYTES)


def _owner_causes(owners: list[Any]) -> Iterator[Cause]:
    path = "metadata.ownerReferences"
    for owner in owners:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                what = "version must not be empty" if name == "apiVersion" else "must not be empty"
                yield statuses.bad_value(f"{path}.{name}", "", what)
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            detail = "/v1, Kind=Event is disallowed from being an owner"
            yield statuses.bad_value(path, owner, detail)
    controllers = [
        f"{one.get('kind')}/{one.get('name')}" for one in owners if one.get("controller")
    ]
    if len(controllers) > 1:
        yield statuses.bad_value(
            path,
            owners,
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{controllers[0]} and {controllers[1]}",
        )


def update_causes(old: Json, new: Json) -> Iterator[Cause]:
    """What an update must not do to metadata."""
    if "deletionTimestamp" in old:
        added = [f for f in new.get("finalizers") or [] if f not in (old.get("finalizers") or [])]
        if added:
            yield statuses.not_allowed(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new "
                f"finalizers []string{{{', '.join(map(repr, added))}}}".replace("'", '"'),
            )
