"""The kinds of objects that snapshots hold, and what may differ when one is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from podium.snapshot.model import KindName, Missing

NOT_IN_THE_FILE: Final = "not in the file"  # why a kind of a dump is missing
_SPREADING: Final = "default spreading may differ"
_VOLUMES: Final = "pods with persistent volume claims may be judged differently"
_DEVICES: Final = "pods with resource claims may be judged differently"
_GROUPS: Final = "pods that are scheduled in groups may be judged differently"


def _any_pod(pod: bytes) -> bool:
    return True


def _no_pod(pod: bytes) -> bool:
    """Say that no pod shows whether a kind matters: it counts only if it may not be read."""
    return False


def _has_volume_claim(pod: bytes) -> bool:
    return b'"persistentVolumeClaim"' in pod or b'"ephemeral"' in pod


def _has_resource_claim(pod: bytes) -> bool:
    return b'"resourceClaims"' in pod


def _is_in_group(pod: bytes) -> bool:
    return b'"schedulingGroup"' in pod


def _is_in_labelled_group(pod: bytes) -> bool:
    return b'"scheduling.x-k8s.io/pod-group"' in pod


def _selects_namespaces(pod: bytes) -> bool:
    return b'"namespaceSelector"' in pod


def _only_names_its_priority(pod: bytes) -> bool:
    return b'"priorityClassName"' in pod and b'"priority":' not in pod


def _is_owned_by(kind: str) -> Callable[[bytes], bool]:
    mark = f'"kind":"{kind}"'.encode()
    return lambda pod: mark in pod


class SnapshotKind(NamedTuple):
    """A kind that is kept in snapshots.

    ``consequence`` says what may differ without it, and is empty if no decision does. It is only
    reported if there is a pod whose JSON ``is_needed_by`` accepts.
    """

    kind: str
    plural: str
    group: str = ""
    consequence: str = ""
    is_needed_by: Callable[[bytes], bool] = _any_pod
    is_optional: bool = False  # not served by every cluster

    @property
    def resource(self) -> str:
        """Return the name in messages, such as ``replicasets.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def shown_name(self) -> str:
        """The kind; of scheduler-plugins with its group, because Kubernetes has a PodGroup, too."""
        return f"{self.kind}.{self.group}" if self.group == _SCHEDULER_PLUGINS else self.kind


_STORAGE: Final = "storage.k8s.io"
_RESOURCE: Final = "resource.k8s.io"
_SCHEDULING: Final = "scheduling.k8s.io"
_SCHEDULER_PLUGINS: Final = "scheduling.x-k8s.io"

# In the order in which an embedded cluster creates them.
KINDS: Final = (
    SnapshotKind(
        "Namespace",
        "namespaces",
        consequence="namespaceSelector of pod affinity matches no namespace",
        is_needed_by=_selects_namespaces,
    ),
    SnapshotKind(
        "PriorityClass",
        "priorityclasses",
        _SCHEDULING,
        "pods that name a class without a priority have priority 0",
        _only_names_its_priority,
    ),
    SnapshotKind("RuntimeClass", "runtimeclasses", "node.k8s.io"),
    SnapshotKind("Node", "nodes", consequence="no pod can be placed"),
    SnapshotKind("StorageClass", "storageclasses", _STORAGE, _VOLUMES, _has_volume_claim),
    SnapshotKind("CSIDriver", "csidrivers", _STORAGE, _VOLUMES, _has_volume_claim),
    SnapshotKind(
        "CSINode",
        "csinodes",
        _STORAGE,
        "limits on the volumes of a node do not apply",
        _has_volume_claim,
    ),
    SnapshotKind(
        "CSIStorageCapacity",
        "csistoragecapacities",
        _STORAGE,
        "storage that is about to be provisioned may be judged differently",
        _has_volume_claim,
    ),
    SnapshotKind("PersistentVolume", "persistentvolumes", "", _VOLUMES, _has_volume_claim),
    SnapshotKind(
        "PersistentVolumeClaim", "persistentvolumeclaims", "", _VOLUMES, _has_volume_claim
    ),
    SnapshotKind(
        "VolumeAttachment",
        "volumeattachments",
        _STORAGE,
        "volumes that are attached without a pod are not counted",
        _has_volume_claim,
    ),
    SnapshotKind(
        "DeviceClass", "deviceclasses", _RESOURCE, _DEVICES, _has_resource_claim, is_optional=True
    ),
    SnapshotKind(
        "ResourceSlice",
        "resourceslices",
        _RESOURCE,
        _DEVICES,
        _has_resource_claim,
        is_optional=True,
    ),
    SnapshotKind(
        "DeviceTaintRule",
        "devicetaintrules",
        _RESOURCE,
        "taints that rules give to devices do not apply",
        _has_resource_claim,
        is_optional=True,
    ),
    SnapshotKind(
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        _RESOURCE,
        _DEVICES,
        _has_resource_claim,
        is_optional=True,
    ),
    SnapshotKind("Service", "services", "", _SPREADING),
    SnapshotKind(
        "ReplicationController",
        "replicationcontrollers",
        "",
        _SPREADING,
        _is_owned_by("ReplicationController"),
    ),
    SnapshotKind("Deployment", "deployments", "apps"),
    SnapshotKind("ReplicaSet", "replicasets", "apps", _SPREADING, _is_owned_by("ReplicaSet")),
    SnapshotKind("StatefulSet", "statefulsets", "apps", _SPREADING, _is_owned_by("StatefulSet")),
    SnapshotKind("DaemonSet", "daemonsets", "apps"),
    SnapshotKind("ControllerRevision", "controllerrevisions", "apps"),
    SnapshotKind("CronJob", "cronjobs", "batch"),
    SnapshotKind("Job", "jobs", "batch"),
    SnapshotKind(
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "policy",
        "preemption does not spare pods that a budget protects",
    ),
    SnapshotKind("Workload", "workloads", _SCHEDULING, _GROUPS, _is_in_group, is_optional=True),
    SnapshotKind("PodGroup", "podgroups", _SCHEDULING, _GROUPS, _is_in_group, is_optional=True),
    SnapshotKind("CompositePodGroup", "compositepodgroups", _SCHEDULING, is_optional=True),
    SnapshotKind(
        "PodGroup",
        "podgroups",
        _SCHEDULER_PLUGINS,
        "pods that Coscheduling places in groups cannot be judged",
        _is_in_labelled_group,
        is_optional=True,
    ),
    SnapshotKind(
        "ElasticQuota",
        "elasticquotas",
        _SCHEDULER_PLUGINS,
        "CapacityScheduling cannot be judged: no quota seems to be used up",
        _no_pod,
        is_optional=True,
    ),
    SnapshotKind("Pod", "pods", consequence="all room on nodes seems to be free"),
    SnapshotKind(
        "ResourceClaim",
        "resourceclaims",
        _RESOURCE,
        _DEVICES,
        _has_resource_claim,
        is_optional=True,
    ),
)
BY_NAME: Final[Mapping[tuple[str, str], SnapshotKind]] = {
    (each.group, each.kind): each for each in KINDS
}


def kind_of(name: KindName) -> SnapshotKind | None:
    """Return the description of this kind, None if snapshots do not hold it."""
    return BY_NAME.get((name.group, name.kind))


def creation_order(objects: Mapping[KindName, tuple[bytes, ...]]) -> list[bytes]:
    """Return all objects in an order in which they can be created, owners first."""
    places = {(each.group, each.kind): place for place, each in enumerate(KINDS)}
    names = sorted(objects, key=lambda name: places.get((name.group, name.kind), len(KINDS)))
    return [raw for name in names for raw in objects[name]]


def absent_kinds(objects: Mapping[KindName, tuple[bytes, ...]], reason: str) -> list[Missing]:
    """Return the kinds without any object whose absence may change decisions."""
    present = {(name.group, name.kind) for name, found in objects.items() if found}
    pods = [raw for name, found in objects.items() if name.kind == "Pod" for raw in found]
    absent = [each for each in KINDS if each.consequence and (each.group, each.kind) not in present]
    together = b"\n".join(pods)  # searching it is faster than searching each pod
    questions = {each.is_needed_by for each in absent}
    needed = {question for question in questions if _is_needed(question, pods, together)}
    return [
        Missing(each.shown_name, reason, each.consequence)
        for each in absent
        if each.is_needed_by in needed
    ]


def _is_needed(by: Callable[[bytes], bool], pods: list[bytes], together: bytes) -> bool:
    """Return whether a pod needs a kind. Most questions look for a word that one pod must have."""
    if by is _only_names_its_priority:
        return b'"priorityClassName"' in together and any(map(by, pods))
    return by(together)
