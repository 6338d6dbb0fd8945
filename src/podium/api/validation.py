"""Find values that have the right type but that no API server would store."""

from collections.abc import Iterable, Iterator, Mapping

from podium.api import quantity
from podium.api.affinity import PREFERRED
from podium.api.devices import Counter, ResourceSlice
from podium.api.meta import ApiObject, Quantity, ResourceList
from podium.api.nodes import Node
from podium.api.pods import Container, Pod, ResourceRequirements
from podium.api.selector_validation import selector_problems
from podium.api.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim
from podium.api.times import parse_time
from podium.api.workloads import PriorityClass
from podium.errors import InvalidObject, InvalidQuantity, InvalidTime, Problem

_INT32 = range(-(2**31), 2**31)
_WEIGHTS = range(1, 101)
_PORTS = range(65_536)  # 0: none

Problems = Iterator[Problem]


def validate(obj: ApiObject) -> None:
    """Raise ``InvalidObject`` with every problem of this object, if there is any."""
    if problems := [*_metadata(obj), *_by_kind(obj), *selector_problems(obj)]:
        raise InvalidObject(type(obj).__name__, obj.key, problems)


def _by_kind(obj: ApiObject) -> Problems:
    match obj:
        case Pod():
            yield from _pod(obj)
        case Node():
            yield from _amounts(obj.status.capacity, "status.capacity")
            yield from _amounts(obj.status.allocatable, "status.allocatable")
        case PersistentVolume():
            yield from _amounts(obj.spec.capacity, "spec.capacity")
        case PersistentVolumeClaim():
            yield from _amounts(obj.spec.resources.requests, "spec.resources.requests")
        case ResourceSlice():
            yield from _device_amounts(obj)
        case CSIStorageCapacity():
            yield from _optional_amount(obj.capacity, "capacity")
            yield from _optional_amount(obj.maximum_volume_size, "maximumVolumeSize")
        case PriorityClass() if obj.value not in _INT32:
            yield Problem("value", f"must be a 32-bit integer, not {obj.value}")


def _device_amounts(resource_slice: ResourceSlice) -> Problems:
    spec = resource_slice.spec
    for index, device in enumerate(spec.devices):
        path = f"spec.devices[{index}]"
        for name, capacity in device.capacity.items():
            yield from _optional_amount(capacity.value, f"{path}.capacity[{name}].value")
        for place, one in enumerate(device.consumes_counters):
            yield from _counters(one.counters, f"{path}.consumesCounters[{place}].counters")
    for index, counters in enumerate(spec.shared_counters):
        yield from _counters(counters.counters, f"spec.sharedCounters[{index}].counters")


def _counters(counters: Mapping[str, Counter], path: str) -> Problems:
    for name, counter in counters.items():
        yield from _optional_amount(counter.value, f"{path}[{name}].value")


def _metadata(obj: ApiObject) -> Problems:
    meta = obj.metadata
    if not meta.name:
        yield Problem("metadata.name", "must not be empty")
    for path, text in (("metadata.name", meta.name), ("metadata.namespace", meta.namespace)):
        if "/" in text:
            yield Problem(path, f"must not contain '/', not {text!r}")
    controllers = [owner.name for owner in meta.owner_references if owner.controller]
    if len(controllers) > 1:
        reason = f"only one owner can be the controller, not {', '.join(controllers)}"
        yield Problem("metadata.ownerReferences", reason)
    yield from _time(meta.creation_timestamp, "metadata.creationTimestamp")
    yield from _time(meta.deletion_timestamp, "metadata.deletionTimestamp")


def _pod(pod: Pod) -> Problems:
    yield from _priority(pod)
    yield from _spread(pod)
    yield from _affinity(pod)
    yield from _ports(pod)
    yield from _pod_amounts(pod)
    yield from _time(pod.status.start_time, "status.startTime")


def _priority(pod: Pod) -> Problems:
    if pod.priority not in _INT32:
        yield Problem("spec.priority", f"must be a 32-bit integer, not {pod.priority}")


def _spread(pod: Pod) -> Problems:
    for index, constraint in enumerate(pod.spec.topology_spread_constraints):
        path = f"spec.topologySpreadConstraints[{index}]"
        yield from _positive(constraint.max_skew, f"{path}.maxSkew")
        if constraint.min_domains is not None:
            yield from _positive(constraint.min_domains, f"{path}.minDomains")


def _positive(value: int, path: str) -> Problems:
    if value <= 0:
        yield Problem(path, f"must be greater than zero, not {value}")
    elif value not in _INT32:
        yield Problem(path, f"must be a 32-bit integer, not {value}")


def _ports(pod: Pod) -> Problems:
    for path, container in _containers(pod):
        for place, port in enumerate(container.ports):
            if port.host_port not in _PORTS:
                where = f"{path}.ports[{place}].hostPort"
                yield Problem(where, f"must be from 0 to 65535, not {port.host_port}")


def _affinity(pod: Pod) -> Problems:
    affinity = pod.spec.affinity
    if affinity is None:
        return
    if node := affinity.node_affinity:
        yield from _weights((term.weight for term in node.preferred), "nodeAffinity")
    if attract := affinity.pod_affinity:
        yield from _weights((term.weight for term in attract.preferred), "podAffinity")
    if repel := affinity.pod_anti_affinity:
        yield from _weights((term.weight for term in repel.preferred), "podAntiAffinity")


def _weights(weights: Iterable[int], kind: str) -> Problems:
    preferred = f"spec.affinity.{kind}.{PREFERRED}"
    for index, weight in enumerate(weights):
        if weight not in _WEIGHTS:
            yield Problem(f"{preferred}[{index}].weight", f"must be from 1 to 100, not {weight}")


def _pod_amounts(pod: Pod) -> Problems:
    spec, status = pod.spec, pod.status
    for path, container in _containers(pod):
        yield from _requirements(container.resources, f"{path}.resources")
    yield from _requirements(spec.resources, "spec.resources")
    yield from _amounts(spec.overhead, "spec.overhead")
    yield from _requirements(status.resources, "status.resources")
    yield from _amounts(status.allocated_resources, "status.allocatedResources")
    yield from _status_amounts(pod)


def _containers(pod: Pod) -> Iterator[tuple[str, Container]]:
    """Yield the pod's containers, each with its path."""
    for index, container in enumerate(pod.spec.containers):
        yield f"spec.containers[{index}]", container
    for index, container in enumerate(pod.spec.init_containers):
        yield f"spec.initContainers[{index}]", container


def _status_amounts(pod: Pod) -> Problems:
    status = pod.status
    groups = [
        ("status.containerStatuses", status.container_statuses),
        ("status.initContainerStatuses", status.init_container_statuses),
    ]
    for path, found in groups:
        for index, container in enumerate(found):
            where = f"{path}[{index}]"
            yield from _requirements(container.resources, f"{where}.resources")
            yield from _amounts(container.allocated_resources, f"{where}.allocatedResources")


def _requirements(resources: ResourceRequirements | None, path: str) -> Problems:
    if resources is not None:
        yield from _amounts(resources.requests, f"{path}.requests")
        yield from _amounts(resources.limits, f"{path}.limits")


def _amounts(resources: ResourceList, path: str) -> Problems:
    for name, raw in resources.items():
        yield from _optional_amount(raw, f"{path}[{name}]")


def _optional_amount(raw: Quantity | None, path: str) -> Problems:
    if raw is None:
        return
    try:
        if quantity.parse(raw) < 0:
            yield Problem(path, f"must not be negative, not {raw}")
    except InvalidQuantity as error:
        yield Problem(path, f"{raw!r}: {error}")


def _time(text: str, path: str) -> Problems:
    if text:
        try:
            parse_time(text)
        except InvalidTime as error:
            yield Problem(path, str(error))
