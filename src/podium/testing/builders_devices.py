"""Devices, classes, slices and claims for tests, as ``builders`` makes pods and nodes.

``device_class("gpu", driver="gpu.example.com")``
``resource_slice("n1-gpus", node="n1", devices=8)``
``resource_claim("training", device_class="gpu", count=2)``

A pod names its claims as a manifest does:
``pod("web", resource_claims=[{"name": "gpu", "resourceClaimName": "training"}])``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from podium.api.devices import (
    CELDeviceSelector,
    Device,
    DeviceClass,
    DeviceClassSpec,
    DeviceSelector,
    ResourceSlice,
    ResourceSliceSpec,
)
from podium.api.resource_claims import (
    FINALIZER,
    AllocationResult,
    DeviceClaim,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from podium.testing.builders import Labels, metadata, split, struct, taint

DRIVER = "gpu.example.com"


def device_class(
    name: str = "gpu", *, driver: str = DRIVER, selectors: Iterable[str] = (), **rest: Any
) -> DeviceClass:
    """A class for all devices of a driver; ``selectors`` are CEL expressions to use instead.

    Every other keyword is a field of the metadata or of the spec by its Python name.
    """
    meta, others = split(rest)
    expressions = tuple(selectors) or (f'device.driver == "{driver}"',)
    spec = {"selectors": _selectors(expressions), **others}
    return DeviceClass(
        metadata=metadata(name, meta.pop("labels", ""), meta), spec=struct(DeviceClassSpec, spec)
    )


def device(
    name: str = "gpu-0",
    *,
    attributes: Mapping[str, Any] | None = None,
    capacity: Mapping[str, Any] | None = None,
    taints: str = "",
    **fields: Any,
) -> Device:
    """A device of a slice.

    A plain value is an attribute of its type (``model="a100"``); ``{"version": "1.2.0"}`` gives
    another type. ``capacity`` maps names to quantities. Taints are written as those of nodes. Every
    other keyword is a field by its Python name.
    """
    made = {
        "name": name,
        "attributes": {key: _attribute(value) for key, value in (attributes or {}).items()},
        "capacity": {key: _capacity(value) for key, value in (capacity or {}).items()},
        "taints": tuple(map(taint, taints.split())),
    }
    return struct(Device, {**made, **fields})


def resource_slice(
    name: str = "slice",
    *,
    driver: str = DRIVER,
    node: str = "",
    devices: int | Iterable[Device | str] = 1,
    **rest: Any,
) -> ResourceSlice:
    """A slice that is a whole pool, with devices for ``node``, or for all nodes without one.

    ``devices`` is a number (they are named gpu-0, gpu-1 …), names or devices. The pool has the name
    of the node, or of the slice without one. Every other keyword is a field of the metadata or of
    the spec by its Python name.
    """
    meta, others = split(rest)
    listed = [f"gpu-{number}" for number in range(devices)] if isinstance(devices, int) else devices
    spec: dict[str, Any] = {
        "driver": driver,
        "pool": {"name": node or name, "generation": 1, "resourceSliceCount": 1},
        "devices": tuple(device(one) if isinstance(one, str) else one for one in listed),
    }
    if not {"node_name", "node_selector", "all_nodes", "per_device_node_selection"} & others.keys():
        spec |= {"node_name": node} if node else {"all_nodes": True}
    return ResourceSlice(
        metadata=metadata(name, meta.pop("labels", ""), meta),
        spec=struct(ResourceSliceSpec, {**spec, **others}),
    )


def resource_claim(
    name: str = "gpu", *, allocated: str = "", reserved_for: str = "", **rest: Any
) -> ResourceClaim:
    """A claim to devices.

    ``allocated`` are devices that it has, as ``driver/pool/device`` for its first request;
    ``reserved_for`` names pods that use it, with the uids that ``pod`` gives them. Other keywords
    are those of ``requested``, or fields of the metadata by their Python names.
    """
    meta, others = split(rest)
    claim = requested(**others)
    if allocated:
        meta.setdefault("finalizers", (FINALIZER,))
    return ResourceClaim(
        metadata=metadata(name, meta.pop("labels", ""), {"namespace": "default", **meta}),
        spec=ResourceClaimSpec(claim),
        status=ResourceClaimStatus(
            allocation=_allocation(claim, allocated.split()) if allocated else None,
            reserved_for=tuple(map(_consumer, reserved_for.split())),
        ),
    )


def resource_claim_template(
    name: str = "gpu", *, labels: Labels = "", **rest: Any
) -> ResourceClaimTemplate:
    """A template for claims; ``labels`` are those of the claims. Keywords as of a claim."""
    meta, others = split(rest)
    claim_meta = metadata("", labels, {"uid": ""})
    return ResourceClaimTemplate(
        metadata=metadata(name, "", {"namespace": "default", **meta}),
        spec=ResourceClaimTemplateSpec(claim_meta, ResourceClaimSpec(requested(**others))),
    )


def requested(
    *,
    device_class: str = "gpu",
    count: int | None = 1,
    selectors: Iterable[str] = (),
    requests: Iterable[Any] = (),
    **fields: Any,
) -> DeviceClaim:
    """One request for ``count`` devices of a class; ``count=None`` for all of them.

    ``requests`` replaces it, with requests as in a manifest. Every other keyword is a field of the
    claim's devices by its Python name: ``constraints``, ``config``.
    """
    mode = {"allocationMode": "All"} if count is None else {"allocationMode": "ExactCount"}
    exactly = {
        "deviceClassName": device_class,
        "selectors": _selectors(selectors),
        **mode,
        "count": count or 0,
    }
    listed = tuple(requests) or ({"name": "request-0", "exactly": exactly},)
    return struct(DeviceClaim, {"requests": listed, **fields})


def _selectors(expressions: Iterable[str]) -> tuple[DeviceSelector, ...]:
    return tuple(DeviceSelector(CELDeviceSelector(text)) for text in expressions)


def _attribute(value: Any) -> Any:
    match value:
        case bool():
            return {"bool": value}
        case int():
            return {"int": value}
        case str():
            return {"string": value}
    return value


def _capacity(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {"value": value}


def _allocation(claim: DeviceClaim, devices: list[str]) -> AllocationResult:
    first = claim.requests[0].name
    named = [
        dict(zip(("driver", "pool", "device"), one.split("/"), strict=True)) for one in devices
    ]
    results = [{"request": first, **one} for one in named]
    return struct(AllocationResult, {"devices": {"results": results}})


def _consumer(pod: str) -> ResourceClaimConsumerReference:
    return ResourceClaimConsumerReference(resource="pods", name=pod, uid=f"uid-{pod}")
