"""Objects from files, for commands that take ``-f``: YAML, JSON, directories, standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from podium.api.objects import load_yaml
from podium.apiserver.statuses import Json
from podium.errors import PodiumError

_SUFFIXES = (".yaml", ".yml", ".json")


def read_objects(names: Sequence[str]) -> list[tuple[str, Json]]:
    """All objects with their source; raises all that is wrong, before anything is sent."""
    found: list[tuple[str, Json]] = []
    faults: list[str] = []
    for name in names:
        try:
            for source, text in _texts(name):
                found += _objects(source, text)
        except PodiumError as error:
            faults.append(str(error))
    if faults:
        raise PodiumError("\n".join(faults))
    if not found:
        raise PodiumError(f"podium: {', '.join(names)}: no objects in it")
    return found


def _texts(name: str) -> list[tuple[str, str]]:
    if name == "-":
        return [("standard input", sys.stdin.read())]
    path = Path(name)
    try:
        if path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES)
            return [(str(one), one.read_text()) for one in files]
        return [(name, path.read_text())]
    except (OSError, UnicodeDecodeError) as error:
        raise PodiumError(f"podium: {name}: cannot be read: {error}") from error


def _objects(source: str, text: str) -> list[tuple[str, Json]]:
    try:
        objects = load_yaml(text)
    except PodiumError as error:
        raise PodiumError(f"podium: {source}: {error}") from error
    faults = [
        f"podium: {source}: object {index} has no {field}"
        for index, obj in enumerate(objects, start=1)
        for field, value in _needed(obj).items()
        if not isinstance(value, str) or not value
    ]
    if faults:
        raise PodiumError("\n".join(faults))
    return [(source, obj) for obj in objects]


def _needed(obj: Json) -> Json:
    meta = obj.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    return {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata.name": name}
