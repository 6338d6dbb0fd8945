"""Fields of pods and nodes that the scheduler ignores while their feature gate is off.

They are removed when an object is decoded, so that nothing else has to know about the gates.
"""

from __future__ import annotations

import msgspec

from podium.api.objects import Node, Pod
from podium.client.resources import NODES, PODS, Resource, altered
from podium.config.feature_gates import FeatureGates


def watched_pods(gates: FeatureGates) -> Resource[Pod]:
    """Return pods as the scheduler reads them."""
    pods = PODS
    if not gates.enabled("PodLevelResources"):
        pods = altered(pods, _without_pod_level_resources)
    if not gates.enabled("InPlacePodLevelResourcesVerticalScaling"):
        pods = altered(pods, _without_pod_level_status)
    return pods


def watched_nodes(gates: FeatureGates) -> Resource[Node]:
    """Return nodes as the scheduler reads them."""
    if gates.enabled("NodeDeclaredFeatures"):
        return NODES
    return altered(NODES, _without_declared_features)


def _without_pod_level_resources(pod: Pod) -> Pod:
    if pod.spec.resources is None:
        return pod
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, resources=None))


def _without_pod_level_status(pod: Pod) -> Pod:
    status = pod.status
    if status.resources is None and not status.allocated_resources:
        return pod
    status = msgspec.structs.replace(status, resources=None, allocated_resources={})
    return msgspec.structs.replace(pod, status=status)


def _without_declared_features(node: Node) -> Node:
    if not node.status.declared_features:
        return node
    status = msgspec.structs.replace(node.status, declared_features=())
    return msgspec.structs.replace(node, status=status)
