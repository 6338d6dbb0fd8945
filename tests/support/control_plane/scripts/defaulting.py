"""Scripts: what the server fills in."""

from tests.support.control_plane.scripts.objects import claim, deployment, pod, template


def _container(name, **more):
    return {"name": name, "image": "nginx", **more}


def default_pods(ask):
    path = ask.core("pods")
    ask.create(path, pod("plain"))
    probe = {"httpGet": {"port": 80}}
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}}
    full = _container(
        "c",
        image="nginx:latest",
        ports=[{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}],
        env=[
            {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "y"}}},
        ],
        livenessProbe=probe,
        readinessProbe={"tcpSocket": {"port": 80}},
        startupProbe={"grpc": {"port": 90}},
        lifecycle={"preStop": {"httpGet": {"port": "http"}}},
        resources=resources,
        securityContext={"privileged": False, "capabilities": {"add": ["NET_ADMIN"]}},
    )
    ask.create(
        path, pod("full", containers=[full], initContainers=[_container("i", image="a@sha256:1")])
    )
    volumes = [
        {"name": "empty"},
        {"name": "map", "configMap": {"name": "x"}},
        {"name": "secret", "secret": {"secretName": "x"}},
        {"name": "host", "hostPath": {"path": "/tmp"}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "x"}},
        {
            "name": "down",
            "downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]},
        },
        {
            "name": "projected",
            "projected": {
                "sources": [{"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "x"}}]
            },
        },
        {"name": "ephemeral", "ephemeral": {"volumeClaimTemplate": {"spec": claim("")["spec"]}}},
        {"name": "image", "image": {"reference": "nginx"}},
    ]
    ask.create(path, pod("volumes", volumes=volumes, serviceAccountName="robot"))
    ask.create(
        path,
        pod(
            "host",
            hostNetwork=True,
            containers=[_container("c", ports=[{"containerPort": 80}])],
            serviceAccountName="robot",
            terminationGracePeriodSeconds=5,
        ),
    )
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    ask.create(
        path,
        pod(
            "placed",
            topologySpreadConstraints=[{**spread, "labelSelector": {}}],
            affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
            tolerations=[{"key": "a", "operator": "Exists"}, {"key": "b", "value": "c"}],
            priorityClassName="system-cluster-critical",
        ),
    )
    ask.create(
        path,
        pod(
            "guaranteed",
            containers=[_container("c", resources={"limits": {"cpu": "1", "memory": "1Gi"}})],
        ),
    )
    ask.create(
        path,
        pod(
            "extended", containers=[_container("c", resources={"limits": {"example.com/gpu": "1"}})]
        ),
    )
    ask.create(path, pod("sidecar", initContainers=[_container("s", restartPolicy="Always")]))
    ask.create(
        path, pod("gated", schedulingGates=[{"name": "example.com/g"}], overhead={"cpu": "1"})
    )
    ask.create(
        path,
        pod(
            "fractions",
            containers=[_container("c", resources={"requests": {"cpu": "0.1", "memory": "1500M"}})],
        ),
    )
    ask.create(path, pod("podlevel", resources={"limits": {"cpu": "2"}}))
    ask.create(path, {**pod("generated"), "metadata": {"generateName": "gen-"}})


def default_workloads(ask):
    labels = {"app": "x"}
    basics = {"selector": {"matchLabels": labels}, "template": template(labels)}
    meta = {"metadata": {"name": "x"}}
    ask.create(ask.apps("deployments"), {**meta, "spec": basics})
    ask.create(ask.apps("deployments"), deployment("recreate", strategy={"type": "Recreate"}))
    ask.create(ask.apps("replicasets"), {**meta, "spec": basics})
    ask.create(ask.apps("daemonsets"), {**meta, "spec": basics})
    sets = {**basics, "serviceName": "x", "volumeClaimTemplates": [claim("data")]}
    ask.create(ask.apps("statefulsets"), {**meta, "spec": sets})
    ask.create(
        ask.apps("statefulsets"),
        {"metadata": {"name": "y"}, "spec": {**basics, "updateStrategy": {"type": "OnDelete"}}},
    )
    once = {"template": {"spec": {"restartPolicy": "Never", "containers": [_container("c")]}}}
    jobs = ask.group("batch/v1", "jobs")
    ask.create(jobs, {**meta, "spec": once})
    ask.create(
        jobs,
        {
            "metadata": {"name": "indexed"},
            "spec": {**once, "completions": 3, "completionMode": "Indexed"},
        },
    )
    ask.create(jobs, {"metadata": {"name": "parallel"}, "spec": {**once, "parallelism": 3}})
    cron = {"schedule": "* * * * *", "jobTemplate": {"spec": once}}
    ask.create(ask.group("batch/v1", "cronjobs"), {**meta, "spec": cron})
    ask.create(ask.core("replicationcontrollers"), {**meta, "spec": {"template": template(labels)}})


def default_others(ask):
    meta = {"metadata": {"name": "x"}}
    ask.create(ask.core("persistentvolumeclaims"), claim("x"))
    ask.create(
        ask.core("persistentvolumeclaims"),
        claim("classed", storageClassName="", volumeMode="Block"),
    )
    volume = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    volume["hostPath"] = {"path": "/tmp/x"}
    ask.create("/api/v1/persistentvolumes", {**meta, "spec": volume})
    ask.delete("/api/v1/persistentvolumes/x")
    services = ask.core("services")
    port = {"port": 80}
    ask.create(services, {**meta, "spec": {"ports": [port]}})
    ask.create(services, {"metadata": {"name": "none"}, "spec": {"clusterIP": "None"}})
    ask.create(
        services, {"metadata": {"name": "nodes"}, "spec": {"type": "NodePort", "ports": [port]}}
    )
    ask.create(
        services, {"metadata": {"name": "lb"}, "spec": {"type": "LoadBalancer", "ports": [port]}}
    )
    external = {"type": "ExternalName", "externalName": "example.com"}
    ask.create(services, {"metadata": {"name": "ext"}, "spec": external})
    ask.create(ask.core("secrets"), {**meta, "stringData": {"a": "b"}})
    ask.create(ask.core("serviceaccounts"), meta)
    ask.create(
        ask.core("endpoints"),
        {**meta, "subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [port]}]},
    )
    ask.create(
        ask.core("limitranges"),
        {**meta, "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}},
    )
    ask.create(ask.core("resourcequotas"), {**meta, "spec": {"hard": {"services": "100"}}})


def default_records(ask):
    """Events, leases, roles, claims of devices and other small kinds."""
    meta = {"metadata": {"name": "x"}}
    budget = {"maxUnavailable": "50%", "selector": {}}
    ask.create(ask.group("policy/v1", "poddisruptionbudgets"), {**meta, "spec": budget})
    event = {"involvedObject": {"kind": "Pod", "name": "p", "namespace": ask.namespace}}
    event |= {"reason": "Because", "message": "of this", "type": "Normal"}
    ask.create(ask.core("events"), {**meta, **event})
    newer = {"regarding": event["involvedObject"], "reason": "Because", "type": "Normal"}
    newer |= {"action": "Act", "reportingController": "me", "reportingInstance": "me-1"}
    newer |= {"eventTime": "2026-01-01T00:00:00.000000Z", "note": "said"}
    ask.create(ask.group("events.k8s.io/v1", "events"), {"metadata": {"name": "y"}, **newer})
    ask.get(ask.core("events/y"))
    ask.get(ask.group("events.k8s.io/v1", "events/x"))
    lease = {"holderIdentity": "me", "leaseDurationSeconds": 15}
    ask.create(ask.group("coordination.k8s.io/v1", "leases"), {**meta, "spec": lease})
    role = {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
    ask.create(ask.group("rbac.authorization.k8s.io/v1", "roles"), {**meta, **role})
    binding = {
        "roleRef": {"kind": "Role", "name": "x"},
        "subjects": [{"kind": "User", "name": "u"}],
    }
    ask.create(ask.group("rbac.authorization.k8s.io/v1", "rolebindings"), {**meta, **binding})
    claim_spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
    ask.create(ask.group("resource.k8s.io/v1", "resourceclaims"), {**meta, "spec": claim_spec})
    ask.create(
        ask.group("resource.k8s.io/v1", "resourceclaimtemplates"),
        {**meta, "spec": {"spec": claim_spec}},
    )
    policy = {"podSelector": {}}
    ask.create(ask.group("networking.k8s.io/v1", "networkpolicies"), {**meta, "spec": policy})


def default_cluster_objects(ask):
    name = {"metadata": {"name": "compared"}}
    for path, body in (
        ("/api/v1/namespaces", name),
        ("/api/v1/nodes", {**name, "status": {"capacity": {"cpu": "4", "pods": "110"}}}),
        ("/apis/storage.k8s.io/v1/storageclasses", {**name, "provisioner": "example.com/p"}),
        ("/apis/storage.k8s.io/v1/csidrivers", {**name, "spec": {}}),
        (
            "/apis/storage.k8s.io/v1/csinodes",
            {**name, "spec": {"drivers": [{"name": "d", "nodeID": "n"}]}},
        ),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", {**name, "value": 10}),
        ("/apis/resource.k8s.io/v1/deviceclasses", {**name, "spec": {}}),
        (
            "/apis/networking.k8s.io/v1/ingressclasses",
            {**name, "spec": {"controller": "example.com/c"}},
        ),
        ("/apis/node.k8s.io/v1/runtimeclasses", {**name, "handler": "runc"}),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", {**name, "rules": []}),
    ):
        ask.create(path, body)
        ask.get(f"{path}/compared")
        ask.delete(f"{path}/compared")


ALL = (default_pods, default_workloads, default_others, default_records, default_cluster_objects)
