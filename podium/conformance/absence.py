"""What plugins that are not built yet may have decided in a recording.

Everything here is read off the pod, the node and the configuration before anything is compared:
what is left out never depends on how a comparison ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from podium.api import resources
from podium.api.objects import Pod
from podium.api.selectors import RequiredNodeAffinity
from podium.conformance.core import Core, profile_config
from podium.framework.plugin import Point
from podium.state.rows import NodeInfo


class Absence:
    """The plugins that a pod's profile should have and podium does not."""

    def __init__(self, core: Core, config: Mapping[str, Any] | None, pod: Pod) -> None:
        wanted = profile_config(core, pod)
        self._absent = wanted.absent
        self._order = wanted.order_with_absent
        self._configured = _configured(config)
        self._core = core
        self._pod = pod

    def __contains__(self, plugin: str) -> bool:
        return plugin in self._absent

    def __iter__(self) -> Iterator[str]:
        return iter(self._absent)

    def at(self, point: Point) -> frozenset[str]:
        return frozenset(name for name, points in self._absent.items() if point in points)

    def runs_before(self, point: Point, first: str, second: str) -> bool:
        order = self._order[point]
        return order.index(first) < order.index(second)

    def concerned(self, point: Point) -> frozenset[str]:
        """The absent plugins that look at this pod at all when nodes are filtered."""
        return frozenset(
            name
            for name in self.at(point)
            if name in self._configured or _CONCERNS.get(name, _always)(self._pod)
        )

    def scorers(self) -> frozenset[str]:
        """The absent plugins that may score nodes for this pod."""
        return frozenset(
            name
            for name in self.at(Point.SCORE)
            if name in self._configured or _RANKS.get(name, _always)(self._pod)
        )

    def may_refuse(self, node: NodeInfo) -> frozenset[str]:
        """The absent filters that may refuse this node, as it is or with fewer pods on it."""
        return frozenset(
            name
            for name in self.concerned(Point.FILTER)
            if name in self._configured or self._may_refuse(name, node)
        )

    def _may_refuse(self, name: str, node: NodeInfo) -> bool:
        pod = self._pod
        match name:
            case "NodeUnschedulable":
                return node.node.spec.unschedulable
            case "NodeName":
                return pod.node_name != node.name
            case "NodeAffinity":
                return not RequiredNodeAffinity.of(pod).matches(node.labels, node.name)
            case "NodePorts":
                around = [*node.pods, *self._core.nominator.on(node.name)]
                return any(other.ports for other in around)
        return True


def _configured(config: Mapping[str, Any] | None) -> frozenset[str]:
    """The plugins that a configuration gives arguments; their rules are then not known here."""
    profiles = (config or {}).get("profiles") or ()
    return frozenset(
        entry["name"] for profile in profiles for entry in profile.get("pluginConfig") or ()
    )


def _always(pod: Pod) -> bool:
    return True


def _has_volumes(pod: Pod) -> bool:
    return bool(pod.spec.volumes)


def _may_need_features(pod: Pod) -> bool:
    spec = pod.spec
    rules = any(c.restart_policy_rules for c in (*spec.containers, *spec.init_containers))
    return rules or (spec.host_network and spec.host_users is False)


def _has_preferences(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return bool(affinity and affinity.node_affinity and affinity.node_affinity.preferred)


# Plugins that are not listed are taken to look at every pod: here when nodes are filtered, below
# when they are scored.
_CONCERNS: Mapping[str, Callable[[Pod], bool]] = {
    "NodeName": lambda pod: bool(pod.node_name),
    "NodeAffinity": lambda pod: not RequiredNodeAffinity.of(pod).is_empty,
    "NodePorts": lambda pod: bool(resources.host_ports(pod)),
    "VolumeRestrictions": _has_volumes,
    "NodeVolumeLimits": _has_volumes,
    "VolumeBinding": _has_volumes,
    "VolumeZone": _has_volumes,
    "NodeDeclaredFeatures": _may_need_features,
    "SchedulingGates": lambda pod: bool(pod.spec.scheduling_gates),
}
_RANKS: Mapping[str, Callable[[Pod], bool]] = {
    "NodeAffinity": _has_preferences,
    "VolumeBinding": _has_volumes,
}
