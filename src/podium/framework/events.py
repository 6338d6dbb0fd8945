"""What happened in the cluster, and which of it may wake a rejected pod.

Plugins register events with ``on(...)``; the queue asks the hints of the plugins that rejected a
pod. ``event_rules.py`` derives the events from an object's update.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from podium.api.objects import Pod
from podium.errors import PluginError, did_you_mean
from podium.framework.deprecated import OLD_KINDS, warn

Hint = Callable[[Pod, Any, Any], bool]
"""``hint(pod, old, new)``: may this event help the pod? What it raises counts as yes."""

# The bits of Kubernetes 1.37. 1.36 does not have two of them, and never sends those.
ACTIONS: Mapping[str, int] = {
    "Add": 1,
    "Delete": 2,
    "UpdateNodeAllocatable": 4,
    "UpdateNodeLabel": 8,
    "UpdateNodeTaint": 16,
    "UpdateNodeCondition": 32,
    "UpdateNodeAnnotation": 64,
    "UpdateNodeDeclaredFeature": 128,
    "UpdateNodePreemptionPolicy": 256,
    "UpdatePodLabel": 512,
    "UpdatePodScaleDown": 1024,
    "UpdatePodScaleUp": 2048,
    "UpdatePodToleration": 4096,
    "UpdatePodSchedulingGatesEliminated": 8192,
    "UpdatePodGeneratedResourceClaim": 16384,
    "Update": 32764,
    "All": 32767,
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
    "preemption-policy": "UpdateNodePreemptionPolicy",
    "pod-label": "UpdatePodLabel",
    "scale-down": "UpdatePodScaleDown",
    "scale-up": "UpdatePodScaleUp",
    "toleration": "UpdatePodToleration",
    "gates-eliminated": "UpdatePodSchedulingGatesEliminated",
    "generated-claim": "UpdatePodGeneratedResourceClaim",
}

# Events of pods with a node, of other pods without one, and of the rejected pod itself.
ASSIGNED_POD: Final = "AssignedPod"
UNSCHEDULED_POD: Final = "UnscheduledPod"
TARGET_POD: Final = "TargetPod"
# The name that both kinds of pods without a node have in 1.36.
UNSCHEDULABLE_POD: Final = "UnschedulablePod"
POD_KINDS: Final = ("Pod", ASSIGNED_POD, UNSCHEDULED_POD, TARGET_POD)

# Which other kinds a registered kind stands for, under whatever release.
_COVERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": (ASSIGNED_POD, UNSCHEDULED_POD, TARGET_POD, UNSCHEDULABLE_POD),
    UNSCHEDULABLE_POD: (UNSCHEDULED_POD, TARGET_POD),
    TARGET_POD: (UNSCHEDULABLE_POD,),
}

# The kinds whose events reach the queue; any other is written as plural.version.group.
KINDS: Final = (
    *POD_KINDS,
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
    "resource.k8s.io/DeviceTaintRule",
    "scheduling.k8s.io/PodGroup",
    "scheduling.k8s.io/CompositePodGroup",
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
        kinds = ("*", incoming.resource)
        same = self.resource in kinds or incoming.resource in _COVERS.get(self.resource, ())
        # The numeric comparison makes a generic Update match full Update masks only, as upstream.
        return same and bool(self.actions & incoming.actions) and incoming.actions <= self.actions


@lru_cache(maxsize=1024)
def _label(event: ClusterEvent) -> str:
    return event.resource + "|".join(action_names(event))


# A subject that every pod has, for topics about labels: for what requires no label.
ANY_LABEL: Final = "*"


class Topic(NamedTuple):
    """Finds the pods that a change concerns, where these are few of many waiting pods.

    ``of_change(old, new)`` returns the subjects of a change, such as the key of an object; ``None``
    means that the hint is asked about all pods. ``of_pod(pod)`` returns the subjects that concern a
    pod. The hint must answer no for all pods that no subject of the change concerns.
    """

    of_change: Callable[[Any, Any], Collection[str] | None]
    of_pod: Callable[[Pod], Collection[str]]


@dataclass(frozen=True, slots=True)
class Registration:
    """An event a plugin wants to be asked about; without a hint it always wakes the pod."""

    event: ClusterEvent
    hint: Hint | None = None
    topic: Topic | None = None


def on(
    resource: str, actions: str, hint: Hint | None = None, topic: Topic | None = None
) -> Registration:
    """``on("Node", "add|taint", hint=…)``. Of pods, ``label`` means the pod's labels.

    ``resource`` is one of ``KINDS``, or a custom kind such as ``prices.v1.example.com``. A
    ``topic`` is for speed: it narrows down which pods the hint is asked about.
    """
    if resource in OLD_KINDS:
        warn(f'fwk.on("{resource}", …)', f'"{OLD_KINDS[resource]}"', depth=2)
    else:
        _check_kind(resource)
    of_pods = resource in POD_KINDS or resource in OLD_KINDS
    if not isinstance(actions, str):
        raise PluginError(f"fwk.on: actions are one text such as 'add|label', not {actions!r}")
    bits = 0
    for word in actions.split("|"):
        name = f"pod-{word}" if of_pods and word == "label" else word
        if name not in _SHORT:
            known = f"there are: {', '.join(_SHORT)}{did_you_mean(word, _SHORT)}"
            raise PluginError(f"no action {word!r} on {resource}; {known}")
        bits |= ACTIONS[_SHORT[name]]
    if hint is not None and not callable(hint):
        text = f"a hint is a function, not {hint!r}; actions are one text: 'add|label'"
        raise PluginError(text)
    return Registration(ClusterEvent(resource, bits), hint, topic)


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


def action_names(event: ClusterEvent) -> list[str]:
    """The event's actions by name; a full Update stays ``Update``."""
    rest, names = event.actions, []
    if rest & ACTIONS["Update"] == ACTIONS["Update"]:
        names.append("Update")
        rest &= ~ACTIONS["Update"]
    names += [name for name, bit in ACTIONS.items() if bit.bit_count() == 1 and bit & rest]
    return sorted(names)
