"""Random clusters as manifests: nodes, placed pods and pending pods that meet most plugins."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

Json = dict[str, Any]

ZONES = ("a", "b", "c")
APPS = ("web", "db", "cache")
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


class RandomCluster(NamedTuple):
    """``standing`` is there before; the ``pending`` pods arrive in this order."""

    standing: list[Json]
    pending: list[Json]


def random_cluster(seed: int) -> RandomCluster:
    random = Random(seed)
    nodes = [_node(random, number) for number in range(random.randint(3, 12))]
    names = [each["metadata"]["name"] for each in nodes]
    placed = [
        _pod(random, f"placed-{number}", node=random.choice(names))
        for number in range(random.randint(0, 3 * len(nodes)))
    ]
    pending = [_pod(random, f"pending-{number}") for number in range(random.randint(3, 25))]
    storage, claims = _storage(random, names)
    for claim in claims:
        pod = random.choice(pending)
        source = {"claimName": claim["metadata"]["name"]}
        volumes = pod["spec"].setdefault("volumes", [])
        volumes.append({"name": f"v{len(volumes)}", "persistentVolumeClaim": source})
    devices = _devices(random, names)
    for pod in pending if devices else ():
        if random.random() < 0.3:
            pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    kinds = [*_classes(), *_budgets(random), *_services(random), *devices]
    standing = [*kinds, *nodes, *storage, *claims]
    return RandomCluster([*standing, *placed], pending)


def random_gangs(seed: int) -> RandomCluster:
    """Return a random cluster in which many of the pending pods belong to pod groups.

    Some groups want more pods than they have, and some are not gangs. Claims for devices are there
    before their pods: which pods are tried before a controller has made their claims is a race.
    """
    case, random = random_cluster(seed), Random(f"gangs {seed}")
    claims = [_own_claim(pod) for pod in case.pending if "resourceClaims" in pod["spec"]]
    groups, left = [], [pod for pod in case.pending if "schedulingGates" not in pod["spec"]]
    random.shuffle(left)
    while len(left) > 2:
        size = random.randint(1, 5)
        members, left = left[:size], left[size:]
        if random.random() < 0.3:
            continue
        name = f"group-{len(groups)}"
        groups.append(_group(random, name, len(members)))
        for pod in members:
            pod["spec"]["schedulingGroup"] = {"podGroupName": name}
            pod["spec"].pop("priorityClassName", None)
            if priority := groups[-1]["spec"].get("priorityClassName"):
                pod["spec"]["priorityClassName"] = priority
    return RandomCluster([*case.standing, *groups, *claims], case.pending)


def _own_claim(pod: Json) -> Json:
    """Let a pod use a claim that is not made from a template, and return the claim."""
    name = f"{pod['metadata']['name']}-gpu"
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": name}]
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
    meta = {"namespace": "default"}
    return _object("ResourceClaim", name, "resource.k8s.io/v1", metadata=meta, spec=spec)


def _group(random: Random, name: str, size: int) -> Json:
    least = max(1, size - random.randint(-1, 2))
    policy = {"basic": {}} if random.random() < 0.2 else {"gang": {"minCount": least}}
    spec: Json = {"schedulingPolicy": policy}
    if random.random() < 0.4:
        spec["priorityClassName"] = random.choice(("low", "high"))
    meta = {"namespace": "default"}
    return _object("PodGroup", name, "scheduling.k8s.io/v1beta1", metadata=meta, spec=spec)


def _object(kind: str, name: str, version: str = "v1", **fields: Any) -> Json:
    meta = fields.pop("metadata", {})
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **meta}, **fields}


def _classes() -> list[Json]:
    values = {"low": 10, "high": 1000}
    version = "scheduling.k8s.io/v1"
    return [_object("PriorityClass", name, version, value=value) for name, value in values.items()]


def _budgets(random: Random) -> list[Json]:
    if random.random() < 0.7:
        return []
    selector = {"matchLabels": {"app": random.choice(APPS)}}
    spec = {"minAvailable": random.randint(0, 3), "selector": selector}
    return [_object("PodDisruptionBudget", "budget", "policy/v1", spec=spec)]


def _services(random: Random) -> list[Json]:
    if random.random() < 0.5:
        return []
    app = random.choice(APPS)
    spec = {"selector": {"app": app}, "ports": [{"port": 80}]}
    return [_object("Service", app, spec=spec, metadata={"namespace": "default"})]


def _node(random: Random, number: int) -> Json:
    name = f"node-{number}"
    labels = {HOSTNAME: name, ZONE: random.choice(ZONES), "disk": random.choice(("ssd", "hdd"))}
    capacity = {"cpu": str(random.choice((2, 4, 8))), "memory": "16Gi", "pods": "20"}
    taints = [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]
    spec: Json = {"taints": taints} if random.random() < 0.2 else {}
    if random.random() < 0.05:
        spec["unschedulable"] = True
    status = {"capacity": capacity, "allocatable": capacity}
    return _object("Node", name, metadata={"labels": labels}, spec=spec, status=status)


def _pod(random: Random, name: str, node: str = "") -> Json:
    app = random.choice(APPS)
    requests = {"cpu": random.choice(("100m", "500m", "1", "2")), "memory": "512Mi"}
    container: Json = {"name": "c", "image": f"{app}:1", "resources": {"requests": requests}}
    spec: Json = {"containers": [container]}
    if node:
        spec["nodeName"] = node
    # Kubelets refuse a second pod with the port. The scheduler then forgets that the first has it,
    # as upstream, and a simulation cannot know that.
    if not node and random.random() < 0.1:
        container["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    if random.random() < 0.4:
        spec["priorityClassName"] = random.choice(("low", "high"))
    if random.random() < 0.2:
        spec["nodeSelector"] = {"disk": random.choice(("ssd", "hdd"))}
    if random.random() < 0.2:
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    if random.random() < 0.2:
        spec["affinity"] = _affinity(random, app)
    if random.random() < 0.2:
        spec["topologySpreadConstraints"] = [_constraint(random, app)]
    if not node and random.random() < 0.05:
        spec["schedulingGates"] = [{"name": "example.com/later"}]
    meta = {"namespace": "default", "labels": {"app": app}}
    return _object("Pod", name, metadata=meta, spec=spec)


def _affinity(random: Random, app: str) -> Json:
    other = random.choice((app, *APPS))
    selector = {"matchLabels": {"app": other}}
    term = {"topologyKey": random.choice((HOSTNAME, ZONE)), "labelSelector": selector}
    kind = random.choice(("podAffinity", "podAntiAffinity"))
    if random.random() < 0.5:
        return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    weighted = [{"weight": random.randint(1, 100), "podAffinityTerm": term}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def _constraint(random: Random, app: str) -> Json:
    return {
        "maxSkew": random.randint(1, 2),
        "topologyKey": random.choice((HOSTNAME, ZONE)),
        "whenUnsatisfiable": random.choice(("DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": {"matchLabels": {"app": app}},
    }


def _storage(random: Random, nodes: list[str]) -> tuple[list[Json], list[Json]]:
    """Return classes with volumes on single nodes, and claims of both classes."""
    if random.random() < 0.5:
        return [], []
    mode = {"volumeBindingMode": "WaitForFirstConsumer"}
    version = "storage.k8s.io/v1"
    local = _object(
        "StorageClass", "local", version, provisioner="kubernetes.io/no-provisioner", **mode
    )
    network = _object("StorageClass", "network", version, provisioner="example.com/disk", **mode)
    volumes = [_volume(random, number, nodes) for number in range(random.randint(1, 3))]
    claims = [_claim(random, number) for number in range(random.randint(1, 4))]
    return [local, network, *volumes], claims


def _devices(random: Random, nodes: list[str]) -> list[Json]:
    """Return a class of devices, a template for claims, and a few devices on some nodes."""
    if random.random() < 0.5:
        return []
    version = "resource.k8s.io/v1"
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    template = {"spec": {"devices": {"requests": [request]}}}
    meta = {"namespace": "default"}
    slices = [
        _slice(node, random.randint(1, 2)) for node in random.sample(nodes, max(1, len(nodes) // 2))
    ]
    return [
        _object("DeviceClass", "gpu", version, spec={}),
        _object("ResourceClaimTemplate", "gpu", version, metadata=meta, spec=template),
        *slices,
    ]


def _slice(node: str, count: int) -> Json:
    spec = {
        "driver": "gpu.example.com",
        "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{number}"} for number in range(count)],
    }
    return _object("ResourceSlice", f"{node}-gpus", "resource.k8s.io/v1", spec=spec)


def _volume(random: Random, number: int, nodes: list[str]) -> Json:
    expression = {"key": HOSTNAME, "operator": "In", "values": [random.choice(nodes)]}
    spec = {
        "capacity": {"storage": f"{random.randint(1, 10)}Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "local",
        "local": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
    }
    return _object("PersistentVolume", f"volume-{number}", spec=spec)


def _claim(random: Random, number: int) -> Json:
    spec = {
        "storageClassName": random.choice(("local", "network")),
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{random.randint(1, 5)}Gi"}},
    }
    meta = {"namespace": "default"}
    return _object("PersistentVolumeClaim", f"claim-{number}", metadata=meta, spec=spec)
