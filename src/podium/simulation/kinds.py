"""The kinds of objects in a simulation: which struct each has, and how manifests are decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from podium.api.codec import UNREADABLE, decode, encode
from podium.api.meta import ApiObject
from podium.api.objects import (
    Node,
    ObjectMeta,
    Pod,
    PriorityClass,
    ResourceClaimTemplate,
)
from podium.app.ignored_fields import watched_nodes, watched_pods
from podium.client.resources import Resource, resource_of
from podium.config.feature_gates import FeatureGates
from podium.errors import InvalidObject, Problem, SimulationError
from podium.state.kinds import ASPECTS

Json = dict[str, Any]
Given = ApiObject | Mapping[str, Any]

POD: Final = "Pod"
NODE: Final = "Node"
NAMESPACE: Final = "Namespace"
PRIORITY_CLASS: Final = "scheduling.k8s.io/PriorityClass"
BUDGET: Final = "policy/PodDisruptionBudget"
RUNTIME_CLASS: Final = "node.k8s.io/RuntimeClass"
CSI_NODE: Final = "storage.k8s.io/CSINode"
RESOURCE_SLICE: Final = "resource.k8s.io/ResourceSlice"
VOLUME: Final = "PersistentVolume"
VOLUME_CLAIM: Final = "PersistentVolumeClaim"
STORAGE_CLASS: Final = "storage.k8s.io/StorageClass"
CLAIM: Final = "resource.k8s.io/ResourceClaim"
CLAIM_TEMPLATE: Final = "resource.k8s.io/ResourceClaimTemplate"
POD_GROUPS: Final = ("scheduling.k8s.io/PodGroup", "scheduling.k8s.io/CompositePodGroup")

# What admission of pods looks up, by the name of the resource in the API.
LOOKED_UP: Final = {
    NAMESPACE: "namespaces",
    PRIORITY_CLASS: "priorityclasses.scheduling.k8s.io",
    RUNTIME_CLASS: "runtimeclasses.node.k8s.io",
}

_NAMES: Final[Mapping[type[ApiObject], str]] = {
    Pod: POD,
    Node: NODE,
    PriorityClass: PRIORITY_CLASS,
    ResourceClaimTemplate: CLAIM_TEMPLATE,
    **{struct: resource_of(struct).event_name for struct in ASPECTS},
}
WATCHED: Final = tuple(_NAMES[struct] for struct in ASPECTS)
_STRUCTS: Final = {name: struct for struct, name in _NAMES.items()}


class OtherObject(ApiObject, frozen=True, gc=False):
    """An object of a kind that the scheduler does not decode, such as a Deployment."""

    kind: str = ""
    content: dict[str, Any] = msgspec.field(default_factory=dict)


def kind_of(obj: ApiObject) -> str:
    """Return the kind with its group, such as ``Pod`` or ``apps/ReplicaSet``."""
    if isinstance(obj, OtherObject):
        return obj.kind
    name = _NAMES.get(type(obj))
    if name is None:
        raise SimulationError(f"a simulation keeps no {type(obj).__name__} objects")
    return name


def kind_of_manifest(manifest: Mapping[str, Any]) -> str:
    """Return the kind of a manifest with its group; the version does not matter."""
    if not isinstance(manifest, Mapping):
        text = "expected a manifest as a dict, or an object of podium.api"
        raise SimulationError(f"{text}, got {manifest!r:.80}")
    kind, version = manifest.get("kind"), manifest.get("apiVersion", "v1")
    if not isinstance(kind, str) or not kind or not isinstance(version, str):
        raise SimulationError(f"not an API object, it has no kind: {dict(manifest)!r:.80}")
    group = version.rpartition("/")[0]
    return f"{group}/{kind}" if group else kind


def is_new(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest describes an object that no API server has seen; check its shape."""
    metadata = manifest.get("metadata")
    if not isinstance(metadata, Mapping):
        name = kind_of_manifest(manifest)
        raise SimulationError(f"not an API object, it has no metadata: a {name}")
    return not metadata.get("uid")


def deciding_first(given: Given) -> int:
    """Sort objects so that those come first that decide what becomes of others."""
    kind = kind_of(given) if isinstance(given, ApiObject) else kind_of_manifest(given)
    return 0 if kind in LOOKED_UP else 1 if kind == NODE else 2


class Decoder:
    """Decodes the JSON of objects as the scheduler of a release reads it from its watches."""

    def __init__(self, gates: FeatureGates) -> None:
        known = {name: resource_of(struct) for struct, name in _NAMES.items() if name in WATCHED}
        self._resources: dict[str, Resource[Any]] = {
            **known,
            POD: watched_pods(gates),
            NODE: watched_nodes(gates),
        }

    def decode(self, kind: str, raw: bytes) -> ApiObject:
        """Decode an object of a kind such as ``apps/ReplicaSet``."""
        resource = self._resources.get(kind)
        if resource is None:
            return decoded(msgspec.json.decode(raw))
        obj: ApiObject = resource.decode(raw, None)
        return obj

    def observed(self, kind: str, raw: bytes) -> ApiObject | Json:
        """Decode an object of a snapshot. One that is new stays a manifest, to be admitted."""
        try:
            obj = self.decode(kind, raw)
            if not obj.metadata.uid:
                manifest: Json = msgspec.json.decode(raw)
                return manifest
        except UNREADABLE as error:
            raise InvalidObject(kind, "", [Problem("", str(error))]) from error
        if not obj.metadata.name:
            raise InvalidObject(kind, "", [Problem("metadata.name", "is missing")])
        return obj


def decoded(manifest: Mapping[str, Any]) -> ApiObject:
    """Decode an object as an API server shows it; ``InvalidObject`` says what is wrong."""
    name = kind_of_manifest(manifest)
    struct = _STRUCTS.get(name)
    if struct is not None:
        return decode(struct, manifest)
    metadata = manifest.get("metadata") or {}
    try:
        meta = msgspec.convert(metadata, ObjectMeta)
    except UNREADABLE:
        meta = decode(ObjectMeta, metadata)  # accepts nulls, and explains what is wrong
    return OtherObject(metadata=meta, kind=name, content=dict(manifest))


def manifest_of(obj: ApiObject) -> Json:
    """Return the manifest of an object, as far as podium decodes it."""
    if isinstance(obj, OtherObject):
        found: Json = msgspec.json.decode(msgspec.json.encode(obj.content))
        return found
    manifest: Json = msgspec.json.decode(encode(obj))
    manifest.setdefault("metadata", {})
    group, _, kind = kind_of(obj).rpartition("/")
    version = "v1" if kind == "PriorityClass" else resource_of(type(obj)).version
    api_version = f"{group}/{version}" if group else version
    return {"apiVersion": api_version, "kind": kind, **manifest}


def seen(pod: Pod | None) -> Pod | None:
    """Return the pod as the scheduler watches it; one that has ended is gone."""
    return None if pod is None or pod.has_ended else pod
