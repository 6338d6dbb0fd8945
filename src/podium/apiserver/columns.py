"""The columns of `kubectl get`, kind by kind: a name, and a function from object to cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.api.times import parse_time
from podium.apiserver.data_columns import DATA_COLUMNS
from podium.apiserver.json_path import at
from podium.apiserver.pod_columns import POD_COLUMNS
from podium.apiserver.printing import NONE, UNSET, Column, age, column, joined, labels_text
from podium.apiserver.statuses import Json

__all__ = ["Column", "class_name", "columns_of"]

Cell = Callable[[Json], Any]


def columns_of(resource: str) -> list[Column]:
    """A built-in kind's columns between NAME and AGE, with AGE; the generic ones by default."""
    return _COLUMNS.get(resource) or [*DATA_COLUMNS.get(resource, ()), _AGE]


_AGE = Column("Age", "string", 0, lambda obj, now: age(at(obj, "metadata.creationTimestamp"), now))


def _path(
    name: str, path: str, default: Any = "", wide: bool = False, kind: str = "string"
) -> Column:
    def cell(obj: Json) -> Any:
        value = at(obj, path)
        return default if value is None else value

    return column(name, cell, wide, kind)


def _count(name: str, path: str, wide: bool = False) -> Column:
    return _path(name, path, 0, wide, "integer")


def _node_status(node: Json) -> str:
    ready = [c for c in at(node, "status.conditions") or [] if c.get("type") == "Ready"]
    texts = ["Ready" if one.get("status") == "True" else "NotReady" for one in ready] or ["Unknown"]
    if at(node, "spec.unschedulable"):
        texts.append("SchedulingDisabled")
    return ",".join(texts)


def _node_roles(node: Json) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = at(node, "metadata.labels") or {}
    found = {key.removeprefix(prefix) for key in labels if key.startswith(prefix)}
    if labels.get("kubernetes.io/role"):
        found.add(labels["kubernetes.io/role"])
    return ",".join(sorted(found)) or NONE


def _node_info(name: str) -> Cell:
    return lambda node: at(node, f"status.nodeInfo.{name}") or "<unknown>"


def _address(kind: str) -> Cell:
    def cell(node: Json) -> str:
        for one in at(node, "status.addresses") or []:
            if one.get("type") == kind:
                return str(one.get("address", ""))
        return NONE

    return cell


def _containers(path: str, field: str) -> Cell:
    return lambda obj: ",".join(one.get(field, "") for one in at(obj, f"{path}.containers") or [])


def _selector(path: str) -> Cell:
    def cell(obj: Json) -> str:
        selector = at(obj, path) or {}
        return labels_text(
            selector.get("matchLabels", selector if "matchExpressions" not in selector else {})
        )

    return cell


_CRON_POD = "spec.jobTemplate.spec.template.spec"

_TEMPLATE_WIDE = [
    column("Containers", _containers("spec.template.spec", "name"), wide=True),
    column("Images", _containers("spec.template.spec", "image"), wide=True),
    column("Selector", _selector("spec.selector"), wide=True),
]


def _ready_of(done: str, wanted: str) -> Cell:
    return lambda obj: f"{at(obj, done) or 0}/{at(obj, wanted) or 0}"


def _service_ports(service: Json) -> str:
    parts = []
    for port in at(service, "spec.ports") or []:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        parts.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(parts) or NONE


def _external_ip(service: Json) -> str:
    kind = at(service, "spec.type")
    if kind == "ExternalName":
        return at(service, "spec.externalName") or NONE
    listed = at(service, "spec.externalIPs") or []
    if kind == "LoadBalancer":
        ingress = at(service, "status.loadBalancer.ingress") or []
        listed = [one.get("ip") or one.get("hostname", "") for one in ingress] + listed
        return ",".join(listed) or "<pending>"
    return ",".join(listed) or NONE


def _endpoints(obj: Json) -> str:
    found = []
    for subset in obj.get("subsets") or []:
        for address in subset.get("addresses") or []:
            for port in subset.get("ports") or [{}]:
                found.append(
                    f"{address.get('ip')}:{port['port']}" if port else address.get("ip", "")
                )
    if len(found) > 3:
        return f"{','.join(found[:3])} + {len(found) - 3} more..."
    return ",".join(found) or NONE


_SHORT_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _modes(path: str) -> Cell:
    return lambda obj: ",".join(_SHORT_MODES.get(mode, mode) for mode in at(obj, path) or [])


def _claim_phase(obj: Json) -> str:
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    return at(obj, "status.phase") or ""


def _claim_of(volume: Json) -> str:
    claim = at(volume, "spec.claimRef")
    return f"{claim.get('namespace')}/{claim.get('name')}" if claim else ""


def _job_status(job: Json) -> str:
    conditions = {c.get("type"): c.get("status") for c in at(job, "status.conditions") or []}
    for kind in ("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if conditions.get(kind) == "True":
            return kind
    return "Terminating" if "deletionTimestamp" in job["metadata"] else "Running"


def _job_completions(job: Json) -> str:
    succeeded, wanted = at(job, "status.succeeded") or 0, at(job, "spec.completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = at(job, "spec.parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: Json, now: float) -> str:
    start, end = at(job, "status.startTime"), at(job, "status.completionTime")
    if not start:
        return ""
    return age(start, parse_time(end) / 1e9 if end else now)


def _role_ref(obj: Json) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind')}/{ref.get('name')}"


def _subjects(kind: str) -> Cell:
    def cell(binding: Json) -> str:
        found = [one for one in binding.get("subjects") or [] if one.get("kind") == kind]
        return joined(*(_subject(one) for one in found))

    return cell


def _subject(subject: Json) -> str:
    inside = subject.get("namespace")
    return f"{inside}/{subject['name']}" if inside else str(subject["name"])


_SUBJECTS = [
    column("Users", _subjects("User"), wide=True),
    column("Groups", _subjects("Group"), wide=True),
    column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
]


def class_name(obj: Json) -> str:
    """A storage class by its name, and whether it is the default one."""
    name: str = obj["metadata"]["name"]
    marked = at(obj, "metadata.annotations") or {}
    is_default = marked.get("storageclass.kubernetes.io/is-default-class") == "true"
    return f"{name} (default)" if is_default else name


@dataclass(frozen=True, slots=True)
class _Flag:
    """A boolean that is false when nobody set it."""

    path: str

    def __call__(self, obj: Json) -> bool:
        return bool(at(obj, self.path))


_COLUMNS: dict[str, list[Column]] = {
    "pods": [*POD_COLUMNS[:3], _AGE, *POD_COLUMNS[3:]],
    "nodes": [
        column("Status", _node_status),
        column("Roles", _node_roles),
        _AGE,
        _path("Version", "status.nodeInfo.kubeletVersion"),
        column("Internal-IP", _address("InternalIP"), wide=True),
        column("External-IP", _address("ExternalIP"), wide=True),
        column("OS-Image", _node_info("osImage"), wide=True),
        column("Kernel-Version", _node_info("kernelVersion"), wide=True),
        column("Container-Runtime", _node_info("containerRuntimeVersion"), wide=True),
    ],
    "namespaces": [_path("Status", "status.phase"), _AGE],
    "services": [
        _path("Type", "spec.type"),
        _path("Cluster-IP", "spec.clusterIP", NONE),
        column("External-IP", _external_ip),
        column("Port(s)", _service_ports),
        _AGE,
        column("Selector", lambda o: labels_text(at(o, "spec.selector") or {}), wide=True),
    ],
    "endpoints": [column("Endpoints", _endpoints), _AGE],
    "configmaps": [
        column(
            "Data",
            lambda o: len(o.get("data") or {}) + len(o.get("binaryData") or {}),
            kind="integer",
        ),
        _AGE,
    ],
    "secrets": [
        _path("Type", "type"),
        column("Data", lambda o: len(o.get("data") or {}), kind="integer"),
        _AGE,
    ],
    "persistentvolumes": [
        _path("Capacity", "spec.capacity.storage"),
        column("Access Modes", _modes("spec.accessModes")),
        _path("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
        column("Status", _claim_phase),
        column("Claim", _claim_of),
        _path("StorageClass", "spec.storageClassName"),
        _path("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
        _path("Reason", "status.reason"),
        _AGE,
        _path("VolumeMode", "spec.volumeMode", UNSET, wide=True),
    ],
    "persistentvolumeclaims": [
        column("Status", _claim_phase),
        _path("Volume", "spec.volumeName"),
        _path("Capacity", "status.capacity.storage"),
        column("Access Modes", _modes("status.accessModes")),
        _path("StorageClass", "spec.storageClassName"),
        _path("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
        _AGE,
        _path("VolumeMode", "spec.volumeMode", UNSET, wide=True),
    ],
    "replicationcontrollers": [
        _count("Desired", "spec.replicas"),
        _count("Current", "status.replicas"),
        _count("Ready", "status.readyReplicas"),
        _AGE,
        *_TEMPLATE_WIDE,
    ],
    "replicasets.apps": [
        _count("Desired", "spec.replicas"),
        _count("Current", "status.replicas"),
        _count("Ready", "status.readyReplicas"),
        _AGE,
        *_TEMPLATE_WIDE,
    ],
    "deployments.apps": [
        column("Ready", _ready_of("status.readyReplicas", "spec.replicas")),
        _count("Up-to-date", "status.updatedReplicas"),
        _count("Available", "status.availableReplicas"),
        _AGE,
        *_TEMPLATE_WIDE,
    ],
    "statefulsets.apps": [
        column("Ready", _ready_of("status.readyReplicas", "spec.replicas")),
        _AGE,
        *_TEMPLATE_WIDE[:2],
    ],
    "daemonsets.apps": [
        _count("Desired", "status.desiredNumberScheduled"),
        _count("Current", "status.currentNumberScheduled"),
        _count("Ready", "status.numberReady"),
        _count("Up-to-date", "status.updatedNumberScheduled"),
        _count("Available", "status.numberAvailable"),
        column(
            "Node Selector",
            lambda o: labels_text(at(o, "spec.template.spec.nodeSelector") or {}),
        ),
        _AGE,
        *_TEMPLATE_WIDE,
    ],
    "jobs.batch": [
        column("Status", _job_status),
        column("Completions", _job_completions),
        Column("Duration", "string", 0, _job_duration),
        _AGE,
        *_TEMPLATE_WIDE,
    ],
    "cronjobs.batch": [
        _path("Schedule", "spec.schedule"),
        _path("Timezone", "spec.timeZone", NONE),
        column("Suspend", lambda o: str(bool(at(o, "spec.suspend"))), kind="boolean"),
        column("Active", lambda o: len(at(o, "status.active") or []), kind="integer"),
        Column(
            "Last Schedule",
            "string",
            0,
            lambda o, now: age(at(o, "status.lastScheduleTime"), now, NONE),
        ),
        _AGE,
        column("Containers", _containers(_CRON_POD, "name"), wide=True),
        column("Images", _containers(_CRON_POD, "image"), wide=True),
        column("Selector", _selector("spec.jobTemplate.spec.selector"), wide=True),
    ],
    "poddisruptionbudgets.policy": [
        column("Min Available", lambda o: str(at(o, "spec.minAvailable") or "N/A")),
        column("Max Unavailable", lambda o: str(at(o, "spec.maxUnavailable") or "N/A")),
        _count("Allowed Disruptions", "status.disruptionsAllowed"),
        _AGE,
    ],
    "storageclasses.storage.k8s.io": [
        _path("Provisioner", "provisioner"),
        _path("ReclaimPolicy", "reclaimPolicy", "Delete"),
        _path("VolumeBindingMode", "volumeBindingMode", "Immediate"),
        column("AllowVolumeExpansion", _Flag("allowVolumeExpansion"), kind="boolean"),
        _AGE,
    ],
    "csinodes.storage.k8s.io": [
        column("Drivers", lambda o: len(at(o, "spec.drivers") or []), kind="integer"),
        _AGE,
    ],
    "priorityclasses.scheduling.k8s.io": [
        _count("Value", "value"),
        column("Global-Default", _Flag("globalDefault"), kind="boolean"),
        _AGE,
        _path("PreemptionPolicy", "preemptionPolicy", UNSET),
    ],
    "leases.coordination.k8s.io": [_path("Holder", "spec.holderIdentity"), _AGE],
    "rolebindings.rbac.authorization.k8s.io": [column("Role", _role_ref), _AGE, *_SUBJECTS],
    "clusterrolebindings.rbac.authorization.k8s.io": [column("Role", _role_ref), _AGE, *_SUBJECTS],
    "roles.rbac.authorization.k8s.io": [_path("Created At", "metadata.creationTimestamp")],
    "clusterroles.rbac.authorization.k8s.io": [_path("Created At", "metadata.creationTimestamp")],
    "customresourcedefinitions.apiextensions.k8s.io": [
        _path("Created At", "metadata.creationTimestamp")
    ],
    "limitranges": [_path("Created At", "metadata.creationTimestamp")],
    "csistoragecapacities.storage.k8s.io": [_path("Created At", "metadata.creationTimestamp")],
    "podtemplates": [
        column("Containers", _containers("template.spec", "name")),
        column("Images", _containers("template.spec", "image")),
        column("Pod Labels", lambda o: labels_text(at(o, "template.metadata.labels") or {})),
    ],
}
