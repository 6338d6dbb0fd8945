"""Simulated drivers of devices: they publish slices for nodes and prepare allocated devices.

`podium up --devices gpu.example.com=8` gives every simulated node eight devices of one driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.conditions import Condition, set_condition
from podium.apiserver.controllers.resource_claims import CLAIMS, claims_of
from podium.apiserver.controllers.runner import Change, Keys, Mapper, itself
from podium.apiserver.kubelet_nodes import is_simulated
from podium.apiserver.names import subdomain_problems
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key
from podium.errors import PodiumError

SLICES: Final = "resourceslices.resource.k8s.io"
CLASSES: Final = "deviceclasses.resource.k8s.io"
_LONGEST_DRIVER: Final = 63
_PREPARED: Final = Condition(
    "Ready", "True", "Prepared", "the simulated driver has prepared the device"
)
_IDENTITY: Final = ("driver", "pool", "device", "shareID")
_MODEL, _VERSION, _MEMORY = "podium-simulated", "1.0.0", "80Gi"


class DeviceGroup(NamedTuple):
    """A driver, and how many devices it has on each node."""

    driver: str
    devices: int

    @property
    def prefix(self) -> str:
        """Return what the names of its devices start with: ``gpu-`` for ``gpu.example.com``."""
        return f"{self.driver.partition('.')[0]}-"


def checked_group(driver: str, devices: int) -> DeviceGroup:
    """Return a group; raise ``PodiumError`` if no driver can have this name."""
    problems = subdomain_problems(driver)
    if len(driver) > _LONGEST_DRIVER:
        problems = [f"must be no more than {_LONGEST_DRIVER} characters"]
    if problems:
        raise PodiumError(f"{driver!r} cannot be the name of a driver: {problems[0]}")
    return DeviceGroup(driver, devices)


class SlicePublisher:
    """Keeps a slice for each simulated node and driver."""

    name = "device-slices"

    def __init__(self, cluster: Cluster, groups: Sequence[DeviceGroup]) -> None:
        self._cluster = cluster
        self._groups = groups

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"nodes": _joined_or_left, SLICES: _node_of_deleted_slice}

    def reconcile(self, key: Key) -> float | None:
        node = self._cluster.find("nodes", key)
        for group in self._groups:
            name = slice_name(key[1], group.driver)
            there = self._cluster.store.find(SLICES, ("", name))
            if node is None or not is_simulated(node):
                self._cluster.delete(SLICES, ("", name))
            elif there is None:
                self._cluster.create(SLICES, slice_for(node, group))
        return None


class DevicePreparer:
    """Reports on allocated devices of simulated drivers, in the status of their claim.

    The conditions that a device's binding waits for become true at once. When a pod that uses the
    claim is bound, the device is prepared: it is ``Ready``.
    """

    name = "device-preparation"

    def __init__(self, cluster: Cluster, groups: Sequence[DeviceGroup]) -> None:
        self._cluster = cluster
        self._drivers = {group.driver for group in groups}

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {CLAIMS: itself, "pods": _claims_of_bound_pod}

    def reconcile(self, key: Key) -> float | None:
        claim = self._cluster.find(CLAIMS, key)
        status = (claim or {}).get("status") or {}
        results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or []
        ours = [one for one in results if one["driver"] in self._drivers]
        if not ours:
            return None
        is_in_use = self._has_bound_pod(key[0], status.get("reservedFor") or [])
        reports = {_identity(one): one for one in status.get("devices") or []}
        for result in ours:
            conditions = [_ready_to_bind(type_) for type_ in result.get("bindingConditions") or ()]
            conditions += [_PREPARED] if is_in_use else []
            if conditions:
                old = reports.get(_identity(result), {})
                reports[_identity(result)] = _report(result, old, conditions, self._cluster.now)
        if reports:
            self._cluster.set_status(CLAIMS, key, {**status, "devices": list(reports.values())})
        return None

    def _has_bound_pod(self, namespace: str, users: Iterable[Json]) -> bool:
        pods = (self._cluster.pods.get((namespace, one["name"])) for one in users)
        return any(pod is not None and pod.spec.node_name for pod in pods)


def device_class(driver: str) -> Json:
    """Return a class of the driver's name, for all of its devices."""
    expression = f'device.driver == "{driver}"'
    return {
        "metadata": {"name": driver},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def slice_name(node: str, driver: str) -> str:
    return f"{node}-{driver}"


def slice_for(node: Json, group: DeviceGroup) -> Json:
    """Return the slice with a driver's devices on one node, which owns it."""
    meta = node["metadata"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": meta["name"], "uid": meta["uid"]}
    return {
        "metadata": {
            "name": slice_name(meta["name"], group.driver),
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {
            "driver": group.driver,
            "nodeName": meta["name"],
            "pool": {"name": meta["name"], "generation": 1, "resourceSliceCount": 1},
            "devices": [_device(group, meta["name"], number) for number in range(group.devices)],
        },
    }


def _device(group: DeviceGroup, node: str, number: int) -> Json:
    name = f"{group.prefix}{number}"
    return {
        "name": name,
        "attributes": {
            "driverVersion": {"version": _VERSION},
            "index": {"int": number},
            "model": {"string": _MODEL},
            "uuid": {"string": f"{name}.{node}"[:64]},
        },
        "capacity": {"memory": {"value": _MEMORY}},
    }


def _identity(device: Json) -> tuple[str, ...]:
    return tuple(device.get(name, "") for name in _IDENTITY)


def _report(result: Json, old: Json, conditions: Iterable[Condition], now: str) -> Json:
    """Return what the driver says of one device, with these conditions."""
    held: list[Json] = old.get("conditions") or []
    for condition in conditions:
        held = set_condition(held, condition, now)
    device: Json = {name: result[name] for name in _IDENTITY if name in result}
    return {**device, **old, "conditions": held}


def _ready_to_bind(type_: str) -> Condition:
    return Condition(type_, "True", "Simulated", "the simulated driver has made the device ready")


def _joined_or_left(change: Change) -> Keys:
    """Yield a node that came or went, or whose kubelet was switched on or off."""
    if change.is_new or change.is_gone or change.old is None:
        return (change.key,)
    return (change.key,) if is_simulated(change.old) != is_simulated(change.obj) else ()


def _node_of_deleted_slice(change: Change) -> Iterator[Key]:
    node = change.obj["spec"].get("nodeName")
    if change.is_gone and node:
        yield ("", node)


def _claims_of_bound_pod(change: Change) -> Keys:
    return claims_of(change.pod) if change.pod.spec.node_name and not change.is_gone else ()
