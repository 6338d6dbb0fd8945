"""Snapshots from files that podium has not written.

These are objects and lists as YAML or JSON, one or several per file, and exports of
kube-scheduler-simulator. ``Dump`` collects their objects and says what is missing.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.manifests import MAX_BYTES, checked_text, documents
from podium.errors import InvalidSnapshot, PodiumError
from podium.snapshot import archive
from podium.snapshot.kinds import NOT_IN_THE_FILE, absent_kinds, kind_of
from podium.snapshot.model import Json, KindName, Snapshot
from podium.snapshot.trimming import trim

_CONFIGURATION: Final = "KubeSchedulerConfiguration"
_SHOWN: Final = 3
_UNTYPED: Final = "without a kind"

# The fields of an export of kube-scheduler-simulator; its objects say neither version nor kind.
_EXPORT: Final = {
    "pods": KindName("v1", "Pod"),
    "nodes": KindName("v1", "Node"),
    "pvs": KindName("v1", "PersistentVolume"),
    "pvcs": KindName("v1", "PersistentVolumeClaim"),
    "storageClasses": KindName("storage.k8s.io/v1", "StorageClass"),
    "priorityClasses": KindName("scheduling.k8s.io/v1", "PriorityClass"),
    "namespaces": KindName("v1", "Namespace"),
}
_EXPORTED_CONFIGURATION: Final = "schedulerConfig"


class Dump:
    """Collects the objects of files; the last of several with the same name counts."""

    def __init__(self) -> None:
        self._objects: defaultdict[KindName, dict[str, bytes]] = defaultdict(dict)
        self._ignored: Counter[str] = Counter()
        self._repeated: list[str] = []
        self._configuration: Json | None = None

    def add(self, data: bytes, source: str) -> None:
        """Add all objects of a file."""
        for number, obj in enumerate(_objects(data, source), start=1):
            self._add_object(obj, number, source)

    def _add_object(self, obj: Any, number: int, source: str) -> None:
        name = _name_of(obj)
        if name.api_version.startswith(archive.GROUP):
            archive.check_version(*name, source)
            hint = "write one object per line, as `jq -c .` does"
            raise InvalidSnapshot(source, f"a snapshot in another layout: {hint}")
        if name.kind == _CONFIGURATION:
            self._configuration = obj
        elif kind_of(name) is None:
            self._ignored[name.kind or _UNTYPED] += 1
        else:
            key = _key(obj, f"{source}: object {number} ({name.kind})")
            if key in self._objects[name]:
                self._repeated.append(f"{name.kind} {key.removeprefix('/')}")
            self._objects[name][key] = msgspec.json.encode(trim(obj))

    def snapshot(self, source: str) -> Snapshot:
        """Return what was collected."""
        if not self._objects:
            raise InvalidSnapshot(source, self._nothing_found())
        objects = {name: tuple(found.values()) for name, found in self._objects.items()}
        return Snapshot(
            objects,
            source=source,
            configuration=self._configuration,
            missing=tuple(absent_kinds(objects, NOT_IN_THE_FILE)),
            notes=tuple(self._notes()),
        )

    def _nothing_found(self) -> str:
        hint = "save one with: podium snapshot save -o FILE"
        if kinds := ", ".join(sorted(self._ignored.keys() - {_UNTYPED})):
            return f"nothing in it matters for scheduling, only {kinds:.200}; {hint}"
        return f"not a snapshot: it holds no Kubernetes objects; {hint}"

    def _notes(self) -> Iterator[str]:
        if self._ignored:
            counts = ", ".join(f"{count} {kind}" for kind, count in sorted(self._ignored.items()))
            yield f"left out, because no decision depends on them: {counts}"
        if self._repeated:
            shown = ", ".join(self._repeated[:_SHOWN])
            rest = len(self._repeated) - _SHOWN
            more = f" and {rest} more" if rest > 0 else ""
            yield f"objects that are there more than once: {shown}{more}; the last of each counts"


def _name_of(obj: Any) -> KindName:
    if not isinstance(obj, dict):
        return KindName("", "")
    version, kind = obj.get("apiVersion"), obj.get("kind")
    return KindName(
        version if isinstance(version, str) else "", kind if isinstance(kind, str) else ""
    )


def _key(obj: Json, where: str) -> str:
    meta = obj.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    if not isinstance(name, str) or not name:
        raise InvalidSnapshot(where, "it has no metadata.name; give it one")
    namespace = obj["metadata"].get("namespace") or ""
    if not isinstance(namespace, str):
        raise InvalidSnapshot(where, "metadata.namespace must be a string")
    return f"{namespace}/{name}"


class _List(msgspec.Struct, rename="camel"):
    """A list of objects, such as ``kubectl get -o json`` writes; items are decoded one by one."""

    kind: str
    items: list[msgspec.Raw]
    api_version: str | None = None


_DECODE_LIST: Final = msgspec.json.Decoder(_List).decode


def _objects(data: bytes, source: str) -> Iterator[Any]:
    found = _as_list(data)
    if found is not None:
        parent = {"apiVersion": found.api_version, "kind": found.kind}
        yield from _items((_decoded(raw, source) for raw in found.items), parent)
        return
    for document in _documents(data, source):
        match document:
            case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
                yield from _items(items, document)
            case {"kind": str()}:
                yield document
            case {"pods": list() | None, "nodes": list() | None}:
                yield from _exported(document)
            case list():
                yield from document
            case _:
                yield document


def _as_list(data: bytes) -> _List | None:
    """Return the list that the data are, or ``None`` if they are something else, or malformed.

    Decoding 55,000 objects at once takes five times as long as one by one: the garbage collector
    looks at all of them again and again.
    """
    try:
        found = _DECODE_LIST(data)
    except (*UNREADABLE, RecursionError):
        return None
    return found if found.kind.endswith("List") else None


def _decoded(raw: msgspec.Raw, source: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except UNREADABLE as error:
        raise InvalidSnapshot(source, f"not a snapshot: {error}") from error


def _items(items: Iterable[Any], parent: Json) -> Iterator[Any]:
    """Yield the objects of a list; those of a PodList need not say that they are pods."""
    kind = parent["kind"].removesuffix("List")
    inherited = {"apiVersion": parent.get("apiVersion"), "kind": kind} if kind else {}
    for item in items:
        yield {**inherited, **item} if isinstance(item, dict) else item


def _exported(export: Json) -> Iterator[Any]:
    for field, name in _EXPORT.items():
        listed = {"apiVersion": name.api_version, "kind": f"{name.kind}List"}
        items = export.get(field)
        yield from _items(items if isinstance(items, list) else [], listed)
    configuration = export.get(_EXPORTED_CONFIGURATION)
    if isinstance(configuration, dict):
        yield {**configuration, "kind": _CONFIGURATION}


def _documents(data: bytes, source: str) -> list[Any]:
    malformed = ""
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return _json_values(data)
        except RecursionError as error:
            raise InvalidSnapshot(source, "not a snapshot: nested too deeply") from error
        except (*UNREADABLE, ValueError) as error:
            if "truncated" in str(error):
                raise InvalidSnapshot(source, "cut short: save or copy it again") from error
            malformed = str(error)  # YAML may begin with a brace as well
    if len(data) > MAX_BYTES:
        hint = "save it with -o json, which is read much faster"
        raise InvalidSnapshot(source, f"YAML of more than {MAX_BYTES >> 20} MiB; {hint}")
    try:
        return documents(checked_text(data))
    except PodiumError as error:
        raise InvalidSnapshot(source, f"not a snapshot: {malformed or error}") from error


def _json_values(data: bytes) -> list[Any]:
    """Return one JSON value, or several that follow each other."""
    try:
        return [msgspec.json.decode(data)]
    except msgspec.DecodeError as error:
        if "trailing" not in str(error):
            raise
    text, found, start = data.decode(), [], 0
    while start < len(text):
        _, end = _SPLITTER.raw_decode(text, start)
        found.append(msgspec.json.decode(text[start:end]))
        start = end + len(text[end:]) - len(text[end:].lstrip())
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"JSON has no such value: {constant}")


# It only tells where a value ends; numbers are read by the decoder of all other JSON.
_SPLITTER: Final = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=_refuse)
