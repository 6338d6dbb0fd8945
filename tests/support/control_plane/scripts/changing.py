"""Scripts: what changes from release to release, so that each one is compared with its own."""

from tests.support.control_plane.comparison import MERGE, TABLE
from tests.support.control_plane.scripts.objects import claim, pod, template

RBAC = "rbac.authorization.k8s.io/v1"
STORAGE = "/apis/storage.k8s.io/v1"
DRIVERS = [{"name": "d.example.com", "nodeID": "n"}]
DEFAULT = "storageclass.kubernetes.io/is-default-class"


def _limited(name, **limits):
    return {"name": name, "image": "app:1", "resources": {"limits": limits}}


def pod_level_resources(ask):
    path = ask.core("pods")
    gpu = _limited("c", cpu="1", memory="1000M", **{"hugepages-2Mi": "2Mi"})
    other = _limited("d", cpu="1500m", memory="1Gi")
    sidecar = {**_limited("i", cpu="250m"), "restartPolicy": "Always"}
    for number, (resources, more) in enumerate(
        (
            ({"limits": {"cpu": "4"}}, {"containers": [gpu, other]}),
            ({"requests": {"cpu": "4"}}, {"containers": [gpu, other]}),
            ({"requests": {"cpu": "1"}}, {"containers": [gpu, other]}),
            ({"requests": {"cpu": "4"}}, {"containers": [other], "initContainers": [sidecar]}),
            ({"requests": {"memory": "4Gi"}}, {"containers": [other, {**gpu, "resources": {}}]}),
            ({}, {"containers": [other]}),
        )
    ):
        ask.create(path, pod(f"p{number}", resources=resources, **more))


def templates(ask):
    """Which defaults of pods templates do without."""
    labels = {"app": "x"}
    container = {**_limited("c", cpu="1"), "ports": [{"containerPort": 80}]}
    spec = {"containers": [container], "resources": {"limits": {"cpu": "2"}}, "hostNetwork": True}
    made = {"selector": {"matchLabels": labels}, "template": template(labels, **spec)}
    ask.create(ask.apps("daemonsets"), {"metadata": {"name": "x"}, "spec": made})


def dropped_fields(ask):
    """Fields of gates that are off, and fields that only one release knows."""
    probe = {"httpGet": {"port": 80, "protocol": "HTTP2"}}
    mount = {"name": "v", "mountPath": "/a", "bindMountOptions": ["noexec"]}
    container = {"name": "c", "image": "app:1", "volumeMounts": [mount], "livenessProbe": probe}
    volumes = [
        {"name": "v", "emptyDir": {"mode": 511}},
        {"name": "w", "configMap": {"name": "c", "defaultUser": 1}},
        {
            "name": "x",
            "secret": {"secretName": "s", "items": [{"key": "k", "path": "p", "user": 1}]},
        },
    ]
    spec = {
        "containers": [container],
        "volumes": volumes,
        "schedulingGroup": {"podGroupName": "g"},
        "evictionResponders": [{"name": "a.example.com/b", "priority": 1}],
    }
    ask.create(ask.core("pods"), pod("x", **spec))
    health = [{"name": "v", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    ask.patch(ask.core("pods/x/status"), {"status": {"volumeHealth": health}}, MERGE)
    once = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "app:1"}]}
    job = {"scheduling": {"schedulingPolicy": {"basic": {}}}, "template": {"spec": once}}
    ask.create(ask.group("batch/v1", "jobs"), {"metadata": {"name": "x"}, "spec": job})
    node = {"podPreemptionPolicy": {"disableResizePreemption": ["a"]}}
    ask.create("/api/v1/nodes?dryRun=All", {"metadata": {"name": "dropping"}, "spec": node})
    driver = {"preventPodSchedulingIfMissing": True}
    ask.create(f"{STORAGE}/csidrivers?dryRun=All", {"metadata": {"name": "x"}, "spec": driver})
    ask.create(ask.core("persistentvolumeclaims"), claim("x"))
    health = {"status": {"healthStatus": {"lastTransitionTime": "2026-01-01T00:00:00Z"}}}
    ask.patch(ask.core("persistentvolumeclaims/x/status"), health, MERGE)
    request = {"deviceClassName": "c", "derivedAttributes": [{"name": "a.b/c", "expression": "1"}]}
    devices = {"requests": [{"name": "r", "exactly": request}]}
    claims = ask.group("resource.k8s.io/v1", "resourceclaims")
    ask.create(claims, {"metadata": {"name": "x"}, "spec": {"devices": devices}})


def changed_rules(ask):
    """Rules that 1.37 declares at the types: other words, and after all others."""
    path = "/apis/autoscaling/v2/namespaces/" + ask.namespace + "/horizontalpodautoscalers"
    target = {"kind": "Deployment", "name": "n", "apiVersion": "apps/v1"}
    for spec in (
        {"maxReplicas": -1},
        {"maxReplicas": 3, "minReplicas": -1, "scaleTargetRef": target},
        {"maxReplicas": 3, "minReplicas": 0, "scaleTargetRef": target},
    ):
        ask.create(path, {"metadata": {"name": "x"}, "spec": spec})
    binding = {
        "metadata": {"name": "x"},
        "roleRef": {"kind": "Role"},
        "subjects": [{"kind": "User"}],
    }
    bindings = ask.group(RBAC, "rolebindings")
    ask.create(bindings, binding)
    ask.create(bindings, {"metadata": {"name": "x"}, "roleRef": {"kind": "Role", "name": "r"}})
    ask.patch(f"{bindings}/x", {"roleRef": {"name": "other"}}, MERGE)
    slices = ask.group("discovery.k8s.io/v1", "endpointslices")
    ask.create(slices, {"metadata": {"name": "x"}, "addressType": "Odd"})
    empty = {"addressType": "IPv4", "endpoints": [{"addresses": []}]}
    ask.create(slices, {"metadata": {"name": "x"}, **empty})
    ask.create(slices, {"metadata": {"name": "x"}, "addressType": "IPv4", "endpoints": []})
    ask.patch(f"{slices}/x", {"addressType": "IPv6"}, MERGE)


def changed_cluster_rules(ask):
    classes = "/apis/node.k8s.io/v1/runtimeclasses"
    ask.create(classes, {"metadata": {"name": "changed"}, "handler": "Bad_"})
    ask.create(classes, {"metadata": {"name": "changed"}, "handler": "h"})
    ask.patch(f"{classes}/changed", {"handler": "g"}, MERGE)
    ask.delete(f"{classes}/changed")
    drivers = f"{STORAGE}/csidrivers"
    ask.create(drivers, {"metadata": {"name": "changed"}, "spec": {}})
    ask.patch(f"{drivers}/changed", {"spec": {"attachRequired": False}}, MERGE)
    ask.delete(f"{drivers}/changed")
    nodes = "/api/v1/nodes"
    ask.create(nodes, {"metadata": {"name": "changed"}, "spec": {"providerID": "a"}})
    ask.patch(f"{nodes}/changed", {"spec": {"providerID": "b"}}, MERGE)
    ask.patch(f"{nodes}/changed", {"spec": {"providerID": None}}, MERGE)
    ask.delete(f"{nodes}/changed")
    csi_nodes = f"{STORAGE}/csinodes"
    ask.create(csi_nodes, {"metadata": {"name": "changed"}, "spec": {"drivers": DRIVERS}})
    ask.patch(f"{csi_nodes}/changed", {"status": {"storageHealth": []}}, MERGE)
    ask.delete(f"{csi_nodes}/changed")


def default_storage_classes(ask):
    """Which of several default classes is shown as the default, in a list and alone."""
    path = f"{STORAGE}/storageclasses"
    # The newest one is, and the first by name of one second: here the same one, whatever the time.
    for name, mark in (("b", "true"), ("a", "true"), ("c", "false")):
        meta = {"name": f"shown-{name}", "annotations": {DEFAULT: mark}}
        ask.create(path, {"metadata": meta, "provisioner": "p"})
    ask.get(path, accept=TABLE)
    ask.get(f"{path}/shown-a", accept=TABLE)
    for name in "abc":
        ask.delete(f"{path}/shown-{name}")


def owners(ask):
    path = f"{ask.core('configmaps')}?dryRun=All"
    for owner in ({}, {"apiVersion": "a/b/c"}, {"apiVersion": "/"}, {"apiVersion": "apps/"}):
        ask.create(path, {"metadata": {"name": "x", "ownerReferences": [owner]}})


def types_of_secrets(ask):
    path = ask.core("secrets")
    ask.create(path, {"metadata": {"name": "x"}})
    ask.patch(f"{path}/x", {"type": "example.com/other"}, MERGE)


def image_volumes(ask):
    ask.create(ask.core("pods"), pod("x", volumes=[{"name": "v", "image": {}}]))
    image = {"reference": "registry.example.com/data:1"}
    ask.create(ask.core("pods"), pod("y", volumes=[{"name": "v", "image": image}]))


def kept_statuses(ask):
    """What stays if somebody who does not know it writes the status."""
    claims = [{"name": "r", "resourceClaimName": "c"}]
    made = pod("x", resourceClaims=claims)
    ask.create(ask.core("pods"), made)
    path = ask.core("pods/x/status")
    status = {"observedGeneration": 1, "resourceClaimStatuses": claims}
    ask.patch(path, {"status": status}, MERGE)
    ask.put(path, {**made, "status": {"phase": "Pending"}})
    ask.patch(path, {"status": {"resourceClaimStatuses": None}}, MERGE)
    ask.patch(path, {"status": {"resourceClaimStatuses": []}}, MERGE)


def pod_addresses(ask):
    path = ask.core("pods")
    ask.create(path, pod("x"))
    for status in ({"podIPs": [{"ip": "10.0.0.1"}]}, {"podIP": "10.0.0.2"}):
        ask.patch(f"{path}/x/status", {"status": status}, MERGE)


ALL = (
    pod_level_resources,
    templates,
    dropped_fields,
    changed_rules,
    changed_cluster_rules,
    default_storage_classes,
    owners,
    types_of_secrets,
    image_volumes,
    kept_statuses,
    pod_addresses,
)
