"""NodeDeclaredFeatures: run a pod only where the kubelet declares the features that it needs.

PreFilter  works out from the pod's spec which features it needs; skips when it needs none.
Filter     rejects a node whose ``status.declaredFeatures`` lacks one of them.
Requeue    when a node joins or declares other features, or the pod's needs change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from podium import framework as fwk
from podium.api.objects import Node, Pod

DEPENDS_ON_NOTHING = fwk.Dependencies()
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.FEATURES)
REJECTED = fwk.Status.unresolvable("node(s) didn't match Pod's required features")

Features = frozenset[str]


def _restarts_all_containers(pod: Pod) -> bool:
    for container in pod.spec.containers + pod.spec.init_containers:
        for rule in container.restart_policy_rules:
            if rule.action == "RestartAllContainers":
                return True
    return False


def _has_user_namespace_on_host_network(pod: Pod) -> bool:
    return pod.spec.host_network and pod.spec.host_users is False


def _has_bind_mount_options(pod: Pod) -> bool:
    spec = pod.spec
    for container in (*spec.containers, *spec.init_containers, *spec.ephemeral_containers):
        for mount in container.volume_mounts:
            if mount.bind_mount_options:
                return True
    return False


def _is_plain(pod: Pod) -> bool:
    """Return whether the pod has none of the fields that ``NEEDED_WHEN`` reads: a quick check."""
    spec = pod.spec
    if spec.host_network or spec.init_containers or spec.ephemeral_containers:
        return False
    for container in spec.containers:
        if container.volume_mounts or container.restart_policy_rules:
            return False
    return True


Needed = Mapping[str, Callable[[Pod], bool]]

# Only features that matter for placing a pod. Others matter for changing a running pod.
NEEDED_WHEN_BEFORE_1_37: Needed = {
    "RestartAllContainersOnContainerExits": _restarts_all_containers,
    "UserNamespacesHostNetworkSupport": _has_user_namespace_on_host_network,
}
NEEDED_WHEN: Needed = {
    **NEEDED_WHEN_BEFORE_1_37,
    "VolumeBindMountOptions": _has_bind_mount_options,
}
NO_FEATURES = Features()


@dataclass(frozen=True, slots=True)
class RequiredFeatures:
    """PreFilter's state."""

    features: Features


class NodeDeclaredFeatures(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "NodeDeclaredFeatures"
    needed_when: ClassVar[Needed] = NEEDED_WHEN

    def sign(self, pod: Pod) -> Hashable:
        return self.required(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES if self.required(pod) else DEPENDS_ON_NOTHING

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        required = self.required(pod)
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
            fwk.on("TargetPod", "update", hint=self.pod_needs_other_features),
        ]

    def required(self, pod: Pod) -> Features:
        if _is_plain(pod):
            return NO_FEATURES
        needed = [name for name, is_needed in self.needed_when.items() if is_needed(pod)]
        return Features(needed) if needed else NO_FEATURES

    def pod_needs_other_features(self, pod: Pod, old: Pod, new: Pod) -> bool:
        return new.uid == pod.uid and self.required(old) != self.required(new)


class NodeDeclaredFeaturesWithoutMountOptions(NodeDeclaredFeatures):
    """NodeDeclaredFeatures as of 1.36, which does not know the options of bind mounts."""

    needed_when = NEEDED_WHEN_BEFORE_1_37


def verdict(required: Features, declared: tuple[str, ...]) -> fwk.Status:
    return fwk.SUCCESS if required.issubset(declared) else REJECTED


def node_declares_other_features(pod: Pod, old: Node | None, new: Node) -> bool:
    return old is None or old.status.declared_features != new.status.declared_features
