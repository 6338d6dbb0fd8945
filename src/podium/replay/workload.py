"""Makes the pods and nodes that the lines of a trace describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.api.meta import ApiObject
from podium.api.nodes import HOSTNAME
from podium.api.objects import (
    Container,
    Node,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PriorityClass,
    ResourceRequirements,
    Taint,
    decode,
    encode,
    validate,
)
from podium.errors import PodiumError, did_you_mean
from podium.replay.lines import Arrival, Json, Nodes, Shape
from podium.simulation.kinds import decoded, seen
from podium.state.kinds import ASPECTS

_DEFAULT_PODS: Final = 110  # kubelet's default
SYSTEM_CLASSES: Final = {
    "system-cluster-critical": PriorityClass(value=2_000_000_000),
    "system-node-critical": PriorityClass(value=2_000_001_000),
}


class PodMaker:
    """Makes pods. Pods of one shape, or of equal requests, share everything but their metadata."""

    def __init__(self, shapes: Mapping[str, Shape], objects: Iterable[Json] = ()) -> None:
        self._shapes = shapes
        self._classes = dict(SYSTEM_CLASSES)
        self._templates: dict[object, Pod] = {}
        for obj in objects:
            self.learn(obj)

    def learn(self, obj: Json) -> None:
        """Take note of a PriorityClass; other kinds do not matter here."""
        if obj.get("kind") == "PriorityClass":
            found = decode(PriorityClass, obj)
            self._classes[found.name] = found

    def pod(self, arrival: Arrival, restarts: int = 0) -> Pod:
        """Return the pod of an arrival; after a restart it is another one with the same name."""
        template = self.template(arrival)
        namespace, _, name = arrival.key.partition("/")
        metadata = replace(
            template.metadata, name=name, namespace=namespace, uid=f"{arrival.key}#{restarts}"
        )
        return replace(template, metadata=metadata)

    def template(self, line: Arrival | Shape) -> Pod:
        """Return what the pod is like, without its name; raise ``PodiumError`` if it is invalid."""
        if isinstance(line, Arrival) and line.shape:
            line = self._shapes[line.shape]
        key = _key(line)
        found = self._templates.get(key)
        if found is None:
            found = _from_requests(line) if line.pod is None else _from_manifest(line)
            name = _without_namespace(line.name) or "-"
            validate(replace(found, metadata=replace(found.metadata, name=name)))
            found = self._with_priority(found)
            if key is not None:
                self._templates[key] = found
        return found

    def _with_priority(self, pod: Pod) -> Pod:
        """Set the priority of the pod's class, as an API server does."""
        name = pod.spec.priority_class_name
        if pod.spec.priority is not None or not (name or self._default_class):
            return pod
        found = self._classes.get(name) if name else self._default_class
        if found is None:
            hint = did_you_mean(name, self._classes)
            raise PodiumError(f'no PriorityClass "{name}" is among the objects{hint}')
        policy = pod.spec.preemption_policy or found.preemption_policy
        spec = replace(pod.spec, priority=found.value, preemption_policy=policy)
        return replace(pod, spec=spec)

    @property
    def _default_class(self) -> PriorityClass | None:
        defaults = [each for each in self._classes.values() if each.global_default]
        return min(defaults, key=lambda each: each.value, default=None)


def _without_namespace(name: str) -> str:
    return name.rpartition("/")[2]


def _key(line: Arrival | Shape) -> object:
    if isinstance(line, Shape):
        return line.name
    if line.pod is not None:
        return None
    return line.priority, tuple(line.requests.items()), tuple(line.labels.items())


def _from_manifest(line: Arrival | Shape) -> Pod:
    pod = decode(Pod, line.pod or {})
    if pod.node_name:
        raise PodiumError("pod.spec.nodeName is set: pods arrive without a node")
    return pod


def _from_requests(line: Arrival | Shape) -> Pod:
    # An API server wants a limit where nodes cannot promise more than they have.
    limits = {name: amount for name, amount in line.requests.items() if "/" in name}
    resources = ResourceRequirements(requests=line.requests, limits=limits)
    container = Container(name="main", resources=resources)
    spec = PodSpec(containers=(container,), priority=line.priority)
    return Pod(metadata=ObjectMeta(labels=line.labels), spec=spec)


def nodes(line: Nodes) -> list[Node]:
    """Return the nodes of a line, each with the label of its host name."""
    amounts = {"pods": _DEFAULT_PODS, **line.allocatable}
    status = NodeStatus(capacity=amounts, allocatable=amounts)
    spec = NodeSpec(taints=tuple(decode(Taint, taint) for taint in line.taints))
    found = []
    for name in line.names():
        labels = {HOSTNAME: name, **line.labels}
        metadata = ObjectMeta(name=name, labels=labels, uid=f"uid-{name}")
        found.append(Node(metadata=metadata, spec=spec, status=status))
    validate(found[0])
    return found


def node(manifest: Json) -> Node:
    """Return the node of a manifest."""
    found = decode(Node, manifest)
    validate(found)
    return found


def initial_objects(manifests: Iterable[Json]) -> list[ApiObject]:
    """Return the objects that exist from the beginning, nodes first.

    Kinds that the scheduler does not read and pods that have ended are left out.
    """
    found: list[ApiObject] = []
    for manifest in manifests:
        obj = decoded(manifest)
        if isinstance(obj, Pod):
            obj = _with_uid(obj)
        has_ended = isinstance(obj, Pod) and seen(obj) is None
        if isinstance(obj, (Node, Pod, *ASPECTS)) and not has_ended:
            validate(obj)
            found.append(obj)
    return sorted(found, key=lambda obj: not isinstance(obj, Node))


def _with_uid(pod: Pod) -> Pod:
    """Return a pod of a manifest as an API server stores it, as far as a replay needs that."""
    meta = pod.metadata
    namespace = meta.namespace or "default"
    uid = meta.uid or f"{namespace}/{meta.name}#0"
    return replace(pod, metadata=replace(meta, namespace=namespace, uid=uid))


def resident(pod: Pod) -> Arrival:
    """Return the arrival of a pod that exists from the beginning."""
    manifest = msgspec.json.decode(encode(pod.bound_to("")))
    return Arrival(name=pod.key, pod=manifest)
