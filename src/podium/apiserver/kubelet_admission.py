"""The checks that a kubelet makes before it starts a pod, with a kubelet's reasons and messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from podium.api.objects import Node, Pod
from podium.api.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    WRITTEN,
    HostPort,
    allocatable,
    amounts,
    host_ports,
    is_extended,
    pod_requests,
)
from podium.api.selectors import RequiredNodeAffinity
from podium.api.taints import find_untolerated

_FIRST = (PODS, CPU, MEMORY, EPHEMERAL_STORAGE)
_ANY_ADDRESS = "0.0.0.0"


class Rejection(NamedTuple):
    """Why a pod may not run: the reason and message for its status."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Need:
    """What one pod takes from its node."""

    resources: Mapping[str, int]
    ports: tuple[HostPort, ...] = ()

    @classmethod
    def of(cls, pod: Pod) -> Need:
        wanted = amounts(pod_requests(pod, WRITTEN))
        return cls({**wanted, PODS: 1}, host_ports(pod))


@dataclass(slots=True)
class Usage:
    """What the admitted pods of one node take, by key."""

    needs: dict[tuple[str, str], Need] = field(default_factory=dict)

    def total(self, resource: str) -> int:
        return sum(need.resources.get(resource, 0) for need in self.needs.values())

    def ports(self) -> list[HostPort]:
        return [port for need in self.needs.values() for port in need.ports]


def reject(pod: Pod, need: Need, node: Node, usage: Usage) -> Rejection | None:
    """Return the first reason against a pod, in a kubelet's order; None admits the pod."""
    return (
        _out_of(need, allocatable(node), usage)
        or _affinity(pod, node)
        or _ports(need.ports, usage.ports())
        or _taints(pod, node)
    )


def _out_of(need: Need, offered: Mapping[str, int], usage: Usage) -> Rejection | None:
    for resource in _ordered(need.resources):
        wanted = need.resources[resource]
        if not wanted or (resource not in offered and is_extended(resource)):
            continue  # a kubelet ignores extended resources that it does not know
        used, capacity = usage.total(resource), offered.get(resource, 0)
        if wanted > capacity - used:
            return Rejection(
                f"OutOf{resource}",
                f"Node didn't have enough resource: {resource}, requested: {wanted}, "
                f"used: {used}, capacity: {capacity}",
            )
    return None


def _ordered(resources: Iterable[str]) -> Sequence[str]:
    others = sorted(name for name in resources if name not in _FIRST)
    return [*(name for name in _FIRST if name in resources), *others]


def _affinity(pod: Pod, node: Node) -> Rejection | None:
    if RequiredNodeAffinity.of(pod).matches(node.metadata.labels, node.name):
        return None
    why = "node(s) didn't match Pod's node affinity/selector"
    return Rejection("NodeAffinity", f"Predicate NodeAffinity failed: {why}")


def _ports(wanted: Iterable[HostPort], used: Sequence[HostPort]) -> Rejection | None:
    if not any(_clash(one, other) for one in wanted for other in used):
        return None
    why = "node(s) didn't have free ports for the requested pod ports"
    return Rejection("NodePorts", f"Predicate NodePorts failed: {why}")


def _clash(one: HostPort, other: HostPort) -> bool:
    same = one[1:] == other[1:]
    return same and (one[0] == other[0] or _ANY_ADDRESS in (one[0], other[0]))


def _taints(pod: Pod, node: Node) -> Rejection | None:
    """Reject a pod for NoExecute taints: a bound pod is affected by no others."""
    if find_untolerated(node.spec.taints, pod.spec.tolerations, ("NoExecute",)) is None:
        return None
    why = "node(s) had taints that the pod didn't tolerate"
    return Rejection("TaintToleration", f"Predicate TaintToleration failed: {why}")
