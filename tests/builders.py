"""Pods and nodes for tests, from keyword arguments in the notation of kubectl's users.

``pod("web", cpu="500m", tolerates="gpu=a100:NoSchedule spot:", labels="app=web tier=front")``
``node("n1", cpu="4", memory="8Gi", taints="spot:PreferNoSchedule", labels="zone=a")``
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from podium.api.objects import (
    Container,
    ContainerImage,
    ContainerPort,
    Node,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Taint,
    Toleration,
)

META = {field.name for field in msgspec.structs.fields(ObjectMeta)}
CAMEL = {
    kind: {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    for kind in (PodSpec, PodStatus, NodeStatus)
}


def pod(  # noqa: PLR0913  # a keyword per thing that tests say of a pod
    name: str = "pod",
    *,
    namespace: str = "default",
    labels: str | Mapping[str, str] = "",
    node: str = "",
    cpu: Any = None,
    memory: Any = None,
    requests: Mapping[str, Any] | None = None,
    image: str = "",
    host_ports: tuple[int, ...] = (),
    tolerates: str = "",
    node_selector: str | Mapping[str, str] = "",
    status: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Pod:
    """A pod of one container, with the uid ``uid-<name>``.

    ``requests`` adds resources by their full names. Every other keyword is a field of the metadata
    or of the spec by its Python name (``priority``, ``affinity``, ``deletion_timestamp``); nested
    values may be objects or plain dicts as in a manifest. ``containers`` replaces the container.
    """
    amounts = {"cpu": cpu, "memory": memory, **(requests or {})}
    ports = tuple(ContainerPort(container_port=port, host_port=port) for port in host_ports)
    container = Container(
        name="main",
        image=image,
        ports=ports,
        resources=ResourceRequirements(requests=_given(amounts)),
    )
    spec = {
        "node_name": node,
        "containers": (container,),
        "tolerations": tuple(map(toleration, tolerates.split())),
        "node_selector": pairs(node_selector),
    }
    meta, others = _split(rest)
    return Pod(
        metadata=_meta(name, labels, {"namespace": namespace, **meta}),
        spec=_struct(PodSpec, {**spec, **others}),
        status=_struct(PodStatus, status or {}),
    )


def node(  # noqa: PLR0913  # as above, of a node
    name: str = "node",
    *,
    cpu: Any = "4",
    memory: Any = "16Gi",
    pods: Any = 110,
    allocatable: Mapping[str, Any] | None = None,
    labels: str | Mapping[str, str] = "",
    taints: str = "",
    unschedulable: bool = False,
    images: Mapping[str, int] | None = None,
    **rest: Any,
) -> Node:
    """A node that offers 4 cpu, 16Gi and 110 pods; ``cpu=None`` leaves a resource out.

    ``allocatable`` adds resources by their full names, ``images`` are names with their sizes. Every
    other keyword is a field of the metadata or of the status by its Python name.
    """
    amounts = _given({"cpu": cpu, "memory": memory, "pods": pods, **(allocatable or {})})
    held = tuple(ContainerImage((image,), size) for image, size in (images or {}).items())
    meta, others = _split(rest)
    return Node(
        metadata=_meta(name, labels, meta),
        spec=NodeSpec(unschedulable=unschedulable, taints=tuple(map(taint, taints.split()))),
        status=_struct(
            NodeStatus, {"capacity": amounts, "allocatable": amounts, "images": held, **others}
        ),
    )


def taint(text: str) -> Taint:
    """``key=value:Effect`` or ``key:Effect``."""
    what, _, effect = text.rpartition(":")
    key, _, value = what.partition("=")
    return Taint(key, value, effect)


def toleration(text: str) -> Toleration:
    """As a taint; without a value it tolerates any, without an effect all, ``:`` everything."""
    what, _, effect = text.rpartition(":")
    key, equals, value = what.partition("=")
    return Toleration(key, "Equal" if equals else "Exists", value, effect)


def pairs(text: str | Mapping[str, str]) -> dict[str, str]:
    """``app=web tier=front`` as labels."""
    if not isinstance(text, str):
        return dict(text)
    return {key: value for key, _, value in (word.partition("=") for word in text.split())}


def _given(amounts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: amount for name, amount in amounts.items() if amount is not None}


def _split(rest: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of the metadata, and the others."""
    meta = {name: value for name, value in rest.items() if name in META}
    return meta, {name: value for name, value in rest.items() if name not in META}


def _meta(name: str, labels: str | Mapping[str, str], rest: Mapping[str, Any]) -> ObjectMeta:
    return ObjectMeta(**{"name": name, "uid": f"uid-{name}", "labels": pairs(labels), **rest})


def _struct(kind: Any, fields: Mapping[str, Any]) -> Any:
    """A struct from Python names; values that are plain dicts and lists are converted."""
    names = CAMEL[kind]
    if unknown := fields.keys() - names.keys():
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
    return msgspec.convert({names[name]: value for name, value in fields.items()}, kind)
