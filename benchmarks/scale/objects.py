"""Nodes and pods of a large cluster as JSON, of the size and shape that kube-apiserver sends."""

import json

IMAGES = 20
APPS = 100  # pods per app, as of a Deployment
FIELDS = {"f:metadata": {"f:labels": {f"f:label-{n}": {} for n in range(8)}}, "f:spec": {}}
MANAGED = [
    {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": FIELDS,
    }
    for manager in ("kube-controller-manager", "kube-scheduler", "kubelet")
]
BORN = "2026-01-01T00:00:00Z"
REQUESTS = {"cpu": "100m", "memory": "200Mi"}


def node_text():
    """Return JSON with the places ``name``, ``version``, ``zone`` and ``round``."""
    labels = {
        "kubernetes.io/hostname": "%(name)s",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "m5.8xlarge",
        "topology.kubernetes.io/region": "r1",
        "topology.kubernetes.io/zone": "z%(zone)d",
        "example.com/round": "%(round)d",
    }
    amounts = {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "200Gi", "pods": "110"}
    conditions = [
        {
            "type": kind,
            "status": "True" if kind == "Ready" else "False",
            "lastHeartbeatTime": BORN,
            "lastTransitionTime": BORN,
            "reason": f"Kubelet{kind}",
            "message": "kubelet has sufficient memory available",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    images = [
        {"names": [f"registry.example.com/team/app-{n}:v1"], "sizeBytes": 100_000_000 + n}
        for n in range(IMAGES)
    ]
    return _text(
        {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {**_meta("%(name)s", labels), "annotations": {"node.alpha/ttl": "0"}},
            "spec": {"podCIDR": "10.0.0.0/24", "providerID": "cloud:///r1/%(name)s"},
            "status": {
                "capacity": amounts,
                "allocatable": amounts,
                "conditions": conditions,
                "images": images,
                "nodeInfo": {"kubeletVersion": "v1.36.4", "osImage": "Linux", "machineID": "m"},
            },
        }
    )


def pod_text(node="", spread=False):
    """Return JSON with the places ``name``, ``version``, ``app``, ``time``, and maybe ``node``."""
    mount = {"name": "kube-api-access-%(name)s", "mountPath": "/run/secrets", "readOnly": True}
    container = {
        "name": "app",
        "image": "registry.example.com/team/app-1:v1",
        "env": [{"name": f"SETTING_{n}", "value": f"value number {n}"} for n in range(8)],
        "resources": {"requests": REQUESTS},
        "volumeMounts": [mount],
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }
    lasting = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    spec = {
        "volumes": [{"name": "kube-api-access-%(name)s", "projected": {"sources": []}}],
        "containers": [container],
        "restartPolicy": "Always",
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", **lasting},
            {"key": "node.kubernetes.io/unreachable", **lasting},
        ],
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    if node:
        spec["nodeName"] = node
    if spread:
        spec["topologySpreadConstraints"] = [_spread()]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True}
    owner |= {"name": "app-%(app)d-6b7f", "uid": "6b7f0000-0000-0000-0000-%(app)012d"}
    labels = {"app": "app-%(app)d", "pod-template-hash": "6b7f", "team": "team-1"}
    meta = _meta("%(name)s", labels) | {"namespace": "default", "ownerReferences": [owner]}
    status = _running() if node else {"phase": "Pending", "qosClass": "Burstable"}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}
    return _text(pod)


def _spread():
    return {
        "maxSkew": 100_000,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "app-%(app)d"}},
    }


def _running():
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    one = {"status": "True", "lastProbeTime": None, "lastTransitionTime": "%(time)s"}
    status = {
        "name": "app",
        "allocatedResources": REQUESTS,
        "resources": {"requests": REQUESTS},
        "state": {"running": {"startedAt": "%(time)s"}},
        "ready": True,
        "restartCount": 0,
        "image": "registry.example.com/team/app-1:v1",
        "imageID": "registry.example.com/team/app-1@sha256:" + 64 * "0",
        "containerID": "containerd://%(name)s",
        "started": True,
    }
    return {
        "phase": "Running",
        "conditions": [{"type": kind, **one} for kind in kinds],
        "hostIP": "10.0.0.1",
        "podIP": "10.1.0.1",
        "startTime": "%(time)s",
        "containerStatuses": [status],
        "qosClass": "Burstable",
    }


def _meta(name, labels):
    return {
        "name": name,
        "uid": f"00000000-0000-0000-0000-{name}",
        "resourceVersion": "%(version)d",
        "creationTimestamp": BORN,
        "labels": labels,
        "managedFields": MANAGED,
    }


def _text(obj):
    return json.dumps(obj, separators=(",", ":"))
