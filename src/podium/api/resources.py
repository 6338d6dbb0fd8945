"""The resources that a pod requests and that a node offers.

``pod_requests`` adds up exactly, in nano units; ``amounts`` converts totals to the scheduler's
units: milli for cpu, whole units for everything else.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from podium.api import quantity
from podium.api.meta import ResourceList
from podium.api.names import label_key_problems
from podium.api.nodes import Node
from podium.api.pods import Container, ContainerPort, ContainerStatus, Pod
from podium.release import V1_37, Release

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
ANY_ADDRESS = "0.0.0.0"


class RequestRule(NamedTuple):
    """How the requests of a pod are found: those of its containers, and those of the pod itself.

    ``containers`` adds up all containers; its second argument is the default for each container
    without a request. ``pod_level`` returns what replaces that sum, for a pod with resources of its
    own.
    """

    name: str
    containers: Callable[[Pod, Mapping[str, int]], Nanos]
    pod_level: Callable[[Pod], Nanos]

    def __repr__(self) -> str:
        return self.name


def pod_requests(
    pod: Pod, rule: RequestRule, *, pod_level: bool = True, non_missing: bool = False
) -> Nanos:
    """Return the pod's total request per resource, in nano units.

    With ``pod_level``, the resources of the pod replace the sum of its containers'. ``non_missing``
    is the default for each container without a request for cpu or memory.
    """
    defaults = _NON_MISSING if non_missing else _NO_DEFAULTS
    return _requests(pod, rule, pod_level, defaults)


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
    if status.container_statuses or status.init_container_statuses or status.resources:
        return True
    return bool(status.conditions) and _is_resize_infeasible(pod)


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
        (one.name, *one.allocated_resources.items(), one.resources is None, *_actual(one).items())
        for one in (*status.init_container_statuses, *status.container_statuses)
    ]
    own = status.resources
    return (
        tuple([container.name for container in (*spec.init_containers, *spec.containers)]),
        tuple(shown),
        tuple(status.allocated_resources.items()),
        None if own is None else tuple(own.requests.items()),
        _is_resize_infeasible(pod),
    )


def _worked_out(pod: Pod, rule: RequestRule) -> Requests:
    return amounts(pod_requests(pod, rule)), non_zero(pod, rule)


_AS_WRITTEN: dict[Hashable, Requests] = {}
_HELD: dict[Hashable, Requests] = {}
_MOST_KEPT = 4096


def non_zero(pod: Pod, rule: RequestRule) -> tuple[int, int]:
    """Return the cpu (milli) and memory (bytes) that a placed pod counts as in scores, never 0.

    A pod with pod-level requests gets defaults only for what its total lacks.
    """
    defaults: Mapping[str, int] = _NON_MISSING
    if has_pod_level_requests(pod):
        total = _requests(pod, rule, True, _NO_DEFAULTS)
        defaults = {key: nano for key, nano in _NON_MISSING.items() if key not in total}
    total = _requests(pod, rule, True, defaults)
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
        [host_port(port) for container in running for port in container.ports if port.host_port > 0]
    )


def host_port(port: ContainerPort) -> HostPort:
    return port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port


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


def _requests(pod: Pod, rule: RequestRule, pod_level: bool, defaults: Mapping[str, int]) -> Nanos:
    spec = pod.spec
    total = rule.containers(pod, defaults)
    if pod_level and has_pod_level_requests(pod):
        total.update(rule.pod_level(pod))
    if spec.overhead:
        _add(total, _nanos(spec.overhead))
    return total


def pod_limits(pod: Pod) -> Nanos:
    """Return the pod's total limit per resource, in nano units, by the spec only."""

    def limits_of(container: Container) -> Nanos:
        return _nanos(container.resources.limits)

    total = dict(_aggregate(pod, limits_of, limits_of))
    if pod.spec.resources is not None:
        own = _nanos(pod.spec.resources.limits)
        total.update({name: nano for name, nano in own.items() if _is_pod_level(name)})
    for name, nano in _nanos(pod.spec.overhead).items():
        if total.get(name):
            total[name] += nano
    return total


# --- as written -----------------------------------------------------------------------------------


def _written_by_containers(pod: Pod, defaults: Mapping[str, int]) -> Nanos:
    def requests_of(container: Container) -> Nanos:
        return _with_defaults(_written(container), defaults)

    return _aggregate(pod, requests_of, requests_of)


def _written_by_pod(pod: Pod) -> Nanos:
    resources = pod.spec.resources
    wanted = _nanos(resources.requests) if resources else {}
    return {name: nano for name, nano in wanted.items() if _is_pod_level(name)}


WRITTEN = RequestRule("WRITTEN", _written_by_containers, _written_by_pod)
"""By the spec only."""


# --- the largest of the sums of spec, allocated and actual resources (1.37) -----------------------


def _largest_sum(pod: Pod, defaults: Mapping[str, int]) -> Nanos:
    status = pod.status
    total = {} if _is_resize_infeasible(pod) else _written_by_containers(pod, defaults)
    if status.allocated_resources and status.resources is not None and status.resources.requests:
        _raise_to(total, _nanos(status.allocated_resources))
        _raise_to(total, _nanos(status.resources.requests))
    else:
        _raise_to(total, _sum_of_statuses(pod, _allocated, defaults))
        _raise_to(total, _sum_of_statuses(pod, _actual, defaults))
    return total


def _sum_of_statuses(
    pod: Pod, list_of: Callable[[ContainerStatus], ResourceList], defaults: Mapping[str, int]
) -> Nanos:
    """Add up one list of each container's status.

    A container without that list counts as written, unless the resize is infeasible.
    """
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    listed = {found.name: list_of(found) for found in statuses}
    is_infeasible = _is_resize_infeasible(pod)

    def requests_of(container: Container) -> Nanos:
        written = {} if is_infeasible else container.resources.requests
        return _with_defaults(_nanos(listed.get(container.name) or written), defaults)

    return _aggregate(pod, requests_of, requests_of)


def _allocated(status: ContainerStatus) -> ResourceList:
    return status.allocated_resources


def _actual(status: ContainerStatus) -> ResourceList:
    actual = status.resources.requests if status.resources is not None else {}
    return actual or status.allocated_resources


def _largest_of_pod(pod: Pod) -> Nanos:
    held = _held_by_pod(pod)
    if held is None:
        return _written_by_pod(pod)
    return {name: nano for name, nano in held.items() if _is_pod_level(name)}


HELD_IN_SUM = RequestRule("HELD_IN_SUM", _largest_sum, _largest_of_pod)
"""As 1.37 counts a pod that is being resized."""


# --- the sum of the largest for each container (1.36) ---------------------------------------------


def _sum_of_largest(pod: Pod, defaults: Mapping[str, int]) -> Nanos:
    infeasible = _is_resize_infeasible(pod)
    statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    held = {
        found.name: _held(found.resources.requests, found.allocated_resources)
        for found in statuses
        if found.resources is not None
    }

    def requests_of(container: Container) -> Nanos:
        requests = dict(held.get(container.name, {}))
        if not infeasible or container.name not in held:
            _raise_to(requests, _written(container))
        return _with_defaults(requests, defaults)

    def written_by(container: Container) -> Nanos:
        return _with_defaults(_written(container), defaults)

    return _aggregate(pod, requests_of, written_by)


def _wanted_of_pod(pod: Pod) -> Nanos:
    wanted, held = _written_by_pod(pod), _held_by_pod(pod)
    return wanted if held is None else {name: held.get(name, 0) for name in wanted}


HELD_BY_CONTAINER = RequestRule("HELD_BY_CONTAINER", _sum_of_largest, _wanted_of_pod)
"""As 1.36 counts a pod that is being resized."""


def request_rule(release: Release) -> RequestRule:
    """Return how a release counts a pod that is being resized."""
    return HELD_IN_SUM if release >= V1_37 else HELD_BY_CONTAINER


# --- parts of the rules ---------------------------------------------------------------------------


def _aggregate(
    pod: Pod,
    requests_of: Callable[[Container], Nanos],
    init_requests_of: Callable[[Container], Nanos],
) -> Nanos:
    """Return the maximum of what all containers need together and what any init step needs.

    ``init_requests_of`` is for init containers that are not sidecars.
    """
    spec = pod.spec
    if len(spec.containers) == 1 and not spec.init_containers:  # the usual pod has one container
        return requests_of(spec.containers[0])
    total: Nanos = {}
    for container in spec.containers:
        _add(total, requests_of(container))
    sidecars: Nanos = {}
    peak: Nanos = {}
    for container in spec.init_containers:
        if container.is_sidecar:
            requests = requests_of(container)
            _add(total, requests)
            _add(sidecars, requests)
            _raise_to(peak, sidecars)
        else:
            requests = init_requests_of(container)
            _add(requests, sidecars)
            _raise_to(peak, requests)
    _raise_to(total, peak)
    return total


def _written(container: Container) -> Nanos:
    return {name: quantity.stored(raw) for name, raw in container.resources.requests.items()}


def _with_defaults(requests: Nanos, defaults: Mapping[str, int]) -> Nanos:
    for name, nano in defaults.items():
        if name not in requests:
            requests[name] = nano
    return requests


def _held(actual: ResourceList, allocated: ResourceList) -> Nanos:
    held = _nanos(actual)
    _raise_to(held, _nanos(allocated))
    return held


def _held_by_pod(pod: Pod) -> Nanos | None:
    """Return the largest of the pod's own resources; ``None`` if its status has none."""
    resources, status = pod.spec.resources, pod.status
    if status.resources is None:
        return None
    held = _held(status.resources.requests, status.allocated_resources)
    if resources is not None and not _is_resize_infeasible(pod):
        _raise_to(held, _nanos(resources.requests))
    return held


def _is_resize_infeasible(pod: Pod) -> bool:
    for found in pod.status.conditions:
        if found.type == "PodResizePending":
            return found.reason == "Infeasible"
    return False


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
