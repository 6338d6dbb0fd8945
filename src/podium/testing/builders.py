"""Objects for tests, from keyword arguments in the notation of kubectl's users.

``pod("web", cpu="500m", tolerates="gpu=a100:NoSchedule spot:", labels="app=web tier=front")``
``node("n1", cpu="4", memory="8Gi", taints="spot:PreferNoSchedule", labels="zone=a")``

Other kinds are in ``builders_storage`` and ``builders_devices``, or are made with
``podium.api.objects.decode``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec

from podium.api.objects import (
    Container,
    ContainerImage,
    ContainerPort,
    Namespace,
    Node,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Service,
    Taint,
    Toleration,
)
from podium.api.workloads import ServiceSpec

Labels = str | Mapping[str, str]
T = TypeVar("T", bound=msgspec.Struct)

_META = {field.name for field in msgspec.structs.fields(ObjectMeta)}


def pod(  # noqa: PLR0913  # a keyword per thing that tests say of a pod
    name: str = "pod",
    *,
    namespace: str = "default",
    labels: Labels = "",
    node: str = "",
    cpu: Any = None,
    memory: Any = None,
    requests: Mapping[str, Any] | None = None,
    image: str = "app:1",
    host_ports: tuple[int, ...] = (),
    tolerates: str = "",
    node_selector: Labels = "",
    claims: str = "",
    status: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Pod:
    """A pod of one container, with the uid ``uid-<name>``; it runs on ``node``, if named.

    ``requests`` adds resources by their full names; ``claims`` are the names of claims it mounts.
    Every other keyword is a field of the metadata or of the spec by its Python name (``priority``,
    ``affinity``, ``deletion_timestamp``); nested values may be objects or plain dicts as in a
    manifest. ``containers`` replaces the container.
    """
    amounts = _given({"cpu": cpu, "memory": memory, **(requests or {})})
    # An API server wants a limit where nodes cannot promise more than they have.
    limits = {resource: amount for resource, amount in amounts.items() if "/" in resource}
    ports = tuple(ContainerPort(container_port=port, host_port=port) for port in host_ports)
    container = Container(
        name="main",
        image=image,
        ports=ports,
        resources=ResourceRequirements(requests=amounts, limits=limits),
    )
    spec = {
        "node_name": node,
        "containers": (container,),
        "tolerations": tuple(map(toleration, tolerates.split())),
        "node_selector": pairs(node_selector),
        "volumes": [_mounted(claim) for claim in claims.split()],
    }
    meta, others = split(rest)
    return Pod(
        metadata=metadata(name, labels, {"namespace": namespace, **meta}),
        spec=struct(PodSpec, {**spec, **others}),
        status=struct(PodStatus, status or {}),
    )


def node(  # noqa: PLR0913  # as above, of a node
    name: str = "node",
    *,
    cpu: Any = "4",
    memory: Any = "16Gi",
    pods: Any = 110,
    allocatable: Mapping[str, Any] | None = None,
    labels: Labels = "",
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
    meta, others = split(rest)
    return Node(
        metadata=metadata(name, labels, meta),
        spec=NodeSpec(unschedulable=unschedulable, taints=tuple(map(taint, taints.split()))),
        status=struct(
            NodeStatus, {"capacity": amounts, "allocatable": amounts, "images": held, **others}
        ),
    )


def namespace(name: str, *, labels: Labels = "", **meta: Any) -> Namespace:
    return Namespace(metadata=metadata(name, labels, meta))


def service(name: str = "web", *, selector: Labels = "app=web", **meta: Any) -> Service:
    """A service for the pods with these labels, in ``default`` unless said otherwise."""
    return Service(
        metadata=metadata(name, "", {"namespace": "default", **meta}),
        spec=ServiceSpec(selector=pairs(selector)),
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


def pairs(text: Labels) -> dict[str, str]:
    """Return labels written as ``app=web tier=front`` or ``app=web,tier=front``."""
    if not isinstance(text, str):
        return dict(text)
    words = text.replace(",", " ").split()
    if wrong := [word for word in words if not word.partition("=")[1] or word[0] == "="]:
        raise ValueError(f"{wrong[0]!r} in {text!r} is not key=value")
    return {key: value for key, _, value in (word.partition("=") for word in words)}


def split(rest: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of the metadata, and the others."""
    meta = {name: value for name, value in rest.items() if name in _META}
    return meta, {name: value for name, value in rest.items() if name not in _META}


def metadata(name: str, labels: Labels, rest: Mapping[str, Any]) -> ObjectMeta:
    fields = {"name": name, "uid": f"uid-{name}", "labels": pairs(labels), **rest}
    return struct(ObjectMeta, fields)


def struct(kind: type[T], fields: Mapping[str, Any]) -> T:
    """A struct from Python names; values that are plain dicts and lists are converted."""
    names = _written(kind)
    if unknown := fields.keys() - names.keys():
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
    return msgspec.convert({names[name]: value for name, value in fields.items()}, kind)


@cache
def _written(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return how a manifest spells the fields."""
    return {field.name: field.encode_name for field in msgspec.structs.fields(kind)}


def _given(amounts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: amount for name, amount in amounts.items() if amount is not None}


def _mounted(claim: str) -> dict[str, Any]:
    return {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
