"""The kinds that are always there, one line each."""

from __future__ import annotations

from dataclasses import replace

from podium.apiserver.kinds import ALL_VERBS, CREATE_ONLY, Kind, Kinds
from podium.apiserver.schemas import published

_POD = (
    "status",
    "binding",
    "eviction",
    "log",
    "exec",
    "attach",
    "portforward",
    "ephemeralcontainers",
)
_SCALED = ("status", "scale")
_CATEGORIES = {"a": "all", "x": "api-extensions"}

# kind, plural, short names, and flags: c = of the cluster, g = counts generations, a = `get all`,
# s = deleted one at a time, x = extends the API
_Row = tuple[str, str, str, str, tuple[str, ...]]

_CORE: list[_Row] = [
    ("Namespace", "namespaces", "ns", "cs", ("status", "finalize")),
    ("Node", "nodes", "no", "c", ("status",)),
    ("Pod", "pods", "po", "ga", _POD),
    ("Service", "services", "svc", "a", ("status",)),
    ("Endpoints", "endpoints", "ep", "", ()),
    ("ConfigMap", "configmaps", "cm", "", ()),
    ("Secret", "secrets", "", "", ()),
    ("ServiceAccount", "serviceaccounts", "sa", "", ("token",)),
    ("PersistentVolume", "persistentvolumes", "pv", "c", ("status",)),
    ("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", "", ("status",)),
    ("Event", "events", "ev", "", ()),
    ("ReplicationController", "replicationcontrollers", "rc", "ga", _SCALED),
    ("LimitRange", "limitranges", "limits", "", ()),
    ("ResourceQuota", "resourcequotas", "quota", "", ("status",)),
    ("PodTemplate", "podtemplates", "", "g", ()),
]
_GROUPS: list[tuple[str, str, list[_Row]]] = [
    ("", "v1", _CORE),
    (
        "apps",
        "v1",
        [
            ("Deployment", "deployments", "deploy", "ga", _SCALED),
            ("ReplicaSet", "replicasets", "rs", "ga", _SCALED),
            ("StatefulSet", "statefulsets", "sts", "ga", _SCALED),
            ("DaemonSet", "daemonsets", "ds", "ga", ("status",)),
            ("ControllerRevision", "controllerrevisions", "", "", ()),
        ],
    ),
    (
        "batch",
        "v1",
        [
            ("Job", "jobs", "", "ga", ("status",)),
            ("CronJob", "cronjobs", "cj", "ga", ("status",)),
        ],
    ),
    ("policy", "v1", [("PodDisruptionBudget", "poddisruptionbudgets", "pdb", "g", ("status",))]),
    (
        "autoscaling",
        "v2",
        [("HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", "a", ("status",))],
    ),
    (
        "storage.k8s.io",
        "v1",
        [
            ("StorageClass", "storageclasses", "sc", "c", ()),
            ("CSINode", "csinodes", "", "c", ()),
            ("CSIDriver", "csidrivers", "", "c", ()),
            ("CSIStorageCapacity", "csistoragecapacities", "", "", ()),
            ("VolumeAttachment", "volumeattachments", "", "c", ("status",)),
            ("VolumeAttributesClass", "volumeattributesclasses", "vac", "c", ()),
        ],
    ),
    ("node.k8s.io", "v1", [("RuntimeClass", "runtimeclasses", "", "c", ())]),
    ("scheduling.k8s.io", "v1", [("PriorityClass", "priorityclasses", "pc", "cg", ())]),
    ("coordination.k8s.io", "v1", [("Lease", "leases", "", "", ())]),
    (
        "rbac.authorization.k8s.io",
        "v1",
        [
            ("Role", "roles", "", "", ()),
            ("RoleBinding", "rolebindings", "", "", ()),
            ("ClusterRole", "clusterroles", "", "c", ()),
            ("ClusterRoleBinding", "clusterrolebindings", "", "c", ()),
        ],
    ),
    (
        "networking.k8s.io",
        "v1",
        [
            ("Ingress", "ingresses", "ing", "g", ("status",)),
            ("IngressClass", "ingressclasses", "", "cg", ()),
            ("NetworkPolicy", "networkpolicies", "netpol", "g", ()),
        ],
    ),
    ("discovery.k8s.io", "v1", [("EndpointSlice", "endpointslices", "", "g", ())]),
    (
        "resource.k8s.io",
        "v1",
        [
            ("DeviceClass", "deviceclasses", "", "cg", ()),
            ("ResourceClaim", "resourceclaims", "", "", ("status",)),
            ("ResourceClaimTemplate", "resourceclaimtemplates", "", "", ()),
            ("ResourceSlice", "resourceslices", "", "cg", ()),
        ],
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        [("CustomResourceDefinition", "customresourcedefinitions", "crd crds", "cgx", ("status",))],
    ),
]
_REVIEWS: list[tuple[str, str, str, bool]] = [
    ("authentication.k8s.io", "TokenReview", "tokenreviews", False),
    ("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews", False),
    ("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", False),
    ("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews", False),
    ("authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews", False),
    ("authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews", True),
]


def builtin_kinds() -> Kinds:
    """A fresh table; CRDs of one server do not show up in another."""
    rows = [_kind(group, version, row) for group, version, part in _GROUPS for row in part]
    event = next(row for row in rows if row.resource == "events")
    newer = published("events.k8s.io", "v1", "Event")
    rows.append(
        replace(event, group="events.k8s.io", stored_as="events", stored_version="v1", schema=newer)
    )  # one store, two shapes: what writes one is seen through the other
    scaler = next(row for row in rows if row.kind == "HorizontalPodAutoscaler")
    older = published("autoscaling", "v1", "HorizontalPodAutoscaler")
    rows.append(replace(scaler, version="v1", stored_version="autoscaling/v2", schema=older))
    rows += [_review(group, kind, plural, inside) for group, kind, plural, inside in _REVIEWS]
    return Kinds(rows)


def _kind(group: str, version: str, row: _Row) -> Kind:
    kind, plural, short, flags, subresources = row
    return Kind(
        group,
        version,
        kind,
        plural,
        kind.lower(),
        tuple(short.split()),
        namespaced="c" not in flags,
        subresources=subresources,
        categories=tuple(_CATEGORIES[flag] for flag in flags if flag in _CATEGORIES),
        verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection" or "s" not in flags),
        counts_generations="g" in flags,
        schema=published(group, version, kind),
    )


def _review(group: str, kind: str, plural: str, namespaced: bool) -> Kind:
    schema = published(group, "v1", kind)
    row = Kind(group, "v1", kind, plural, kind.lower(), namespaced=namespaced, schema=schema)
    return replace(row, verbs=CREATE_ONLY)
