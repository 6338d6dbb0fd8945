"""Validation of metadata: names, labels, annotations, finalizers, owners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36, V1_37, Release

_ANNOTATIONS_BYTES = 256 * 1024


def metadata_causes(kind: ApiKind, meta: Json) -> Iterator[Cause]:
    """Return everything that is wrong with an object's metadata."""
    yield from _name_causes(kind, meta)
    yield from label_causes(meta.get("labels"), "metadata.labels")
    yield from _annotation_causes(meta.get("annotations") or {})
    yield from _finalizer_causes(kind, meta.get("finalizers") or [])
    yield from _owner_causes(meta.get("ownerReferences") or [], kind.release)


def label_causes(labels: Json | None, path: str) -> Iterator[Cause]:
    for key, value in (labels or {}).items():
        for problem in label_key_problems(key):
            yield statuses.bad_value(path, key, problem)
        for problem in label_value_problems(value):
            yield statuses.bad_value(path, value, problem)


_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def _finalizer_causes(kind: ApiKind, finalizers: list[str]) -> Iterator[Cause]:
    for index, finalizer in enumerate(finalizers):
        for problem in label_key_problems(finalizer):
            yield statuses.bad_value("metadata.finalizers", finalizer, problem)
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS and not kind.custom:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield statuses.bad_value(f"metadata.finalizers[{index}]", finalizer, detail)


def _name_causes(kind: ApiKind, meta: Json) -> Iterator[Cause]:
    name, prefix = meta.get("name", ""), meta.get("generateName", "")
    if prefix and kind.checks_name_prefix:
        for problem in kind.name_problems(f"{prefix.rstrip('-.')}x"):
            yield statuses.bad_value("metadata.generateName", prefix, problem)
    if not name:
        if not prefix:
            yield statuses.required("metadata.name", "name or generateName is required")
        return
    for problem in kind.name_problems(name):
        yield statuses.bad_value("metadata.name", name, problem)


def _annotation_causes(annotations: Json) -> Iterator[Cause]:
    for key in annotations:
        for problem in label_key_problems(key.lower()):
            yield statuses.bad_value("metadata.annotations", key, problem)
    size = sum(len(key) + len(value) for key, value in annotations.items())
    if size > _ANNOTATIONS_BYTES:
        yield statuses.too_long("metadata.annotations", _ANNOTATIONS_BYTES)


def _owner_causes(owners: list[Any], release: Release) -> Iterator[Cause]:
    path, (suffix, incomplete) = "metadata.ownerReferences", _OWNER_RULES[release]
    for index, owner in enumerate(owners):
        its_path = path + suffix.format(index)
        yield from incomplete(owner, its_path)
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            detail = "/v1, Kind=Event is disallowed from being an owner"
            yield statuses.bad_value(its_path, owner, detail)
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


def _missing_in_owner(owner: Json, path: str) -> Iterator[Cause]:
    """Yield what a reference lacks, as 1.37 reports it."""
    version = owner.get("apiVersion") or ""
    if version and not _has_version(version):
        detail = "must be <group>/<version> or <version>"
        yield statuses.bad_value(f"{path}.apiVersion", version, detail)
    for name in ("apiVersion", "kind", "name", "uid"):
        if not owner.get(name):
            yield statuses.required(f"{path}.{name}", "must not be empty")


def _empty_in_owner(owner: Json, path: str) -> Iterator[Cause]:
    """Yield what a reference lacks, as 1.36 reports it."""
    version = owner.get("apiVersion") or ""
    if not _has_version(version):
        yield statuses.bad_value(f"{path}.apiVersion", version, "version must not be empty")
    for name in ("kind", "name", "uid"):
        if not owner.get(name):
            yield statuses.bad_value(f"{path}.{name}", "", "must not be empty")


def _has_version(api_version: str) -> bool:
    return api_version.count("/") < 2 and not api_version.endswith("/") and bool(api_version)


# How messages name one of several owners, and what they say of an incomplete one.
_OWNER_RULES: Final = {V1_36: ("", _empty_in_owner), V1_37: ("[{}]", _missing_in_owner)}


def update_causes(old: Json, new: Json) -> Iterator[Cause]:
    """Return what an update must not do to metadata."""
    if "deletionTimestamp" in old:
        added = [f for f in new.get("finalizers") or [] if f not in (old.get("finalizers") or [])]
        if added:
            yield statuses.not_allowed(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new "
                f"finalizers []string{{{', '.join(map(repr, added))}}}".replace("'", '"'),
            )
