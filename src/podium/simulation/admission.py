"""New objects as an API server would store them: defaults, admission, validation, a uid.

An object with a uid comes from a cluster, where all of that was done: it is taken as it is.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from podium.api.codec import decode
from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.api.times import time_text
from podium.apiserver.api import Api, Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.features import features_of
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kubelet_nodes import completed
from podium.apiserver.statuses import Refusal
from podium.clock import Clock
from podium.config.feature_gates import FeatureGates
from podium.errors import InvalidObject, Problem, SimulationError
from podium.simulation.custom_objects import CUSTOM_KINDS
from podium.simulation.kinds import (
    LOOKED_UP,
    NODE,
    POD,
    Decoder,
    Given,
    Json,
    is_new,
    kind_of_manifest,
    manifest_of,
)
from podium.simulation.limits import check_number
from podium.simulation.naming import names_of_copies
from podium.simulation.workloads import expand, has_pods, with_replicas

_UIDS: Final = uuid.UUID("6b0ad8a4-7b8c-5f0e-9d8f-2f6a5c1d3e47")  # names of podium's simulations


class Reader(Protocol):
    """The objects of the simulated cluster."""

    @property
    def clock(self) -> Clock: ...
    def all(self, kind: str) -> Mapping[str, Any]: ...


class Admission:
    """Turns manifests into objects. It holds copies of the few objects that decide about others."""

    def __init__(self, objects: Reader, gates: FeatureGates, seed: int) -> None:
        self._objects = objects
        self._decoder = Decoder(gates)
        self._gates = gates
        self._seed = seed
        self._made: Api | None = None
        self._copied: dict[tuple[str, str], ApiObject] = {}

    def admit(self, given: Given, replicas: int | None = None) -> Iterator[ApiObject]:
        """Yield an object as it would be stored, and the pods that its controllers create.

        ``replicas`` is the number of copies of a pod, or of pods of a workload. ``InvalidObject``
        says why an API server would refuse the object.
        """
        if replicas is not None:
            check_number("replicas", replicas)
        if not isinstance(given, ApiObject) and is_new(given) and has_pods(kind_of_manifest(given)):
            yield from self._with_pods(dict(given), replicas)
            return
        first = self.admit_one(given)
        if replicas is None or not isinstance(first, Pod):
            yield first
            return
        for name in names_of_copies(first.name, replicas):
            yield self.renamed(first, name)

    def admit_one(self, given: Given) -> ApiObject:
        """Return an object as it would be stored, without what controllers create."""
        if isinstance(given, ApiObject):
            return given if given.uid else self._decode(self._created(manifest_of(given)))
        kind_of_manifest(given)  # raises if it is not a manifest
        return self._decode(self._created(dict(given)) if is_new(given) else given)

    def _with_pods(self, workload: Json, replicas: int | None) -> Iterator[ApiObject]:
        if replicas is not None:
            workload = with_replicas(workload, replicas)
        owner = self._created(workload)
        obj = self._decode(owner)
        if obj.key in self._objects.all(kind_of_manifest(owner)):
            raise SimulationError(
                f"{owner['kind']} {obj.key} is there already: a simulation does not roll out new "
                "versions; give it another name, or add its pods"
            )
        yield obj
        for child in expand(owner, self._objects.all(NODE).values()):
            yield from self.admit(child)

    def renamed(self, pod: Pod, name: str) -> Pod:
        """Return another pod that differs only in its name."""
        uid = self._uid(POD, f"{pod.namespace}/{name}")
        return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))

    def _uid(self, kind: str, key: str) -> str:
        """Return a uid that is the same in every fork and every run: it decides between nodes."""
        return str(uuid.uuid5(_UIDS, f"{self._seed} {kind} {key}"))

    def _created(self, manifest: Json) -> Json:
        """Return the manifest as an API server would store it."""
        try:
            return self._stored(manifest)
        except RecursionError as error:
            problem = Problem("", "nested too deeply")
            raise InvalidObject(kind_of_manifest(manifest), "", [problem]) from error

    def _stored(self, manifest: Json) -> Json:
        name = kind_of_manifest(manifest)
        manifest = self._named(name, manifest)
        if name == NODE:
            manifest = self._reported(manifest)
        kind = self._api.kinds.of(manifest.get("apiVersion", "v1"), manifest["kind"])
        if kind is not None and name != NODE:
            manifest = self._admitted(kind, manifest)
        meta = manifest["metadata"]
        if name in CUSTOM_KINDS.values():
            meta = manifest["metadata"] = {"namespace": "default", **meta}
        if not meta.get("name"):
            raise InvalidObject(manifest["kind"], "", [Problem("metadata.name", "required")])
        key = f"{meta.get('namespace', '')}/{meta['name']}"
        meta["uid"] = self._uid(name, key)
        meta.setdefault("creationTimestamp", time_text(self._objects.clock.now()))
        return manifest

    def _named(self, kind: str, manifest: Json) -> Json:
        """Return the manifest with a name for its ``generateName``, the same in every run."""
        meta = manifest.get("metadata")
        prefix = meta.get("generateName") if isinstance(meta, Mapping) else None
        if meta is None or not isinstance(prefix, str) or not prefix or meta.get("name"):
            return manifest
        namespace = "" if kind == NODE else meta.get("namespace") or "default"
        known = self._objects.all(kind)
        keys = (f"{namespace}/{prefix}{number}".lstrip("/") for number in count())
        free = next(key for key in keys if not (key in known or f"{key}-0" in known))
        return {**manifest, "metadata": {**meta, "name": free.rpartition("/")[2]}}

    def _decode(self, manifest: Mapping[str, Any]) -> ApiObject:
        return self._decoder.decode(kind_of_manifest(manifest), msgspec.json.encode(manifest))

    def _reported(self, manifest: Json) -> Json:
        """Return a node with what its kubelet reports; what the manifest says stays as it is."""
        decode(Node, manifest)  # refuses wrong types
        node = {part: manifest.get(part) or {} for part in ("metadata", "spec", "status")}
        if not node["metadata"].get("name"):
            raise InvalidObject("Node", "", [Problem("metadata.name", "required")])
        node = {**manifest, **node}
        now = time_text(self._objects.clock.now())
        return completed(node, 0, now, self._gates.release)

    def _admitted(self, kind: ApiKind, manifest: Json) -> Json:
        self._follow_objects()
        namespace = ""
        if kind.namespaced:
            namespace = (manifest.get("metadata") or {}).get("namespace") or "default"
            self._ensure_namespace(namespace)
        try:
            item = self._api.create(kind, namespace, manifest, Call(dry_run=True))
        except Refusal as refusal:
            meta = manifest.get("metadata") or {}
            key = "/".join(filter(None, (namespace, str(meta.get("name", "")))))
            raise InvalidObject(kind.kind, key, [Problem("", refusal.message)]) from refusal
        admitted = item.decode()
        status = manifest.get("status")
        if status and not kind.created_with_status:  # the simulated cluster has no other way
            admitted["status"] = {**(admitted.get("status") or {}), **status}
        return admitted

    @property
    def _api(self) -> Api:
        if self._made is None:
            self._made = new_api(
                self._objects.clock,
                seed=self._seed,
                release=self._gates.release,
                features=features_of(self._gates),
            )
        return self._made

    def _follow_objects(self) -> None:
        """Copy what was added or changed among the objects that decide about others."""
        for kind, resource in LOOKED_UP.items():
            for key, obj in self._objects.all(kind).items():
                if self._copied.get((kind, key)) is not obj:
                    self._copy(resource, obj)
                    self._copied[kind, key] = obj
            gone = [each for each in self._copied if each[0] == kind and not self._has(*each)]
            for each in gone:
                del self._copied[each]
                self._api.store.remove(resource, ("", each[1]))

    def _has(self, kind: str, key: str) -> bool:
        return key in self._objects.all(kind)

    def _copy(self, resource: str, obj: ApiObject) -> None:
        store = self._api.store
        manifest = manifest_of(obj)
        manifest["metadata"].pop("resourceVersion", None)
        if store.find(resource, ("", obj.name)) is not None:
            store.remove(resource, ("", obj.name))
        store.create(resource, manifest)

    def _ensure_namespace(self, name: str) -> None:
        """Dumps often have no namespaces: one that an object names is taken to exist."""
        if self._api.store.find("namespaces", ("", name)) is None:
            self._api.store.create("namespaces", {"metadata": {"name": name}})
