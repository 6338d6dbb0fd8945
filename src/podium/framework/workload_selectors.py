"""The selector that stands for a pod's workload: its services and its controller.

Default spreading counts the pods it matches. Only a pod that some service selects, or that a known
controller owns, has one.
"""

from __future__ import annotations

from functools import lru_cache

from podium.api.objects import (
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from podium.api.selectors import EVERYTHING, Selector, from_map, label_selector
from podium.errors import InvalidSelector
from podium.state.cluster_view import ClusterView
from podium.state.kinds import WORKLOADS

__all__ = ["WORKLOADS", "default_selector", "services_of"]

Pairs = dict[str, str]

_SETS: dict[tuple[str, str], type[ReplicaSet] | type[StatefulSet]] = {
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
}
_CONTROLLER = ("v1", "ReplicationController")


def default_selector(cluster: ClusterView, pod: Pod) -> Selector:
    """Return what its services and its controller select together; empty when nothing does."""
    pairs = _service_pairs(cluster, pod)
    demands = EVERYTHING
    owner = pod.controller
    if owner is not None:
        pairs |= _controller_pairs(cluster, pod, owner)
        demands = _set_selector(cluster, pod, owner)
    if not pairs:
        return demands
    return _merged(tuple(sorted(pairs.items())), demands)


def services_of(cluster: ClusterView, pod: Pod) -> list[Service]:
    """The services that select the pod."""
    labels = pod.labels.items()
    return [
        service
        for service in cluster.objects(Service).in_namespace(pod.namespace)
        if (selector := service.spec.selector) is not None and selector.items() <= labels
    ]


def _service_pairs(cluster: ClusterView, pod: Pod) -> Pairs:
    pairs: Pairs = {}
    for service in services_of(cluster, pod):
        pairs |= service.spec.selector or {}
    return pairs


def _controller_pairs(cluster: ClusterView, pod: Pod, owner: OwnerReference) -> Pairs:
    if (owner.api_version, owner.kind) != _CONTROLLER:
        return {}
    found = cluster.objects(ReplicationController).get(f"{pod.namespace}/{owner.name}")
    return found.spec.selector if found is not None else {}


def _set_selector(cluster: ClusterView, pod: Pod, owner: OwnerReference) -> Selector:
    """Return what the owner selects, if it is a set whose selector asks for something."""
    kind = _SETS.get((owner.api_version, owner.kind))
    if kind is None:
        return EVERYTHING
    found = cluster.objects(kind).get(f"{pod.namespace}/{owner.name}")
    if found is None:
        return EVERYTHING
    try:
        selector = label_selector(found.spec.selector)
    except InvalidSelector:
        return EVERYTHING
    return EVERYTHING if selector.matches_nothing else selector


@lru_cache(maxsize=4096)
def _merged(pairs: tuple[tuple[str, str], ...], demands: Selector) -> Selector:
    return from_map(dict(pairs)).merge(demands)
