"""The resources that a pod requests and that a node offers.

``pod_requests`` adds up exactly, in nano units; ``amounts`` converts totals to the scheduler's
units: milli for cpu, whole units for everything else.
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache
from types import MappingProxyType

from podium.api import quantity
from podium.api.meta import ResourceList
from podium.api.names import label_key_problems
from podium.api.nodes import Node
from podium.api.pods import Container, Pod

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)

# What a container without a request counts as when nodes are scored.
DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 2**20
_NON_MISSING: Mapping[str, int] = MappingProxyType(
    {CPU: DEFAULT_CPU_MILLI * quantity.MILLI, MEMORY: DEFAULT_MEMORY_BYTES * quantity.NANO}
)
_NO_DEFAULTS: Mapping[str, int] = MappingProxyType({})

Nanos = dict[str, int]
Requests = tuple[dict[str, int], tuple[int, int]]
"""In the scheduler's units: exactly, and cpu and memory as they count in scores."""
HostPort = tuple[str, str, int]


def pod_requests(
    pod: Pod, *, use_status: bool, pod_level: bool = True, non_missing: bool = False
) -> Nanos:
    """Return the pod's total request per resource, in nano units.

    With ``use_status``, containers that are being resized count with what they hold. With
    ``pod_level``, the resources of the pod replace the sum of its containers'. ``non_missing`` is
    the default for each container without a request for cpu or memory.
    """
    defaults = _NON_MISSING if non_missing else _NO_DEFAULTS
    return _requests(pod, use_status, pod_level, defaults)


def written_requests(pod: Pod) -> Hashable:
    """Return everything in the spec that determines requests, as a cache key."""
    spec = pod.spec
    own = tuple([tuple(container.resources.requests.items()) for container in spec.containers])
    if not spec.init_containers and not spec.overhead and spec.resources is None:
        return own
    return (
        own,
        tuple([(c.is_sidecar, *c.resources.requests.items()) for c in spec.init_containers]),
        tuple(spec.overhead.items()),
        None if spec.resources is None else tuple(spec.resources.requests.items()),
    )


def spec_requests(pod: Pod) -> Requests:
    """Return what the pod's spec requests. The result is shared: do not change it."""
    written = written_requests(pod)
    found = _AS_WRITTEN.get(written)
    if found is None:
        found = _worked_out(pod, use_status=False)
        if len(_AS_WRITTEN) >= _MOST_KEPT:
            _AS_WRITTEN.clear()
        _AS_WRITTEN[written] = found
    return found


def is_held(pod: Pod) -> bool:
    """Whether the status may differ from the spec in what the pod takes."""
    status = pod.status
    return bool(status.container_statuses or status.init_container_statuses or status.resources)


def held_requests(pod: Pod) -> Requests:
    """Return what the pod takes according to status and spec, such as during a resize."""
    return _worked_out(pod, use_status=True)


def _worked_out(pod: Pod, *, use_status: bool) -> Requests:
    return amounts(pod_requests(pod, use_status=use_status)), non_zero(pod, use_status=use_status)


_AS_WRITTEN: dict[Hashable, Requests] = {}
_MOST_KEPT = 4096


def non_zero(pod: Pod, *, use_status: bool) -> tuple[int, int]:
    """Return the cpu (milli) and memory (bytes) that a placed pod counts as in scores, never 0.

    A pod with pod-level requests gets defaults only for what its total lacks.
    """
    defaults: Mapping[str, int] = _NON_MISSING
    if has_pod_level_requests(pod):
        total = _requests(pod, use_status, True, _NO_DEFAULTS)
        defaults = {key: nano for key, nano in _NON_MISSING.items() if key not in total}
    total = _requests(pod, use_status, True, defaults)
    return quantity.milli(total.get(CPU, 0)), quantity.value(total.get(MEMORY, 0))


def amounts(nanos: Mapping[str, int]) -> dict[str, int]:
    """Convert totals to the scheduler's units, without resources that it ignores."""
    return {
        name: quantity.milli(nano) if name == CPU else quantity.value(nano)
        for name, nano in nanos.items()
        if is_counted(name)
    }


def allocatable(node: Node) -> dict[str, int]:
    """Return what the node offers, in the scheduler's units."""
    return amounts(_nanos(node.status.allocatable))


def has_pod_level_requests(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(map(_is_pod_level, resources.requests))


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Return (ip, protocol, port) of the containers and sidecars, which keep running."""
    spec = pod.spec
    running = spec.containers
    if spec.init_containers:
        running += tuple([init for init in spec.init_containers if init.is_sidecar])
    return tuple(
        [
            (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
            for container in running
            for port in container.ports
            if port.host_port > 0
        ]
    )


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Whether this is an extended resource: its prefix is not one of Kubernetes."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_problems(f"requests.{name}")


@lru_cache(maxsize=4096)
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts this resource as a scalar, without special rules for it."""
    return (
        is_extended(name)
        or name.startswith(("hugepages-", "attachable-volumes-"))
        or "kubernetes.io/" in name
    )


def is_counted(name: str) -> bool:
    return name in NATIVE or is_scalar(name)


def _requests(pod: Pod, use_status: bool, pod_level: bool, defaults: Mapping[str, int]) -> Nanos:
    spec = pod.spec
    total = _aggregate(pod, use_status, defaults)
    if pod_level and has_pod_level_requests(pod):
        _replace_by_pod_level(total, pod, use_status)
    if spec.overhead:
        _add(total, _nanos(spec.overhead))
    return total


def _aggregate(pod: Pod, use_status: bool, defaults: Mapping[str, int]) -> Nanos:
    """Return the maximum of what all containers need together and what any init step needs."""
    spec = pod.spec
    held = _held_by_container(pod) if use_status else {}
    if len(spec.containers) == 1 and not spec.init_containers:  # the usual pod has one container
        return _container(spec.containers[0], held, defaults)
    total: Nanos = {}
    for container in spec.containers:
        _add(total, _container(container, held, defaults))
    sidecars: Nanos = {}
    peak: Nanos = {}
    for container in spec.init_containers:
        if container.is_sidecar:
            requests = _container(container, held, defaults)
            _add(total, requests)
            _add(sidecars, requests)
            _raise_to(peak, sidecars)
        else:
            requests = _container(container, {}, defaults)
            _add(requests, sidecars)
            _raise_to(peak, requests)
    _raise_to(total, peak)
    return total


def _container(
    container: Container, held: Mapping[str, tuple[Nanos, bool]], defaults: Mapping[str, int]
) -> Nanos:
    """Return one container's request; ``held`` is what it holds and whether that is final."""
    requests = {name: quantity.stored(raw) for name, raw in container.resources.requests.items()}
    if held and container.name in held:
        amount, replaces = held[container.name]
        if replaces:
            requests = dict(amount)
        else:
            _raise_to(requests, amount)
    for name, nano in defaults.items():
        if name not in requests:
            requests[name] = nano
    return requests


def _held_by_container(pod: Pod) -> dict[str, tuple[Nanos, bool]]:
    """Return what containers hold by their statuses; final if their resize is infeasible."""
    status = pod.status
    if not status.container_statuses and not status.init_container_statuses:
        return {}
    infeasible = _is_resize_infeasible(pod)
    return {
        found.name: (_held(found.resources.requests, found.allocated_resources), infeasible)
        for found in (*status.container_statuses, *status.init_container_statuses)
        if found.resources is not None
    }


def _held(actual: ResourceList, allocated: ResourceList) -> Nanos:
    held = _nanos(actual)
    _raise_to(held, _nanos(allocated))
    return held


def _is_resize_infeasible(pod: Pod) -> bool:
    pending = (found for found in pod.status.conditions if found.type == "PodResizePending")
    first = next(pending, None)
    return first is not None and first.reason == "Infeasible"


def _replace_by_pod_level(total: Nanos, pod: Pod, use_status: bool) -> None:
    resources, status = pod.spec.resources, pod.status
    wanted = _nanos(resources.requests) if resources else {}
    held: Nanos | None = None
    if use_status and status.resources is not None:
        held = _held(status.resources.requests, status.allocated_resources)
        if not _is_resize_infeasible(pod):
            _raise_to(held, wanted)
    for name in filter(_is_pod_level, wanted):
        total[name] = wanted[name] if held is None else held.get(name, 0)


def _is_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _nanos(resources: ResourceList) -> Nanos:
    return {name: quantity.stored(raw) for name, raw in resources.items()}


def _add(total: Nanos, more: Mapping[str, int]) -> None:
    for name, nano in more.items():
        total[name] = total.get(name, 0) + nano


def _raise_to(total: Nanos, other: Mapping[str, int]) -> None:
    for name, nano in other.items():
        if name not in total or total[name] < nano:
            total[name] = nano
