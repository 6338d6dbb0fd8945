"""Templates for many objects: a file is decoded once, and each object gets its own name.

A watch delivers JSON, so measured pods are made as JSON; other objects share one decoded object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from podium.api import objects
from podium.api.manifests import load_yaml, read_text
from podium.api.nodes import HOSTNAME
from podium.api.objects import ApiObject, Namespace, Node, Pod
from podium.errors import PodiumError

Fields = Mapping[str, dict[str, Any]]  # by part: metadata, spec, status

_CREATED = "2026-01-01T00:00:00Z"
_NAMESPACE_NAME = "kubernetes.io/metadata.name"

_INDEX = re.compile(r"\{\{\s*\.Index\s*\}\}")
_STAND_IN = b"907060503"  # stands for the number of an object; in no template

CLUSTER_SCOPED: Mapping[str, type[ApiObject]] = {
    kind.__name__: kind
    for kind in (
        objects.CSIDriver,
        objects.CSINode,
        Namespace,
        Node,
        objects.PersistentVolume,
        objects.StorageClass,
        objects.VolumeAttachment,
    )
}
NAMESPACED: Mapping[str, type[ApiObject]] = {
    kind.__name__: kind
    for kind in (
        objects.CSIStorageCapacity,
        objects.PersistentVolumeClaim,
        Pod,
        objects.PodDisruptionBudget,
        objects.ReplicaSet,
        objects.ReplicationController,
        objects.Service,
        objects.StatefulSet,
    )
}
KINDS: Mapping[str, type[ApiObject]] = {**CLUSTER_SCOPED, **NAMESPACED}

_BUILT_IN: Mapping[type[ApiObject], Mapping[str, Any]] = {
    Node: {
        "kind": "Node",
        "metadata": {"generateName": "node-"},
        "status": {
            "capacity": {"cpu": "4", "memory": "32Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    },
    Pod: {
        "kind": "Pod",
        "metadata": {"generateName": "pod-"},
        "spec": {
            "containers": [
                {
                    "name": "pause",
                    "image": "registry.k8s.io/pause:3.10",
                    "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
                }
            ]
        },
    },
    Namespace: {"kind": "Namespace", "metadata": {"generateName": "namespace-"}},
}


class Template:
    """An object without a name."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.kind = _kind(plain)
        metadata = {"creationTimestamp": _CREATED, **(plain.get("metadata") or {})}
        named = {**plain, "metadata": {**metadata, "name": metadata.get("name") or "template"}}
        # An invalid selector is reported once, not by each attempt of each pod.
        objects.validate(objects.decode(self.kind, named))
        self.fixed_name: str = metadata.pop("name", None) or ""
        self.prefix: str = metadata.get("generateName") or f"{self.kind.__name__.lower()}-"
        self.metadata = metadata
        self.plain: dict[str, Any] = _defaulted(named)
        self._model = objects.decode(self.kind, self.plain)
        del self.plain["metadata"]
        self._rest = _after_brace(self.plain)
        self.is_numbered = _STAND_IN in self._rest

    @property
    def is_namespaced(self) -> bool:
        return self.kind.__name__ in NAMESPACED

    def name(self, serial: int) -> str:
        return self.fixed_name or f"{self.prefix}{serial}"

    def build(self, serial: int, namespace: str = "", name: str = "") -> ApiObject:
        """Return a new object; unless it contains its number, it shares all but its metadata."""
        if self.is_numbered:
            return objects.decode(self.kind, self.json(serial, namespace))
        metadata = msgspec.structs.replace(
            self._model.metadata,
            name=name or self.name(serial),
            namespace=namespace if self.is_namespaced else "",
            uid=uid(serial),
        )
        if self.kind in (Node, Namespace):
            key = HOSTNAME if self.kind is Node else _NAMESPACE_NAME
            labels = {**metadata.labels, key: metadata.name}
            metadata = msgspec.structs.replace(metadata, labels=labels)
        return msgspec.structs.replace(self._model, metadata=metadata)

    def json(self, serial: int, namespace: str, own: Fields | None = None) -> bytes:
        """Return a new object as the JSON of a watch; ``own`` are its own fields, by part."""
        identity = {"name": self.name(serial), "namespace": namespace, "uid": uid(serial)}
        metadata, rest = self.metadata | identity, self._rest
        if own:
            metadata |= own.get("metadata", {})
            parts = {part: self.part(part) | own[part] for part in own if part != "metadata"}
            rest = _after_brace(self.plain | parts)
        if self.is_numbered:
            rest = rest.replace(_STAND_IN, b"%d" % serial)
        return b'{"metadata":%b,%b' % (msgspec.json.encode(metadata), rest)

    def part(self, name: str) -> dict[str, Any]:
        """Return ``spec`` or ``status`` of the template."""
        return self.plain.get(name) or {}


class Templates:
    """The templates of one workload file by path; an empty path is the built-in one."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: dict[str, Template] = {}
        self._built_in = {kind: Template(plain) for kind, plain in _BUILT_IN.items()}

    def load(self, path: str) -> Template:
        """Read a template, once; raise ``PodiumError`` if it is unusable."""
        if path not in self._known:
            self._known[path] = Template(_read(self._directory / path))
        return self._known[path]

    def get(self, path: str, kind: type[ApiObject]) -> Template:
        return self._known[path] if path else self._built_in[kind]


def _read(path: Path) -> Mapping[str, Any]:
    # As in scheduler_perf, replaced before parsing: the number may be part of a larger value.
    found = load_yaml(_INDEX.sub(_STAND_IN.decode(), read_text(path)))
    if len(found) != 1:
        raise PodiumError(f"a template is one object, not {len(found)}")
    return found[0]


def _kind(plain: Mapping[str, Any]) -> type[ApiObject]:
    name = plain.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise PodiumError(f"no template can be of kind {name!r}; there are: {', '.join(KINDS)}")
    if not isinstance(plain.get("metadata") or {}, dict):
        raise PodiumError("metadata: must be an object")
    return KINDS[name]


def _defaulted(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Add the defaults of the API server that scheduling sees: allocatable amounts, requests."""
    match plain:
        case {"kind": "Node", "status": {"capacity": amounts, **rest}}:
            status = {"allocatable": amounts, **rest, "capacity": amounts}
            return {**plain, "status": status}
        case {"kind": "Pod", "spec": {"containers": [*containers], **rest}}:
            containers = [_with_requests(container) for container in containers]
            return {**plain, "spec": {**rest, "containers": containers}}
    return {**plain}


def _with_requests(container: Mapping[str, Any]) -> Mapping[str, Any]:
    match container:
        case {"resources": {"limits": {**limits}, **rest}}:
            requests = {**limits, **(container["resources"].get("requests") or {})}
            return {**container, "resources": {**rest, "limits": limits, "requests": requests}}
    return container


def _after_brace(plain: Mapping[str, Any]) -> bytes:
    """Return the JSON of the object that follows the metadata."""
    return msgspec.json.encode(plain)[1:]


def uid(serial: int) -> str:
    return f"00000000-0000-4000-8000-{serial:012x}"
