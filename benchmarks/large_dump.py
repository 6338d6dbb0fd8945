"""Writes a dump of a large cluster, as `kubectl get -o json` shows it.

    python -m benchmarks.large_dump FILE [NODES]
    podium snapshot save --from FILE -o cluster.podium

Ten pods for each node: two of DaemonSets, the others of 1,500 Deployments and StatefulSets in 100
namespaces, with the fields that an API server and kubelets fill in. A few pods are pending. The
same arguments give the same file.
"""

import json
import random
import sys
import uuid
from pathlib import Path

CREATED = "2026-03-01T08:00:00Z"
NAMESPACES, WORKLOADS, IMAGES, DAEMONS = 100, 1500, 400, ("node-agent", "network")
PER_NODE = 8  # pods of workloads
ZONES = ("eu-1a", "eu-1b", "eu-1c")
TYPES = {"m5.4xlarge": ("16", "64Gi"), "c5.9xlarge": ("36", "72Gi"), "r5.4xlarge": ("16", "128Gi")}


class Cluster:
    """The objects so far; all that is random comes from one seed."""

    def __init__(self, nodes):
        self.random = random.Random(1)
        self.nodes = nodes
        self.version = 1_000_000
        self.objects = []
        self.suffixes = set()  # of names, so that no two are equal
        digests = (self.random.randbytes(32).hex() for _ in range(IMAGES))
        self.images = [
            (f"registry.example.com/team-{n % 40}/service-{n}", digest)
            for n, digest in enumerate(digests)
        ]

    def uid(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def add(self, kind, name, namespace="", *, api="v1", body=None, **meta):
        self.version += 1
        base = {"creationTimestamp": CREATED, "name": name}
        if namespace:
            base["namespace"] = namespace
        known = {"resourceVersion": str(self.version), "uid": self.uid()}
        obj = {"apiVersion": api, "kind": kind, "metadata": {**base, **known, **meta}}
        self.objects.append({**obj, **(body or {})})
        return obj

    def fill(self):
        for number in range(NAMESPACES):
            self.add("Namespace", f"team-{number}", labels={"team": f"{number}"})
        for number in range(self.nodes):
            self.node(number)
        for name in DAEMONS:
            owner = self.add("DaemonSet", name, "kube-system", api="apps/v1", body=workload(name))
            for number in range(self.nodes):
                self.pod(("kube-system", f"{name}-{suffix(self)}"), name, owner, number)
        places = [n for n in range(self.nodes) for _ in range(PER_NODE)]
        self.random.shuffle(places)
        for number in range(WORKLOADS):
            self.workload(number, places[number::WORKLOADS])
        for number in range(5):
            self.pod(("team-1", f"training-{number}"), "training", None, None, cpu="64")

    def node(self, number):
        name = f"ip-10-{number // 256}-{number % 256}-7.eu.example.com"
        kind = list(TYPES)[number % len(TYPES)]
        cpu, memory = TYPES[kind]
        labels = {
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": kind,
            "pool": f"pool-{number % 7}",
            "topology.kubernetes.io/region": "eu-1",
            "topology.kubernetes.io/zone": ZONES[number % 3],
        }
        images = [
            {"names": [f"{image}@sha256:{digest}", f"{image}:v1.2"], "sizeBytes": 40_000_000 + at}
            for at, (image, digest) in enumerate(self.random.sample(self.images, 25))
        ]
        capacity = {
            "cpu": cpu,
            "ephemeral-storage": "104845292Ki",
            "hugepages-1Gi": "0",
            "memory": memory,
            "pods": "110",
        }
        pressures = ("MemoryPressure", "DiskPressure", "PIDPressure")
        status = {
            "addresses": [
                {"address": address(number), "type": "InternalIP"},
                {"address": name, "type": "Hostname"},
            ],
            "allocatable": capacity,
            "capacity": capacity,
            "conditions": [
                *[node_condition(each, "False", f"KubeletHasNo{each}") for each in pressures],
                node_condition("Ready", "True", "KubeletReady"),
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": images,
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": self.uid(),
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.12.40",
                "kubeletVersion": "v1.37.0",
                "machineID": self.random.randbytes(16).hex(),
                "operatingSystem": "linux",
                "osImage": "Linux",
                "systemUUID": self.uid(),
            },
        }
        annotations = {
            "node.alpha.kubernetes.io/ttl": "0",
            "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        }
        spec = {"podCIDR": f"10.{number // 256}.{number % 256}.0/24", "providerID": f"x:///{name}"}
        self.add(
            "Node",
            name,
            labels=labels,
            annotations=annotations,
            body={"spec": spec, "status": status},
        )

    def workload(self, number, places):
        name, namespace = f"service-{number}", f"team-{number % NAMESPACES}"
        body = workload(name)
        selector = {"spec": {"selector": {"app": name}, "clusterIP": "10.0.0.1"}}
        self.add("Service", name, namespace, body=selector)
        if number % 10 == 0:
            owner = self.add("StatefulSet", name, namespace, api="apps/v1", body=body)
            names = [f"{name}-{ordinal}" for ordinal in range(len(places))]
        else:
            parent = self.add("Deployment", name, namespace, api="apps/v1", body=body)
            replicas = f"{name}-{suffix(self, 9)}"
            owner = self.add(
                "ReplicaSet",
                replicas,
                namespace,
                api="apps/v1",
                body=body,
                ownerReferences=[reference(parent)],
            )
            names = [f"{replicas}-{suffix(self)}" for _ in places]
        cpu = f"{self.random.choice((50, 100, 250, 500, 1000))}m"
        for pod, place in zip(names, places, strict=True):
            self.pod((namespace, pod), name, owner, place, cpu=cpu)

    def pod(self, key, app, owner, place, *, cpu="100m"):
        namespace, name = key
        meta = {"labels": {"app": app, "app.kubernetes.io/part-of": namespace, "tier": "web"}}
        meta["annotations"] = {"prometheus.io/port": "9090", "prometheus.io/scrape": "true"}
        if owner is not None:
            meta["generateName"] = f"{owner['metadata']['name']}-"
            meta["ownerReferences"] = [reference(owner)]
            meta["labels"]["pod-template-hash"] = owner["metadata"]["name"][-9:]
        image, digest = self.images[hash_of(app) % IMAGES]
        spec = pod_spec(app, name, f"{image}:v1.2", cpu)
        if hash_of(app) % 10 == 1:
            spec["topologySpreadConstraints"] = [spread(app)]
        if hash_of(app) % 10 == 2:
            spec["affinity"] = {"podAntiAffinity": prefer_apart(app)}
        status = {"conditions": [unschedulable()], "phase": "Pending", "qosClass": "Burstable"}
        if place is not None:
            spec["nodeName"] = f"ip-10-{place // 256}-{place % 256}-7.eu.example.com"
            identity = f"{image}@sha256:{digest}", self.random.randbytes(32).hex()
            ip = f"10.{place // 256}.{place % 256}.{self.random.randrange(2, 250)}"
            status = running(app, spec["containers"][0], identity, address(place), ip)
        self.add("Pod", name, namespace, body={"spec": spec, "status": status}, **meta)


def hash_of(text):
    return sum(map(ord, text))


def suffix(cluster, length=5):
    found = "".join(cluster.random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))
    if found in cluster.suffixes:
        return suffix(cluster, length)
    cluster.suffixes.add(found)
    return found


def address(number):
    return f"192.168.{number // 256}.{number % 256}"


def reference(owner):
    return {
        "apiVersion": owner["apiVersion"],
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }


def workload(app):
    template = {"metadata": {"labels": {"app": app}}, "spec": pod_spec(app, app, "image", "100m")}
    return {
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": app}}, "template": template}
    }


def node_condition(kind, status, reason):
    return {
        "lastHeartbeatTime": "2026-03-09T10:00:00Z",
        "lastTransitionTime": CREATED,
        "message": f"kubelet reports {reason}",
        "reason": reason,
        "status": status,
        "type": kind,
    }


def unschedulable():
    text = "0/5000 nodes are available: 5000 Insufficient cpu. no new claims to deallocate"
    return {**pod_condition("PodScheduled"), "status": "False", "reason": "Unschedulable"} | {
        "message": text
    }


def pod_condition(kind):
    return {
        "lastProbeTime": None,
        "lastTransitionTime": CREATED,
        "observedGeneration": 1,
        "status": "True",
        "type": kind,
    }


def spread(app):
    return {
        "labelSelector": {"matchLabels": {"app": app}},
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
    }


def prefer_apart(app):
    term = {
        "labelSelector": {"matchLabels": {"app": app}},
        "topologyKey": "kubernetes.io/hostname",
    }
    weighted = [{"podAffinityTerm": term, "weight": 100}]
    return {"preferredDuringSchedulingIgnoredDuringExecution": weighted}


def pod_spec(app, name, image, cpu):
    probe = {
        "failureThreshold": 3,
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "periodSeconds": 10,
        "successThreshold": 1,
        "timeoutSeconds": 1,
    }
    token = f"kube-api-access-{name[-5:]}"
    field = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    container = {
        "args": ["--config=/etc/service/config.yaml", "--log-level=info"],
        "env": [
            {"name": "NAMESPACE", "valueFrom": field},
            *[
                {"name": f"SETTING_{n}", "value": f"https://{app}.example.com/{n}"}
                for n in range(8)
            ],
        ],
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": probe,
        "name": app,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "readinessProbe": probe,
        "resources": {
            "limits": {"memory": "512Mi"},
            "requests": {"cpu": cpu, "memory": "256Mi"},
        },
        "securityContext": {"allowPrivilegeEscalation": False, "runAsNonRoot": True},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"mountPath": "/etc/service", "name": "config"},
            {
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "name": token,
                "readOnly": True,
            },
        ],
    }
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {
            "configMap": {
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
                "name": "kube-root-ca.crt",
            }
        },
        {"downwardAPI": {"items": [{**field, "path": "namespace"}]}},
    ]
    lost = {"effect": "NoExecute", "operator": "Exists", "tolerationSeconds": 300}
    return {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {**lost, "key": "node.kubernetes.io/not-ready"},
            {**lost, "key": "node.kubernetes.io/unreachable"},
        ],
        "volumes": [
            {"configMap": {"defaultMode": 420, "name": f"{app}-config"}, "name": "config"},
            {"name": token, "projected": {"defaultMode": 420, "sources": sources}},
        ],
    }


def running(app, container, identity, host, ip):
    image, container_id = identity
    kinds = (
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    )
    started = {
        "allocatedResources": container["resources"]["requests"],
        "containerID": f"containerd://{container_id}",
        "image": container["image"],
        "imageID": image,
        "lastState": {},
        "name": app,
        "ready": True,
        "resources": container["resources"],
        "restartCount": 0,
        "started": True,
        "state": {"running": {"startedAt": "2026-03-01T08:00:07Z"}},
        "volumeMounts": container["volumeMounts"],
    }
    return {
        "conditions": [pod_condition(kind) for kind in kinds],
        "containerStatuses": [started],
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "observedGeneration": 1,
        "phase": "Running",
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "qosClass": "Burstable",
        "startTime": CREATED,
    }


def main():
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    cluster = Cluster(nodes)
    cluster.fill()
    listed = {"apiVersion": "v1", "items": cluster.objects, "kind": "List", "metadata": {}}
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        json.dump(listed, file, indent=4)


if __name__ == "__main__":
    main()
