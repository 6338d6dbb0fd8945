"""NodeDeclaredFeatures: run a pod only where the kubelet declares the features that it needs.

PreFilter  works out from the pod's spec which features it needs; skips when it needs none.
Filter     rejects a node whose ``status.declaredFeatures`` lacks one of them.
Requeue    when a node joins or declares other features, or the pod's needs change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from podium import framework as fwk
from podium.api.objects import Node, Pod

DEPENDS_ON_NOTHING = fwk.Dependencies()
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.FEATURES)
REJECTED = fwk.Status.unresolvable("node(s) didn't match Pod's required features")

Features = frozenset[str]


@dataclass(frozen=True, slots=True)
class RequiredFeatures:
    """PreFilter's state."""

    features: Features


class NodeDeclaredFeatures(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "NodeDeclaredFeatures"

    def sign(self, pod: Pod) -> Hashable:
        return required_features(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES if required_features(pod) else DEPENDS_ON_NOTHING

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        required = required_features(pod)
        if not required:
            return fwk.skip()
        state.put(RequiredFeatures(required))
        return None

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return verdict(state.get(RequiredFeatures).features, node.node.status.declared_features)

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        required = state.get(RequiredFeatures).features
        return nodes.declared_features.map(lambda declared: verdict(required, declared))

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Node", "add|declared-feature", hint=node_declares_other_features),
            fwk.on("TargetPod", "update", hint=pod_needs_other_features),
        ]


def _restarts_all_containers(pod: Pod) -> bool:
    for container in pod.spec.containers + pod.spec.init_containers:
        for rule in container.restart_policy_rules:
            if rule.action == "RestartAllContainers":
                return True
    return False


def _has_user_namespace_on_host_network(pod: Pod) -> bool:
    return pod.spec.host_network and pod.spec.host_users is False


# Only features that matter for placing a pod. Others matter for changing a running pod.
NEEDED_WHEN: Mapping[str, Callable[[Pod], bool]] = {
    "RestartAllContainersOnContainerExits": _restarts_all_containers,
    "UserNamespacesHostNetworkSupport": _has_user_namespace_on_host_network,
}


NO_FEATURES = Features()


def required_features(pod: Pod) -> Features:
    needed = [name for name, is_needed in NEEDED_WHEN.items() if is_needed(pod)]
    return Features(needed) if needed else NO_FEATURES


def verdict(required: Features, declared: tuple[str, ...]) -> fwk.Status:
    return fwk.SUCCESS if required.issubset(declared) else REJECTED


def node_declares_other_features(pod: Pod, old: Node | None, new: Node) -> bool:
    return old is None or old.status.declared_features != new.status.declared_features


def pod_needs_other_features(pod: Pod, old: Pod, new: Pod) -> bool:
    return new.uid == pod.uid and required_features(old) != required_features(new)
