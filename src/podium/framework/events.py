"""What happened in the cluster, and which of it may wake a rejected pod.

Plugins register events with ``on(...)``; the queue asks the hints of the plugins that rejected a
pod. ``node_events`` and ``pod_events`` derive the events from an object's update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from podium.api import quantity, resources
from podium.api.objects import Node, Pod
from podium.errors import PluginError, did_you_mean

Hint = Callable[[Pod, Any, Any], bool]
"""``hint(pod, old, new)``: may this event help the pod? What it raises counts as yes."""

ACTIONS: Mapping[str, int] = {
    "Add": 1,
    "Delete": 2,
    "UpdateNodeAllocatable": 4,
    "UpdateNodeLabel": 8,
    "UpdateNodeTaint": 16,
    "UpdateNodeCondition": 32,
    "UpdateNodeAnnotation": 64,
    "UpdateNodeDeclaredFeature": 128,
    "UpdatePodLabel": 256,
    "UpdatePodScaleDown": 512,
    "UpdatePodToleration": 1024,
    "UpdatePodSchedulingGatesEliminated": 2048,
    "UpdatePodGeneratedResourceClaim": 4096,
    "Update": 8188,
    "All": 8191,
}

_SHORT: Mapping[str, str] = {
    "add": "Add",
    "delete": "Delete",
    "update": "Update",
    "all": "All",
    "allocatable": "UpdateNodeAllocatable",
    "label": "UpdateNodeLabel",
    "taint": "UpdateNodeTaint",
    "condition": "UpdateNodeCondition",
    "annotation": "UpdateNodeAnnotation",
    "declared-feature": "UpdateNodeDeclaredFeature",
    "pod-label": "UpdatePodLabel",
    "scale-down": "UpdatePodScaleDown",
    "toleration": "UpdatePodToleration",
    "gates-eliminated": "UpdatePodSchedulingGatesEliminated",
    "generated-claim": "UpdatePodGeneratedResourceClaim",
}

# The kinds whose events reach the queue; any other is written as plural.version.group.
KINDS: Final = (
    "Pod",
    "AssignedPod",
    "UnschedulablePod",
    "Node",
    "Namespace",
    "Service",
    "ReplicationController",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "apps/ReplicaSet",
    "apps/StatefulSet",
    "policy/PodDisruptionBudget",
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/VolumeAttachment",
    "resource.k8s.io/DeviceClass",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/ResourceSlice",
    "*",
)


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """Something that happened to objects of one resource; ``actions`` is a sum of bits."""

    resource: str
    actions: int

    @classmethod
    def named(cls, resource: str, action: str) -> ClusterEvent:
        return cls(resource, ACTIONS[action])

    @property
    def label(self) -> str:
        """The event's name in metrics and logs, such as ``NodeUpdateNodeTaint``."""
        return _label(self)

    @property
    def is_wildcard(self) -> bool:
        return self.resource == "*" and self.actions == ACTIONS["All"]

    def covers(self, incoming: ClusterEvent) -> bool:
        """Whether a registration of this event is asked about ``incoming``."""
        if self.is_wildcard:
            return True
        same = self.resource in ("*", incoming.resource) or (
            self.resource == "Pod" and incoming.resource in ("AssignedPod", "UnschedulablePod")
        )
        # The numeric comparison makes a generic Update match full Update masks only, as upstream.
        return same and bool(self.actions & incoming.actions) and incoming.actions <= self.actions


@lru_cache(maxsize=1024)
def _label(event: ClusterEvent) -> str:
    return event.resource + "|".join(action_names(event))


@dataclass(frozen=True, slots=True)
class Registration:
    """An event a plugin wants to be asked about; without a hint it always wakes the pod."""

    event: ClusterEvent
    hint: Hint | None = None


def on(resource: str, actions: str, hint: Hint | None = None) -> Registration:
    """``on("Node", "add|taint", hint=…)``. On Pod, ``label`` means the pod's labels.

    ``resource`` is one of ``KINDS``, or a custom kind such as ``prices.v1.example.com``.
    """
    _check_kind(resource)
    if not isinstance(actions, str):
        raise PluginError(f"fwk.on: actions are one text such as 'add|label', not {actions!r}")
    bits = 0
    for word in actions.split("|"):
        name = f"pod-{word}" if resource == "Pod" and word == "label" else word
        if name not in _SHORT:
            known = f"there are: {', '.join(_SHORT)}{did_you_mean(word, _SHORT)}"
            raise PluginError(f"no action {word!r} on {resource}; {known}")
        bits |= ACTIONS[_SHORT[name]]
    if hint is not None and not callable(hint):
        text = f"a hint is a function, not {hint!r}; actions are one text: 'add|label'"
        raise PluginError(text)
    return Registration(ClusterEvent(resource, bits), hint)


def _check_kind(resource: object) -> None:
    """Raise for a kind whose events never come."""
    if resource in KINDS:
        return
    if not isinstance(resource, str):
        raise PluginError(f"fwk.on: a kind is a text such as 'Node', not {resource!r}")
    parts = resource.split(".")
    if len(parts) >= 3 and all(parts) and "/" not in resource:
        return
    text = f'"{resource}" is not the name of a kind; write it as foos.v1.example.com'
    known = f"or as one of {', '.join(KINDS)}"
    raise PluginError(f"{text} {known}{_similar_kind(resource)}")


def _similar_kind(resource: str) -> str:
    """Suggest a kind, also to an author who left out its group."""
    short = resource.rpartition("/")[2]
    with_group = [kind for kind in KINDS if kind.rpartition("/")[2].lower() == short.lower()]
    return did_you_mean(with_group[0] if with_group else resource, KINDS)


TAINT_UPDATE = ClusterEvent.named("Node", "UpdateNodeTaint")


def with_implicit(registrations: list[Registration]) -> list[Registration]:
    """Who waits for new nodes also waits for their first taints to go: add that."""
    on_node = [r.event.actions for r in registrations if r.event.resource == "Node"]
    adds = any(actions & ACTIONS["Add"] for actions in on_node)
    taints = any(actions & ACTIONS["UpdateNodeTaint"] for actions in on_node)
    if adds and not taints:
        return [*registrations, Registration(TAINT_UPDATE)]
    return registrations


def node_events(old: Node, new: Node) -> list[ClusterEvent]:
    """The events that an update of a node stands for, in upstream's order; none for a heartbeat."""
    changed = (
        ("UpdateNodeTaint", old.spec.unschedulable and not new.spec.unschedulable),
        ("UpdateNodeAllocatable", _amounts(old) != _amounts(new)),
        ("UpdateNodeLabel", old.labels != new.labels),
        ("UpdateNodeTaint", old.spec.taints != new.spec.taints),
        ("UpdateNodeCondition", _conditions(old) != _conditions(new)),
        ("UpdateNodeAnnotation", old.annotations != new.annotations),
        (
            "UpdateNodeDeclaredFeature",
            old.status.declared_features != new.status.declared_features,
        ),
    )
    return [ClusterEvent.named("Node", action) for action, differs in changed if differs]


def pod_events(old: Pod, new: Pod) -> list[ClusterEvent]:
    """The events that an update of a pod stands for, in upstream's order; at least one."""
    resource = "AssignedPod" if new.node_name else "UnschedulablePod"
    gates_gone = bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates
    changed = (
        ("UpdatePodLabel", old.labels != new.labels),
        ("UpdatePodScaleDown", _scaled_down(old, new)),
        ("UpdatePodSchedulingGatesEliminated", gates_gone),
        ("UpdatePodToleration", len(old.spec.tolerations) != len(new.spec.tolerations)),
        ("UpdatePodGeneratedResourceClaim", _claim_statuses(old) != _claim_statuses(new)),
    )
    events = [ClusterEvent.named(resource, action) for action, differs in changed if differs]
    return events or [ClusterEvent.named(resource, "Update")]


def action_names(event: ClusterEvent) -> list[str]:
    """The event's actions by name; a full Update stays ``Update``."""
    rest, names = event.actions, []
    if rest & ACTIONS["Update"] == ACTIONS["Update"]:
        names.append("Update")
        rest &= ~ACTIONS["Update"]
    names += [name for name, bit in ACTIONS.items() if bit.bit_count() == 1 and bit & rest]
    return sorted(names)


def _amounts(node: Node) -> dict[str, int]:
    return {name: quantity.parse(q) for name, q in node.status.allocatable.items()}


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def _scaled_down(old: Pod, new: Pod) -> bool:
    before = resources.pod_requests(old, use_status=True)
    after = resources.pod_requests(new, use_status=True)
    return any(
        name not in after or quantity.milli(after[name]) < quantity.milli(amount)
        for name, amount in before.items()
    )


def _claim_statuses(pod: Pod) -> object:
    return (pod.status.resource_claim_statuses, pod.status.extended_resource_claim_status)
