"""A small cluster with varied nodes and bound pods, and pending pods of every fate.

Each pending pod has its own priority, so that the order is certain, and one best node at most.
"""

NAMESPACE = "story"
CORE = "/api/v1"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def _named(kind, name, version="v1", namespace="", **fields):
    meta = {"name": name, **fields.pop("metadata", {})}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def _node(name, zone, cpu, memory="16Gi", **more):
    labels, taints = more.get("labels", {}), more.get("taints", [])
    images = more.get("images", ())
    amounts = {"cpu": cpu, "memory": memory, "pods": "20", "example.com/gpu": "2"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    return _named(
        "Node",
        name,
        metadata={"labels": {HOST: name, ZONE: zone, **labels}},
        spec={"taints": taints},
        status={
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [ready],
            "images": [{"names": [image], "sizeBytes": 900_000_000} for image in images],
        },
    )


GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
SOFT = {"key": "old", "effect": "PreferNoSchedule"}
NODES = (
    _node("a1", "a", "4"),
    _node("a2", "a", "8", labels={"disk": "ssd"}),
    _node("b1", "b", "6", "24Gi", images=["example.com/big:1"]),
    _node("b2", "b", "10", "12Gi", taints=[SOFT]),
    _node("c1", "c", "16", "64Gi", taints=[GPU]),
    _node("c2", "c", "5", labels={"disk": "ssd"}),
)


def _pod(name, labels=None, cpu="100m", memory="128Mi", image="example.com/app:1", **spec):
    requests = {"cpu": cpu, "memory": memory}
    container = {"name": "c", "image": image, "resources": {"requests": requests}}
    container["env"] = [{"name": "PASSWORD", "value": "not in the snapshot"}]
    if ports := spec.pop("ports", None):
        container["ports"] = ports
    owner = spec.pop("owner", None)
    meta = {"labels": labels or {}, **({"ownerReferences": [owner]} if owner else {})}
    return _named(
        "Pod", name, metadata=meta, namespace=NAMESPACE, spec={"containers": [container], **spec}
    )


WEB = {"app": "web"}
DB = {"app": "db"}
PORT = [{"containerPort": 80, "hostPort": 8080}]
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web",
    "uid": "x",
    "controller": True,
}
BOUND = (
    _pod("web-1", WEB, "500m", "1Gi", nodeName="a1", owner=OWNER),
    _pod("web-2", WEB, "700m", "1Gi", nodeName="a2", owner=OWNER),
    _pod("db-1", DB, "2", "6Gi", nodeName="b1"),
    _pod("db-2", DB, "1", "1Gi", nodeName="c2"),
    _pod("port", None, "250m", nodeName="a1", ports=PORT),
    _pod("big", None, "5", "3Gi", nodeName="b2"),
)


def _terms(key, *values):
    return [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]


def _required(key, *values):
    node = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": _terms(key, *values)
        }
    }
    return {"nodeAffinity": node}


def _near(labels, topology, kind="podAffinity", weight=None):
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": topology}
    if weight is None:
        return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    preferred = [{"weight": weight, "podAffinityTerm": term}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _spread(labels, topology, when, skew=1):
    return [
        {
            "maxSkew": skew,
            "topologyKey": topology,
            "whenUnsatisfiable": when,
            "labelSelector": {"matchLabels": labels},
        }
    ]


def _claim(name):
    return [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]


TOLERATES = [{"key": "gpu", "operator": "Exists"}]
_WAITING = {
    "plain": _pod("plain", cpu="300m"),
    "large": _pod("large", cpu="6", tolerations=TOLERATES),
    "prefers-ssd": _pod(
        "prefers-ssd",
        affinity={
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 70, "preference": _terms("disk", "ssd")[0]}
                ]
            }
        },
    ),
    "near-db": _pod("near-db", affinity=_near(DB, HOST, weight=90)),
    "spread-web": _pod(
        "spread-web", WEB, topologySpreadConstraints=_spread(WEB, ZONE, "ScheduleAnyway")
    ),
    "same-image": _pod("same-image", image="example.com/big:1"),
    "served": _pod("served", WEB, cpu="150m"),
    "with-volume": _pod("with-volume", volumes=_claim("local")),
    "too-big": _pod("too-big", cpu="100"),
    "no-such-zone": _pod("no-such-zone", affinity=_required(ZONE, "z")),
    "taken-port": _pod("taken-port", ports=PORT, nodeSelector={HOST: "a1"}),
    "not-tolerated": _pod("not-tolerated", nodeSelector={HOST: "c1"}),
    "no-claim": _pod("no-claim", volumes=_claim("nowhere")),
    "far-volume": _pod("far-volume", volumes=_claim("local"), nodeSelector={HOST: "a1"}),
    "needs-cache": _pod("needs-cache", affinity=_near({"app": "cache"}, ZONE)),
    "alone": _pod(
        "alone", WEB, affinity=_near(WEB, ZONE, "podAntiAffinity"), nodeSelector={ZONE: "a"}
    ),
    "gpus": _pod("gpus", nodeSelector={"gpus": "8"}),
}
PENDING = tuple(_WAITING)


def _class(number, name):
    return _named(
        "PriorityClass",
        f"story-{name}",
        "scheduling.k8s.io/v1",
        value=1000 - number,
        preemptionPolicy="Never",
    )


CLASSES = tuple(_class(number, name) for number, name in enumerate(PENDING))
for _name, _each in _WAITING.items():
    _each["spec"]["priorityClassName"] = f"story-{_name}"

SERVICE = _named(
    "Service", "web", namespace=NAMESPACE, spec={"selector": WEB, "ports": [{"port": 80}]}
)
SET = _named(
    "ReplicaSet",
    "web",
    "apps/v1",
    NAMESPACE,
    spec={
        "replicas": 2,
        "selector": {"matchLabels": WEB},
        "template": {
            "metadata": {"labels": WEB},
            "spec": {"containers": [{"name": "c", "image": "example.com/app:1"}]},
        },
    },
)
BUDGET = _named(
    "PodDisruptionBudget",
    "db",
    "policy/v1",
    NAMESPACE,
    spec={"minAvailable": 1, "selector": {"matchLabels": DB}},
)
STORAGE = _named(
    "StorageClass",
    "local",
    "storage.k8s.io/v1",
    provisioner="kubernetes.io/no-provisioner",
    volumeBindingMode="WaitForFirstConsumer",
)
VOLUME = _named(
    "PersistentVolume",
    "local",
    spec={
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "local": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": _terms(HOST, "b1")}},
        "claimRef": {"namespace": NAMESPACE, "name": "local"},
    },
)
CLAIM = _named(
    "PersistentVolumeClaim",
    "local",
    namespace=NAMESPACE,
    metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
    spec={
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "local",
        "volumeName": "local",
    },
)

_IN = f"/namespaces/{NAMESPACE}"
# In the order of creation: where to post, and what.
STORY = (
    (f"{CORE}/namespaces", _named("Namespace", NAMESPACE)),
    *(("/apis/scheduling.k8s.io/v1/priorityclasses", each) for each in CLASSES),
    *((f"{CORE}/nodes", each) for each in NODES),
    ("/apis/storage.k8s.io/v1/storageclasses", STORAGE),
    (f"{CORE}/persistentvolumes", VOLUME),
    (f"{CORE}{_IN}/persistentvolumeclaims", CLAIM),
    (f"{CORE}{_IN}/services", SERVICE),
    (f"/apis/apps/v1{_IN}/replicasets", SET),
    (f"/apis/policy/v1{_IN}/poddisruptionbudgets", BUDGET),
    *((f"{CORE}{_IN}/pods", each) for each in BOUND),
    *((f"{CORE}{_IN}/pods", each) for each in _WAITING.values()),
)


def objects_of(story):
    return [obj for _, obj in story]
