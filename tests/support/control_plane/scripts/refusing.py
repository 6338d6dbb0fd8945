"""Scripts: objects that are refused, with every cause."""

import json

from tests.support.control_plane.comparison import MERGE
from tests.support.control_plane.scripts.objects import claim, config_map, deployment, pod, template


def _with(name="p", **container):
    return pod(name, containers=[{"name": "c", "image": "nginx", **container}])


def refused_metadata(ask):
    path = ask.core("configmaps")
    for meta in (
        {"name": "Upper"},
        {"name": "under_score"},
        {"name": "-dash"},
        {"name": "x" * 254},
        {"name": "a/b"},
        {"name": "x", "labels": {"": "a"}},
        {"name": "x", "labels": {"a b": "c"}},
        {"name": "x", "labels": {"a": "b c"}},
        {"name": "x", "labels": {"a": "x" * 64}},
        {"name": "x", "labels": {"Example.com/a": "b"}},
        {"name": "x", "annotations": {"a b": "c"}},
        {"name": "x", "annotations": {"UPPER": "c"}},
        {"name": "x", "annotations": {"a": "x" * (256 * 1024 + 1)}},
        {"name": "y", "finalizers": ["plain"]},
        {"name": "x", "finalizers": ["a b/c"]},
        {"name": "x", "ownerReferences": [{}]},
        {
            "name": "x",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "b"}],
        },
        {"name": "x", "ownerReferences": [_owner("a"), _owner("b")]},
        {"name": "x", "managedFields": [{"operation": "Odd"}]},
    ):
        ask.create(f"{path}?dryRun=All", {"metadata": meta})
    ask.create("/api/v1/namespaces", {"metadata": {"name": "a.b"}})
    ask.create(
        ask.core("services"), {"metadata": {"name": "1st"}, "spec": {"ports": [{"port": 1}]}}
    )
    ask.create(
        ask.core("services"), {"metadata": {"name": "x" * 64}, "spec": {"ports": [{"port": 1}]}}
    )
    roles = ask.group("rbac.authorization.k8s.io/v1", "roles")
    ask.create(roles, {"metadata": {"name": "a%b"}, "rules": []})
    made = ask.create(path, config_map("kept"))
    ask.patch(f"{path}/kept", {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}, MERGE)
    ask.patch(f"{path}/kept", {"metadata": {"generation": 5}}, MERGE)
    ask.put(f"{path}/kept", {**made, "metadata": {**made["metadata"], "namespace": "other"}})


def _owner(name):
    return {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}


def refused_pods(ask):
    path = ask.core("pods")
    for body in (
        {"metadata": {"name": "p"}},
        {"metadata": {"name": "p"}, "spec": {}},
        pod("p", containers=[]),
        pod("p", containers=[{}]),
        pod("p", containers=[{"name": "c"}]),
        _with(name="Upper"),
        _with(image=" nginx "),
        _with(image=""),
        _with(imagePullPolicy="Sometimes"),
        _with(terminationMessagePolicy="Odd"),
        pod("p", containers=[{"name": "c", "image": "a"}, {"name": "c", "image": "b"}]),
        pod("p", initContainers=[{"name": "c", "image": "a"}]),
        pod("p", initContainers=[{"name": "i", "image": "a", "restartPolicy": "Never"}]),
        _with(ports=[{}]),
        _with(ports=[{"containerPort": 70000}]),
        _with(ports=[{"containerPort": 80, "protocol": "HTTP"}]),
        _with(ports=[{"containerPort": 80, "name": "UPPER"}]),
        _with(ports=[{"containerPort": 80, "hostPort": 70000}]),
        _with(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]),
        _with(ports=[{"containerPort": 1, "hostPort": 1}, {"containerPort": 2, "hostPort": 1}]),
        _with(resources={"requests": {"cpu": "-1"}}),
        _with(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        _with(resources={"requests": {"bogus": "1"}}),
        _with(resources={"requests": {"example.com/gpu": "1"}}),
        _with(resources={"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "2"}}),
        _with(resources={"limits": {"example.com/gpu": "1500m"}}),
        _with(env=[{}]),
        _with(volumeMounts=[{"name": "none", "mountPath": "/a"}]),
        _with(volumeMounts=[{"name": "none"}]),
        _with(livenessProbe={}),
        _with(livenessProbe={"tcpSocket": {"port": 80}, "periodSeconds": -1}),
        pod("p", restartPolicy="Maybe"),
        pod("p", dnsPolicy="Odd"),
        pod("p", nodeName="Bad_Name"),
        pod("p", nodeSelector={"a b": "c"}),
        pod("p", nodeSelector={"a": "b c"}),
        pod("p", activeDeadlineSeconds=0),
        pod("p", terminationGracePeriodSeconds=-1),
        pod("p", hostname="Bad_Host"),
        pod("p", serviceAccountName="Bad_Name"),
        pod("p", schedulerName="Bad Name"),
        pod("p", priorityClassName="none"),
        pod("p", priority=5),
        pod("p", preemptionPolicy="Odd"),
        pod("p", volumes=[{}]),
        pod("p", volumes=[{"name": "a"}, {"name": "a"}]),
        pod("p", volumes=[{"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}}]),
        pod("p", volumes=[{"name": "a", "persistentVolumeClaim": {}}]),
        pod("p", volumes=[{"name": "a", "configMap": {}}]),
        pod("p", os={"name": "dos"}),
        pod("p", schedulingGates=[{"name": "a b"}]),
        pod("p", schedulingGates=[{"name": "a"}, {"name": "a"}]),
        pod("p", schedulingGates=[{"name": "a"}], nodeName="n"),
        pod("p", resourceClaims=[{"name": "a"}]),
        pod(
            "p",
            resourceClaims=[
                {"name": "a", "resourceClaimName": "b", "resourceClaimTemplateName": "c"}
            ],
        ),
    ):
        ask.create(f"{path}?dryRun=All", body)


def refused_workloads(ask):
    labels = {"app": "x"}
    basics = {"selector": {"matchLabels": labels}, "template": template(labels)}
    path = ask.apps("deployments")
    for spec in (
        {},
        {"selector": {"matchLabels": labels}},
        {"template": template(labels)},
        {**basics, "selector": {}},
        {**basics, "selector": {"matchLabels": {"app": "y"}}},
        {**basics, "template": template(labels, restartPolicy="Never")},
        {**basics, "template": template(labels, containers=[])},
        {**basics, "replicas": -1},
        {**basics, "minReadySeconds": -1},
        {**basics, "revisionHistoryLimit": -1},
        {**basics, "progressDeadlineSeconds": 1, "minReadySeconds": 5},
        {**basics, "strategy": {"type": "Odd"}},
        {**basics, "strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
        {**basics, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
        {**basics, "strategy": {"rollingUpdate": {"maxSurge": "x"}}},
        {**basics, "strategy": {"rollingUpdate": {"maxUnavailable": "200%"}}},
    ):
        ask.create(f"{path}?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})
    ask.create(path, deployment("kept"))
    ask.patch(f"{path}/kept", {"spec": {"selector": {"matchLabels": {"app": "other"}}}}, MERGE)
    ask.patch(f"{path}/kept", {"spec": {"template": {"metadata": {"labels": {"app": "z"}}}}}, MERGE)
    for resource in ("replicasets", "statefulsets"):
        ask.create(ask.apps(f"{resource}?dryRun=All"), {"metadata": {"name": "x"}, "spec": {}})
    for resource in ("replicasets", "daemonsets", "statefulsets"):
        odd = {**basics, "selector": {"matchLabels": {"app": "y"}}}
        ask.create(ask.apps(f"{resource}?dryRun=All"), {"metadata": {"name": "x"}, "spec": odd})
    ask.create(ask.apps("statefulsets"), {"metadata": {"name": "kept"}, "spec": basics})
    ask.patch(ask.apps("statefulsets/kept"), {"spec": {"serviceName": "other"}}, MERGE)
    ask.patch(ask.apps("statefulsets/kept"), {"spec": {"podManagementPolicy": "Parallel"}}, MERGE)
    jobs = ask.group("batch/v1", "jobs")
    once = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "a"}]}
    for spec in (
        {},
        {"template": {"spec": {"containers": once["containers"]}}},
        {"template": {"spec": once}, "parallelism": -1},
        {"template": {"spec": once}, "completions": -1},
        {"template": {"spec": once}, "backoffLimit": -1},
        {"template": {"spec": once}, "completionMode": "Odd"},
        {"template": {"spec": once}, "completionMode": "Indexed"},
        {"template": {"spec": once}, "activeDeadlineSeconds": -1},
        {"template": {"spec": once}, "ttlSecondsAfterFinished": -1},
    ):
        ask.create(f"{jobs}?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})
    ask.create(jobs, {"metadata": {"name": "kept"}, "spec": {"template": {"spec": once}}})
    ask.patch(f"{jobs}/kept", {"spec": {"completions": 5}}, MERGE)
    ask.patch(f"{jobs}/kept", {"spec": {"completionMode": "Indexed"}}, MERGE)


def refused_others(ask):
    claims = ask.core("persistentvolumeclaims")
    for body in (
        {"metadata": {"name": "x"}, "spec": {}},
        claim("x", accessModes=[]),
        claim("x", accessModes=["Odd"]),
        claim("x", resources={}),
        claim("x", resources={"requests": {"storage": "-1"}}),
        claim("x", storageClassName="Bad_Name"),
        claim("x", volumeMode="Odd"),
    ):
        ask.create(f"{claims}?dryRun=All", body)
    ask.create(claims, claim("kept"))
    ask.patch(f"{claims}/kept", {"spec": {"accessModes": ["ReadWriteMany"]}}, MERGE)
    ask.patch(f"{claims}/kept", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}, MERGE)
    ask.patch(f"{claims}/kept", {"spec": {"storageClassName": "x"}}, MERGE)
    volumes = "/api/v1/persistentvolumes"
    ask.create(volumes, {"metadata": {"name": "x"}, "spec": {}})
    host = {"hostPath": {"path": "/tmp"}}
    ask.create(volumes, {"metadata": {"name": "x"}, "spec": host})
    ask.create(
        volumes,
        {
            "metadata": {"name": "x"},
            "spec": {**host, "accessModes": ["Odd"], "capacity": {"storage": "1"}},
        },
    )
    services = ask.core("services")
    for spec in (
        {},
        {"type": "Odd", "ports": [{"port": 80}]},
        {"ports": [{"port": 0}]},
        {"ports": [{"port": 70000}]},
        {"ports": [{"port": 80}, {"port": 81}]},
        {"ports": [{"port": 80, "protocol": "HTTP"}]},
        {"ports": [{"port": 80}], "sessionAffinity": "Odd"},
        {"type": "ExternalName"},
    ):
        ask.create(f"{services}?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})
    budgets = ask.group("policy/v1", "poddisruptionbudgets")
    for spec in (
        {"minAvailable": 1, "maxUnavailable": 1},
        {"minAvailable": -1},
        {"minAvailable": "x"},
        {"maxUnavailable": "150%"},
        {"selector": {"matchLabels": {"a b": "c"}}},
        {"unhealthyPodEvictionPolicy": "Odd"},
    ):
        ask.create(f"{budgets}?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    for body in (
        {"metadata": {"name": "system-mine"}, "value": 1},
        {"metadata": {"name": "x"}, "value": 2_000_000_000},
        {"metadata": {"name": "x"}, "value": 1, "preemptionPolicy": "Odd"},
        {"metadata": {"name": "x"}, "value": 7},
    ):
        ask.create(classes, body)
    ask.patch(f"{classes}/x", {"value": 5}, MERGE)
    ask.patch(f"{classes}/x", {"preemptionPolicy": "Never"}, MERGE)
    ask.patch(f"{classes}/x", {"globalDefault": True}, MERGE)
    second = {"metadata": {"name": "second"}, "value": 1, "globalDefault": True}
    _until_refused(ask, f"{classes}?dryRun=All", second)
    ask.create(classes, second)
    ask.delete(f"{classes}/x")
    ask.delete(f"{classes}/system-node-critical")
    storage = "/apis/storage.k8s.io/v1/storageclasses"
    for body in (
        {"metadata": {"name": "x"}},
        {"metadata": {"name": "x"}, "provisioner": "p", "reclaimPolicy": "Odd"},
        {"metadata": {"name": "x"}, "provisioner": "p", "volumeBindingMode": "Odd"},
        {"metadata": {"name": "x"}, "provisioner": "p"},
    ):
        ask.create(storage, body)
    ask.patch(f"{storage}/x", {"provisioner": "q"}, MERGE)
    ask.patch(f"{storage}/x", {"parameters": {"a": "b"}}, MERGE)
    ask.delete(f"{storage}/x")


def _until_refused(ask, path, body):
    """What refuses it learns of the first default class a moment after everybody else."""
    for _ in range(1000):
        if ask.side.request("POST", path, json.dumps(body).encode())[0] == 403:
            return


def refused_nodes(ask):
    path = "/api/v1/nodes"
    for spec in (
        {"taints": [{"key": "a"}]},
        {"taints": [{"key": "a", "effect": "Odd"}]},
        {"taints": [{"key": "a b", "effect": "NoSchedule"}]},
        {"taints": [{"effect": "NoSchedule"}]},
        {"taints": [{"key": "a", "value": "b c", "effect": "NoSchedule"}]},
        {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]},
    ):
        ask.create(f"{path}?dryRun=All", {"metadata": {"name": "refused"}, "spec": spec})
    ask.create(path, {"metadata": {"name": "Bad_Name"}})
    ask.create(path, {"metadata": {"name": "kept"}, "spec": {"providerID": "a"}})
    ask.patch(f"{path}/kept", {"spec": {"providerID": "b"}}, MERGE)
    ask.patch(f"{path}/kept/status", {"status": {"capacity": {"cpu": "4", "bogus": "1"}}}, MERGE)
    ask.get(f"{path}/kept")
    ask.delete(f"{path}/kept")


def refused_pod_updates(ask):
    path = ask.core("pods")
    toleration = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    gates = [{"name": "a"}, {"name": "b"}]
    ask.create(path, pod("p", tolerations=[toleration], activeDeadlineSeconds=50))
    ask.create(path, pod("gated", schedulingGates=gates, nodeSelector={"a": "b"}))
    for change in (
        {"containers": [{"name": "c", "image": "other"}]},
        {"containers": [{"name": "d", "image": "other"}]},
        {"containers": [{"name": "c", "image": "other", "command": ["x"]}]},
        {"restartPolicy": "Never"},
        {"nodeName": "n1"},
        {"schedulerName": "other"},
        {"priority": 5},
        {"tolerations": []},
        {"tolerations": [toleration, {"key": "b", "operator": "Exists"}]},
        {"tolerations": [{**toleration, "tolerationSeconds": 50}]},
        {"activeDeadlineSeconds": 20},
        {"activeDeadlineSeconds": 80},
        {"activeDeadlineSeconds": None},
        {"terminationGracePeriodSeconds": 1},
        {"schedulingGates": [{"name": "new"}]},
        {"nodeSelector": {"x": "y"}},
    ):
        ask.patch(f"{path}/p", {"spec": change}, MERGE)
    for change in (
        {"nodeSelector": {"a": "b", "c": "d"}},
        {"nodeSelector": {"a": "x"}},
        {"nodeSelector": {}},
        {"schedulingGates": [{"name": "b"}]},
        {"schedulingGates": [{"name": "b"}, {"name": "c"}]},
        {"schedulingGates": []},
        {"nodeSelector": {"a": "b", "c": "d", "e": "f"}},
    ):
        ask.patch(f"{path}/gated", {"spec": change}, MERGE)


ALL = (
    refused_metadata,
    refused_pods,
    refused_workloads,
    refused_others,
    refused_nodes,
    refused_pod_updates,
)
