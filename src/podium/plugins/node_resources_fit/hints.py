"""Which events may make room for a pod that did not fit on any node."""

from __future__ import annotations

from collections.abc import Collection

from podium.api import resources
from podium.api.objects import DeviceClass, Node, Pod
from podium.devices.extended_resources import IMPLICIT_PREFIX
from podium.plugins.node_resources_fit.needs import Needs, needs_of


def pod_made_room(pod: Pod, old: Pod, new: Pod | None, rule: resources.RequestRule) -> bool:
    """Return whether a pod left its node, or takes less of a resource that this pod needs."""
    if new is None:
        return bool(old.node_name or old.nominated_node_name)
    if new.uid == pod.uid:
        return True
    return bool(new.node_name) and _shrank(pod, old, new, rule)


def _shrank(pod: Pod, old: Pod, new: Pod, rule: resources.RequestRule) -> bool:
    before = resources.amounts(resources.pod_requests(old, rule))
    after = resources.amounts(resources.pod_requests(new, rule))
    return any(before.get(name, 0) > after.get(name, 0) for name, _ in needs_of(pod)[1:])


def node_became_large_enough(
    needs: Needs, old: Node | None, new: Node, provided: Collection[str]
) -> bool:
    """Return whether the node is large enough for a pod, and is new or has grown.

    The pods on it are not considered. On a node that does not offer a resource, devices may provide
    it: then every change counts.
    """
    offered = resources.allocatable(new)
    by_devices = [name for name, _ in needs if name in provided and not offered.get(name)]
    if any(amount > offered.get(name, 0) for name, amount in needs if name not in by_devices):
        return False
    if old is None or by_devices:
        return True
    before = resources.allocatable(old)
    return any(offered[name] > before.get(name, 0) for name, _ in needs)


def class_offers_resource(pod: Pod, old: DeviceClass | None, new: DeviceClass) -> bool:
    """Return whether the class now provides a resource that the pod requests."""
    requests = resources.pod_requests(pod, resources.WRITTEN)
    if old is None and f"{IMPLICIT_PREFIX}{new.name}" in requests:
        return True
    changed = old is None or old.spec.extended_resource_name != new.spec.extended_resource_name
    return changed and new.spec.extended_resource_name in requests
