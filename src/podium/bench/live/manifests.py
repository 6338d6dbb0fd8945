"""The objects of a workload as they are sent to an API server, with the benchmark's label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from podium.api.nodes import HOSTNAME
from podium.api.objects import ApiObject, Namespace, Node, PersistentVolume, Pod, encode
from podium.bench.objects import prepared
from podium.bench.ops import CreateNodes
from podium.bench.templates import Template
from podium.client.resources import Resource, decode_plain, resource_of

Json = dict[str, Any]

# On all objects outside namespaces; objects inside one are deleted with their namespace.
LABEL: Final = "podium.dev/bench"
PRIORITY_CLASSES: Final = Resource(
    "PriorityClass", "priorityclasses", decode_plain, "scheduling.k8s.io"
)
# The server assigns these itself.
_SERVERS_OWN: Final = ("uid", "creationTimestamp", "generateName")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object to be created."""

    resource: Resource[Any]
    namespace: str  # empty for an object without one
    body: Json

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def collection(self) -> str:
        """Return the path of the collection where it is created."""
        return collection(self.resource, self.namespace)


def collection(resource: Resource[Any], namespace: str) -> str:
    return resource.path_in(namespace) if namespace else resource.path


class Marking:
    """Makes manifests with the label of one run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id

    def of_json(self, kind: type[ApiObject], data: bytes) -> Manifest:
        """Make a manifest from the JSON of a template."""
        body: Json = msgspec.json.decode(data)
        if kind is PersistentVolume and "claimRef" in body["spec"]:
            del body["spec"]["claimRef"]["uid"]  # the uid is not known yet: bound by name
        if kind is Node:
            labels = body["metadata"].get("labels") or {}
            body["metadata"]["labels"] = labels | {HOSTNAME: body["metadata"]["name"]}
        return self._manifest(resource_of(kind), body)

    def pod(self, data: bytes, node_name: str = "") -> Manifest:
        manifest = self.of_json(Pod, data)
        if node_name:
            manifest.body["spec"]["nodeName"] = node_name
        return manifest

    def node(self, template: Template, op: CreateNodes, serial: int, index: int) -> Manifest:
        """Make a node from the template and the operation's strategies."""
        node = prepared(cast(Node, template.build(serial, index=index)), op, index)
        body: Json = msgspec.json.decode(template.json(serial, "", index=index))
        body["metadata"]["labels"] = dict(node.labels)
        body["status"] = {
            **(body.get("status") or {}),
            "allocatable": dict(node.status.allocatable),
        }
        return self._manifest(resource_of(Node), body)

    def namespace(self, template: Template, name: str) -> Manifest:
        body: Json = msgspec.json.decode(template.json(0, "", {"metadata": {"name": name}}))
        return self._manifest(resource_of(Namespace), body)

    def of_struct(self, obj: ApiObject) -> Manifest:
        """Make a manifest from a struct that podium built, which has all fields of the object."""
        return self._manifest(resource_of(type(obj)), msgspec.json.decode(encode(obj)))

    def priority_class(self, value: int) -> Manifest:
        body = {"metadata": {"name": priority_class_name(value)}, "value": value}
        return self._manifest(PRIORITY_CLASSES, body)

    def _manifest(self, resource: Resource[Any], body: Json) -> Manifest:
        metadata = body["metadata"]
        for name in _SERVERS_OWN:
            metadata.pop(name, None)
        namespace = metadata.get("namespace") or ""
        if not namespace:
            metadata.pop("namespace", None)
            metadata["labels"] = {**(metadata.get("labels") or {}), LABEL: self.run_id}
        group = f"{resource.group}/" if resource.group else ""
        body |= {"apiVersion": f"{group}{resource.version}", "kind": resource.kind}
        return Manifest(resource, namespace, body)


def priority_class_name(value: int) -> str:
    return f"podium-bench-{value}".replace("--", "-minus-")


def take_priority(manifest: Manifest) -> int | None:
    """Remove and return the priority of a pod; the name of a priority class takes its place.

    An API server does not accept a number.
    """
    spec = manifest.body["spec"]
    if spec.get("priority") is None or spec.get("priorityClassName"):
        return None
    value = int(spec.pop("priority"))
    spec["priorityClassName"] = priority_class_name(value)
    return value
