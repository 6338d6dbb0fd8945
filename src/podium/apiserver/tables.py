"""Tables: what `kubectl get` asks for in place of objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from podium.apiserver.json_path import first_value
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import NAME, UNKNOWN, Column, age
from podium.apiserver.statuses import Json
from podium.clock import Clock

# An annotation that kube-apiserver keeps as a field of daemon sets: metadata alone lacks it.
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def columns(kind: ApiKind) -> tuple[Column, ...]:
    return (NAME, *_custom_columns(kind)) if kind.custom else kind.columns


def table_of_list(kind: ApiKind, objects: Iterable[Json], meta: Json, how: TableOptions) -> Json:
    """Return a Table of all objects of a list, whose cells may depend on one another."""
    shown = columns(kind)
    if any(one.cell_of_list for one in shown):
        objects = list(objects)
        shown = tuple(_for_list(one, objects) for one in shown)
    return _table(kind, shown, objects, meta, how)


def _for_list(one: Column, objects: list[Json]) -> Column:
    if one.cell_of_list is None:
        return one
    cell = one.cell_of_list(objects)
    return replace(one, cell=lambda obj, now: cell(obj))


def table(kind: ApiKind, obj: Json, meta: Json, how: TableOptions) -> Json:
    """Return a Table of one object."""
    return _table(kind, columns(kind), [obj], meta, how)


def _table(
    kind: ApiKind,
    shown: tuple[Column, ...],
    objects: Iterable[Json],
    meta: Json,
    how: TableOptions,
) -> Json:
    """Return a Table. Its rows carry the object, its metadata or neither."""
    now = how.clock.now()
    rows = [
        {"cells": [_cell(one, stored, now) for one in shown], **_attached(obj, how)}
        for obj, stored in ((obj, kind.to_stored(obj)) for obj in objects)
    ]
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{how.version}",
        "metadata": meta,
        "columnDefinitions": [one.header() for one in shown] if how.headers else None,
        "rows": rows,
    }


def _cell(one: Column, obj: Json, now: float) -> Any:
    try:
        return one.cell(obj, now)
    except (TypeError, AttributeError, KeyError, ValueError):
        return UNKNOWN  # a custom object or a status that the column does not expect


def _attached(obj: Json, how: TableOptions) -> Json:
    match how.include:
        case "None":
            return {"object": None}
        case "Object":
            return {"object": obj}
        case _:
            return {"object": partial(obj, how.version)}


def partial(obj: Json, version: str = "v1") -> Json:
    meta = obj["metadata"]
    if _TEMPLATE_GENERATION in meta.get("annotations", ()):
        others = {
            name: one for name, one in meta["annotations"].items() if name != _TEMPLATE_GENERATION
        }
        meta = {name: one for name, one in meta.items() if name != "annotations"}
        meta |= {"annotations": others} if others else {}
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": meta,
    }


def _custom_columns(kind: ApiKind) -> list[Column]:
    listed = kind.details.get("additionalPrinterColumns")
    if not listed:
        return [_custom({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})]
    return [_custom(one) for one in listed]


def _custom(raw: Json) -> Column:
    path, kind = raw.get("jsonPath", ""), raw.get("type", "string")

    def cell(obj: Json, now: float) -> Any:
        value = first_value(obj, path)
        if kind == "date":
            return age(value, now)
        if value is None or kind != "string":
            return value
        return value if isinstance(value, str) else str(value)

    return Column(
        raw.get("name", ""), kind, raw.get("priority") or 0, cell, raw.get("format") or ""
    )


class TableOptions:
    """How a client wants a Table. A watch makes many, each with the ages of its moment."""

    def __init__(self, clock: Clock, version: str = "v1", include: str = "Metadata") -> None:
        self.clock = clock
        self.version = version
        self.include = include
        self.headers = True
