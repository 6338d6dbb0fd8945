"""What exactly is missing on a node: one function for each filter that can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from podium.explain.case import Case
from podium.explain.reasons import reason_of
from podium.explain.shortfalls import devices, nodes, resources, topology, volumes
from podium.explain.values import Shortfall
from podium.framework.status import Status

Describe = Callable[[Case, Status, int], list[Shortfall]]

_BY_PLUGIN: Final[Mapping[str, Describe]] = {
    "NodeUnschedulable": nodes.cordoned,
    "TaintToleration": nodes.tainted,
    "NodeAffinity": nodes.mismatched,
    "NodePorts": nodes.taken_ports,
    "NodeDeclaredFeatures": nodes.undeclared,
    "NodeResourcesFit": resources.insufficient,
    "PodTopologySpread": topology.skewed,
    "InterPodAffinity": topology.repelled,
    "VolumeBinding": volumes.unreachable,
    "VolumeZone": volumes.outside_zone,
    "VolumeRestrictions": volumes.in_use,
    "NodeVolumeLimits": volumes.too_many,
    "DynamicResources": devices.unavailable,
}


def describe(case: Case, status: Status, row: int) -> list[Shortfall]:
    """Return everything that this refusal of a node consists of; at least one."""
    known = _BY_PLUGIN.get(status.plugin)
    found = known(case, status, row) if known is not None and status.is_rejection else []
    return found or [plain(status)]


def plain(status: Status, point: str = "Filter") -> Shortfall:
    """Return a shortfall that says no more than the reason itself."""
    reason = reason_of(status, point)
    return Shortfall(reason.code, reason.plugin, reason.message, f"it {reason.text}")
