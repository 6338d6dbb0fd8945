"""Read objects from YAML or JSON files, directories and standard input, for ``-f``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from podium.api.manifests import MAX_BYTES, checked_text, load_yaml, read_text
from podium.apiserver.statuses import Json
from podium.errors import PodiumError

_SUFFIXES = (".yaml", ".yml", ".json")


def read_objects(names: Sequence[str]) -> list[tuple[str, Json]]:
    """Return all objects with their sources; all mistakes are collected into one error."""
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
        raise PodiumError(f"{', '.join(names)}: no objects found")
    return found


def read_pod(name: str) -> Json:
    """Return the only object of a file, which must be a pod."""
    objects = read_objects([name])
    source, pod = objects[0]
    if len(objects) != 1 or pod["kind"] != "Pod":
        kinds = ", ".join(each["kind"] for _, each in objects[:5])
        raise PodiumError(f"{source}: must hold one Pod, not {kinds}")
    return pod


def _texts(name: str) -> list[tuple[str, str]]:
    if name == "-":
        return [("standard input", _standard_input())]
    path = Path(name)
    try:
        is_directory = path.is_dir()
        found = [one for one in path.iterdir() if one.suffix in _SUFFIXES] if is_directory else []
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise PodiumError(f"{name}: cannot be read: {why}") from error
    return [(str(one), _text(one)) for one in (sorted(found) if is_directory else [path])]


def _standard_input() -> str:
    try:
        return checked_text(sys.stdin.buffer.read(MAX_BYTES + 1))
    except PodiumError as error:
        raise PodiumError(f"standard input: {error}") from error


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error


def _objects(source: str, text: str) -> list[tuple[str, Json]]:
    try:
        objects = load_yaml(text)
    except PodiumError as error:
        raise PodiumError(f"{source}: {error}") from error
    faults = [
        f"{source}: object {index} has no {field}"
        for index, obj in enumerate(objects, start=1)
        for field, value in _needed(obj).items()
        if not isinstance(value, str) or not value
    ]
    faults += [
        f"{source}: object {index}: metadata.namespace must be a string"
        for index, obj in enumerate(objects, start=1)
        if not isinstance(_metadata(obj).get("namespace") or "", str)
    ]
    if faults:
        raise PodiumError("\n".join(faults))
    return [(source, obj) for obj in objects]


def _needed(obj: Json) -> Json:
    name = _metadata(obj).get("name")
    return {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata.name": name}


def _metadata(obj: Json) -> Json:
    meta = obj.get("metadata")
    return meta if isinstance(meta, dict) else {}
