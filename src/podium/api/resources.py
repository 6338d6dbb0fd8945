"""The resources that a pod requests and that a node offers, in the scheduler's units.

Those are milli for cpu and whole units for everything else. ``request_rules`` adds up exactly, in
nano units, and ``amounts`` converts the totals. Most pods are written alike, so totals are cached.
"""

from collections.abc import Hashable, Mapping

from podium.api import quantity
from podium.api.nodes import Node
from podium.api.pods import ContainerPort, Pod
from podium.api.request_rules import (
    HELD_IN_SUM,
    WRITTEN,
    Nanos,
    RequestRule,
    actual_requests,
    has_pod_level_requests,
    in_nanos,
    is_resize_infeasible,
    non_zero,
    pod_limits,
    pod_requests,
    request_rule,
)
from podium.api.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    is_counted,
    is_extended,
    is_scalar,
)

__all__ = [
    "ANY_ADDRESS",
    "CPU",
    "EPHEMERAL_STORAGE",
    "HELD_IN_SUM",
    "MEMORY",
    "PODS",
    "WRITTEN",
    "HostPort",
    "Nanos",
    "RequestRule",
    "Requests",
    "allocatable",
    "amounts",
    "has_pod_level_requests",
    "held_requests",
    "host_port",
    "host_ports",
    "is_extended",
    "is_held",
    "is_scalar",
    "non_zero",
    "pod_limits",
    "pod_requests",
    "request_rule",
    "spec_requests",
    "written_requests",
]

Requests = tuple[dict[str, int], tuple[int, int]]
"""In the scheduler's units: exactly, and cpu and memory as they count in scores."""
HostPort = tuple[str, str, int]
ANY_ADDRESS = "0.0.0.0"

_AS_WRITTEN: dict[Hashable, Requests] = {}
_HELD: dict[Hashable, Requests] = {}
_MOST_KEPT = 4096
_LAST_WRITTEN: list[tuple[Pod | None, Hashable]] = [(None, ())]


def written_requests(pod: Pod) -> Hashable:
    """Return everything in the spec that determines requests, as a cache key."""
    last, written = _LAST_WRITTEN[0]
    if last is not pod:  # a cycle asks five times for its pod
        written = _written_requests(pod)
        _LAST_WRITTEN[0] = (pod, written)
    return written


def _written_requests(pod: Pod) -> Hashable:
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
        found = _worked_out(pod, WRITTEN)
        if len(_AS_WRITTEN) >= _MOST_KEPT:
            _AS_WRITTEN.clear()
        _AS_WRITTEN[written] = found
    return found


def is_held(pod: Pod) -> bool:
    """Whether the status may differ from the spec in what the pod takes."""
    status = pod.status
    if status.init_container_statuses or status.resources:
        return True
    if status.container_statuses:
        return not _shows_its_spec(pod)
    return bool(status.conditions) and is_resize_infeasible(pod)


def _shows_its_spec(pod: Pod) -> bool:
    """Whether the container of a pod with a single one has exactly what the spec requests."""
    containers, statuses = pod.spec.containers, pod.status.container_statuses
    if len(containers) != 1 or len(statuses) != 1:
        return False
    if pod.spec.init_containers or pod.spec.resources is not None:
        return False
    wanted, shown = containers[0], statuses[0]
    return (
        shown.name == wanted.name
        and shown.allocated_resources == wanted.resources.requests
        and shown.resources is not None
        and shown.resources.requests == wanted.resources.requests
    )


def held_requests(pod: Pod, rule: RequestRule) -> Requests:
    """Return what the pod takes according to status and spec, such as during a resize.

    The result is shared: do not change it.
    """
    key = (rule.name, written_requests(pod), _held_as_shown(pod))
    found = _HELD.get(key)
    if found is None:
        found = _worked_out(pod, rule)
        if len(_HELD) >= _MOST_KEPT:
            _HELD.clear()
        _HELD[key] = found
    return found


def _held_as_shown(pod: Pod) -> Hashable:
    """Return everything else that determines held requests, as a cache key."""
    spec, status = pod.spec, pod.status
    shown = [
        (
            one.name,
            *one.allocated_resources.items(),
            one.resources is None,
            *actual_requests(one).items(),
        )
        for one in (*status.init_container_statuses, *status.container_statuses)
    ]
    own = status.resources
    return (
        tuple([container.name for container in (*spec.init_containers, *spec.containers)]),
        tuple(shown),
        tuple(status.allocated_resources.items()),
        None if own is None else tuple(own.requests.items()),
        is_resize_infeasible(pod),
    )


def _worked_out(pod: Pod, rule: RequestRule) -> Requests:
    return amounts(pod_requests(pod, rule)), non_zero(pod, rule)


def amounts(nanos: Mapping[str, int]) -> dict[str, int]:
    """Convert totals to the scheduler's units, without resources that it ignores."""
    return {
        name: quantity.milli(nano) if name == CPU else quantity.value(nano)
        for name, nano in nanos.items()
        if is_counted(name)
    }


def allocatable(node: Node) -> dict[str, int]:
    """Return what the node offers, in the scheduler's units."""
    return amounts(in_nanos(node.status.allocatable))


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Return (ip, protocol, port) of the containers and sidecars, which keep running."""
    spec = pod.spec
    running = spec.containers
    if spec.init_containers:
        running += tuple([init for init in spec.init_containers if init.is_sidecar])
    return tuple(
        [host_port(port) for container in running for port in container.ports if port.host_port > 0]
    )


def host_port(port: ContainerPort) -> HostPort:
    return port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port
