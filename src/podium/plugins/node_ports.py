"""NodePorts: a host port can be used once per node and address.

PreFilter  skips pods without host ports. Ports of containers and sidecars count, ports of plain
           init containers do not.
Filter     rejects a node on which one of the ports is taken.
Requeue    when a pod that holds one of the ports leaves its node, or a node joins.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass

import numpy as np

from podium import framework as fwk
from podium.api.objects import Pod
from podium.api.resources import ANY_ADDRESS, HostPort, host_ports

DEPENDS_ON_NOTHING = fwk.Dependencies()
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.PORTS)
REJECTED = fwk.Status.unschedulable("node(s) didn't have free ports for the requested pod ports")


@dataclass(frozen=True, slots=True)
class WantedPorts:
    """PreFilter's state."""

    ports: tuple[HostPort, ...]


class NodePorts(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "NodePorts"

    def sign(self, pod: Pod) -> Hashable:
        ports = host_ports(pod)
        return tuple(sorted(set(ports))) if ports else ()

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES if host_ports(pod) else DEPENDS_ON_NOTHING

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        wanted = host_ports(pod)
        if not wanted:
            return fwk.skip()
        state.put(WantedPorts(wanted))
        return None

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        taken = any_clash(state.get(WantedPorts).ports, node.used_ports)
        return REJECTED if taken else fwk.SUCCESS

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        taken = np.zeros(len(nodes), np.bool_)
        for address, protocol, number in state.get(WantedPorts).ports:
            for other, holders in nodes.port_holders(protocol, number).items():
                if overlap(address, other):
                    taken |= holders
        return fwk.Column.where(taken, REJECTED, fwk.SUCCESS)

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("AssignedPod", "delete", hint=pod_freed_a_port), fwk.on("Node", "add")]


def overlap(address: str, other: str) -> bool:
    """Return whether one port cannot be used on both addresses. ``::`` is not special."""
    return address == other or ANY_ADDRESS in (address, other)


def any_clash(wanted: Collection[HostPort], used: Collection[HostPort]) -> bool:
    return any(
        protocol == other_protocol and number == other_number and overlap(address, other)
        for address, protocol, number in wanted
        for other, other_protocol, other_number in used
    )


def pod_freed_a_port(pod: Pod, old: Pod, new: Pod | None) -> bool:
    was_placed = old.node_name or old.nominated_node_name
    return bool(was_placed) and any_clash(host_ports(pod), host_ports(old))
