"""Templates for many objects: a file is decoded once, and each object gets its own name.

A watch delivers JSON, so measured pods are made as JSON; other objects share one decoded object.
An object has a serial number, which no other object of the run has, and an index, which counts the
objects of its operation from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from podium.api import objects
from podium.api.manifests import load_yaml, read_text
from podium.api.nodes import HOSTNAME
from podium.api.objects import ApiObject, Namespace, Node, Pod
from podium.bench.claims import Json, with_claim_defaults
from podium.bench.go_template import Deferred, render
from podium.errors import PodiumError

Fields = Mapping[str, dict[str, Any]]  # by part: metadata, spec, status

_CREATED = "2026-01-01T00:00:00Z"
_NAMESPACE_NAME = "kubernetes.io/metadata.name"

# Digits that are in no template stand for what depends on the index, followed by two digits that
# tell which of them it is. Being a number, they keep the type that the value will have in YAML.
_STAND_IN: Final = "90706050"
_STAND_INS: Final = re.compile(rb"90706050(\d\d)")
_MOST_STAND_INS: Final = 100

CLUSTER_SCOPED: Mapping[str, type[ApiObject]] = {
    kind.__name__: kind
    for kind in (
        objects.CSIDriver,
        objects.CSINode,
        objects.DeviceClass,
        objects.DeviceTaintRule,
        Namespace,
        Node,
        objects.PersistentVolume,
        objects.ResourceSlice,
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
        objects.PodGroup,
        objects.ReplicaSet,
        objects.ReplicationController,
        objects.ResourceClaim,
        objects.ResourceClaimTemplate,
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
    """An object without a name.

    ``plain`` has stand-ins for what depends on the index, and ``first`` is the object of index 0.
    """

    def __init__(
        self,
        plain: Mapping[str, Any],
        first: Mapping[str, Any] | None = None,
        deferred: Sequence[Deferred] = (),
    ) -> None:
        self.kind = _kind(plain)
        self.deferred = deferred
        metadata = {"creationTimestamp": _CREATED, **(plain.get("metadata") or {})}
        example = _named(plain if first is None else first)
        # An invalid selector is reported once, not by each attempt of each pod.
        objects.validate(objects.decode(self.kind, example))
        self.fixed_name: str = metadata.pop("name", None) or ""
        self.prefix: str = metadata.get("generateName") or f"{self.kind.__name__.lower()}-"
        self.metadata = metadata
        self._model = objects.decode(self.kind, _defaulted(example))
        self.plain: dict[str, Any] = _defaulted(plain)
        self.plain.pop("metadata", None)
        self._rest = _after_brace(self.plain)

    @property
    def is_namespaced(self) -> bool:
        return self.kind.__name__ in NAMESPACED

    @property
    def makes_one_name(self) -> bool:
        """Whether all its objects have the same name, so that there can be only one."""
        return bool(self.fixed_name) and self.fixed_name == self.name(0, 1) == self.name(0, 0)

    def name(self, serial: int, index: int = 0) -> str:
        name = self.fixed_name or f"{self.prefix}{serial}"
        return self._filled(name.encode(), index).decode() if self.deferred else name

    def build(
        self, serial: int, namespace: str = "", *, name: str = "", index: int = 0
    ) -> ApiObject:
        """Return a new object; unless it depends on its index, it shares all but its metadata."""
        model = self._model
        if self.deferred:
            model = objects.decode(self.kind, self.json(serial, namespace, index=index))
        metadata = msgspec.structs.replace(
            model.metadata,
            name=name or self.name(serial, index),
            namespace=namespace if self.is_namespaced else "",
            uid=uid(serial),
        )
        if self.kind in (Node, Namespace):
            key = HOSTNAME if self.kind is Node else _NAMESPACE_NAME
            labels = {**metadata.labels, key: metadata.name}
            metadata = msgspec.structs.replace(metadata, labels=labels)
        return msgspec.structs.replace(model, metadata=metadata)

    def json(
        self, serial: int, namespace: str, own: Fields | None = None, *, index: int = 0
    ) -> bytes:
        """Return a new object as the JSON of a watch; ``own`` are its own fields, by part."""
        name = self.fixed_name or f"{self.prefix}{serial}"
        metadata = self.metadata | {"name": name, "namespace": namespace, "uid": uid(serial)}
        rest = self._rest
        if own:
            metadata |= own.get("metadata", {})
            parts = {part: self.part(part) | own[part] for part in own if part != "metadata"}
            rest = _after_brace(self.plain | parts) if parts else rest
        data = b'{"metadata":%b,%b' % (msgspec.json.encode(metadata), rest)
        return self._filled(data, index) if self.deferred else data

    def part(self, name: str) -> dict[str, Any]:
        """Return ``spec`` or ``status`` of the template."""
        return self.plain.get(name) or {}

    def _filled(self, data: bytes, index: int) -> bytes:
        return _STAND_INS.sub(lambda found: self.deferred[int(found[1])].text(index).encode(), data)


class Templates:
    """The templates of one workload file by path; an empty path is the built-in one.

    A template is filled in with the parameters and the number of objects of an operation.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: dict[tuple[str, str, int], Template] = {}
        self._built_in = {kind: Template(plain) for kind, plain in _BUILT_IN.items()}

    def load(self, path: str, params: Mapping[str, Any] | None = None, count: int = 1) -> Template:
        """Read a template, once; raise ``PodiumError`` if it is unusable."""
        key = (path, repr(params or {}), count)
        if key not in self._known:
            values = {**(params or {}), "Count": count}
            self._known[key] = _read(self._directory / path, values)
        return self._known[key]

    def get(
        self,
        path: str,
        kind: type[ApiObject],
        params: Mapping[str, Any] | None = None,
        count: int = 1,
    ) -> Template:
        return self.load(path, params, count) if path else self._built_in[kind]


def _read(path: Path, values: Mapping[str, Any]) -> Template:
    # As in scheduler_perf, filled in before parsing: a value may be part of a larger one.
    pieces = list(render(read_text(path), values))
    deferred = [piece for piece in pieces if isinstance(piece, Deferred)]
    if len(deferred) > _MOST_STAND_INS:
        raise PodiumError(f"at most {_MOST_STAND_INS} values of a template can use .Index")
    places = iter(range(len(deferred)))
    plain = _object(
        piece if isinstance(piece, str) else f"{_STAND_IN}{next(places):02d}" for piece in pieces
    )
    if not deferred:
        return Template(plain)
    first = _object(piece if isinstance(piece, str) else piece.text(0) for piece in pieces)
    return Template(plain, first, deferred)


def _object(pieces: Iterable[str]) -> Mapping[str, Any]:
    found = load_yaml("".join(pieces))
    if len(found) != 1:
        raise PodiumError(f"a template is one object, not {len(found)}")
    return found[0]


def _named(plain: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"creationTimestamp": _CREATED, **(plain.get("metadata") or {})}
    return {**plain, "metadata": {**metadata, "name": metadata.get("name") or "template"}}


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
        case {"kind": "ResourceClaim", "spec": {**spec}}:
            return {**plain, "spec": with_claim_defaults(cast(Json, spec))}
        case {"kind": "ResourceClaimTemplate", "spec": {"spec": {**spec}, **rest}}:
            return {**plain, "spec": {**rest, "spec": with_claim_defaults(cast(Json, spec))}}
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
