"""Scripts: create, update, patches of all types, deletion, dry run, subresources."""

from tests.support.control_plane.comparison import JSON_PATCH, MERGE, STRATEGIC
from tests.support.control_plane.scripts.objects import config_map, deployment, pod


def creating(ask):
    path = ask.core("configmaps")
    ask.create(path, config_map("a"))
    ask.create(path, config_map("a"))
    ask.create(path, {"metadata": {"generateName": "made-"}})
    ask.create(path, {"metadata": {}})
    ask.create(path, config_map("b", namespace="other"))
    ask.create(path, config_map("b", resourceVersion="5"))
    ask.create(path, config_map("b", uid="x", generation=7, creationTimestamp=None))
    ask.create(path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}})
    ask.create(path, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}})
    ask.create(path, {"kind": "ConfigMap", "metadata": {"name": "x"}})
    ask.create("/api/v1/namespaces/nowhere/configmaps", config_map("a"))
    ask.create(f"{path}?dryRun=All", config_map("dry"))
    ask.get(f"{path}/dry")
    ask.create(f"{path}?dryRun=Some", config_map("dry"))
    ask.create(f"{path}?fieldManager=me", config_map("owned"))
    ask.create(f"{path}?fieldManager={'x' * 129}", config_map("owned"))
    ask.create(f"{path}?fieldValidation=Strict", {**config_map("s"), "odd": 1, "data": {"a": "b"}})
    ask.create(f"{path}?fieldValidation=Warn", {**config_map("w"), "odd": 1})
    ask.create(f"{path}?fieldValidation=Ignore", {**config_map("i"), "odd": 1})
    ask.create(f"{path}?fieldValidation=Odd", config_map("o"))
    ask.create("/api/v1/nodes", {"metadata": {"name": "made", "namespace": "x"}})
    ask.delete("/api/v1/nodes/made")


def bodies(ask):
    path = ask.core("configmaps")
    ask("POST", path, b"")
    ask("POST", path, b"{")
    ask("POST", path, b"[]")
    ask("POST", path, b'"text"')
    ask("POST", path, b"null")
    ask("POST", path, b"{}")
    ask("POST", path, b'{"metadata": {"name": 5}}')
    ask("POST", path, b'{"metadata": {"name": "x"}, "data": []}')
    ask("POST", path, b'{"metadata": {"name": "x"}, "data": {"a": 1}}')
    ask("POST", path, b'{"metadata": {"name": "x", "labels": {"a": 1}}}')
    ask("POST", path, b"metadata: {name: yaml}\ndata: {a: b}", "application/yaml")
    ask("POST", path, b"{}", "text/plain")
    ask("POST", path, b'{"metadata": {"name": "untyped"}}', None)
    pods = ask.core("pods")
    ask("POST", pods, b'{"metadata": {"name": "x"}, "spec": {"containers": {}}}')
    ask("POST", pods, b'{"metadata": {"name": "x"}, "spec": {"containers": [{"name": 1}]}}')
    ask("POST", pods, b'{"metadata": {"name": "x"}, "spec": {"priority": "high"}}')
    ask("POST", pods, b'{"metadata": {"name": "x"}, "spec": {"hostNetwork": "yes"}}')
    requests = b'{"metadata": {"name": "x"}, "spec": {"containers": [{"resources": %s}]}}'
    ask("POST", pods, requests % b'{"requests": {"cpu": "much"}}')
    ask("POST", pods, requests % b'{"requests": {"cpu": true}}')
    ask("POST", ask.apps("deployments"), b'{"spec": {"replicas": "two"}}')
    ask("POST", ask.apps("deployments"), b'{"spec": {"replicas": 2.5}}')
    ask("POST", ask.core("secrets"), b'{"metadata": {"name": "x"}, "data": {"a": "?"}}')
    ask("POST", ask.core("events"), b'{"metadata": {"name": "x"}, "firstTimestamp": "now"}')


def updating(ask):
    path = ask.core("configmaps")
    made = ask.create(path, config_map("a"))
    ask.put(f"{path}/a", {**made, "data": {"a": "2"}})
    ask.put(f"{path}/a", {**made, "data": {"a": "3"}})
    ask.put(f"{path}/a", config_map("a", {"a": "4"}))
    ask.put(f"{path}/a", config_map("b"))
    ask.put(f"{path}/none", config_map("none"))
    ask.put(f"{path}/a", config_map("a", uid="other"))
    ask.put(f"{path}/a", config_map("a", resourceVersion="abc"))
    ask.put(f"{path}/a?dryRun=All", config_map("a", {"dry": "1"}))
    ask.get(f"{path}/a")
    ask.put(f"{path}/a", {"metadata": {"labels": {"x": "y"}}})
    leases = ask.group("coordination.k8s.io/v1", "leases")
    ask.put(f"{leases}/new", {"metadata": {"name": "new"}, "spec": {"holderIdentity": "me"}})
    frozen = ask.create(path, {**config_map("frozen"), "immutable": True})
    ask.put(f"{path}/frozen", {**frozen, "data": {"a": "2"}})
    ask.put(f"{path}/frozen", {**frozen, "immutable": False})


def merge_patches(ask):
    path = ask.core("configmaps")
    ask.create(path, config_map("a", labels={"x": "1"}))
    ask.patch(f"{path}/a", {"data": {"b": "2", "a": None}}, MERGE)
    ask.patch(f"{path}/a", {"metadata": {"labels": {"x": None}}}, MERGE)
    ask.patch(f"{path}/a", {}, MERGE)
    ask.patch(f"{path}/a", {"data": 5}, MERGE)
    ask.patch(f"{path}/a", {"metadata": {"name": "b"}}, MERGE)
    ask.patch(f"{path}/a", {"metadata": {"resourceVersion": "1"}}, MERGE)
    ask.patch(f"{path}/a", {"odd": 1}, MERGE)
    ask("PATCH", f"{path}/a", b"{", MERGE)
    ask("PATCH", f"{path}/a", b"[]", MERGE)
    ask("PATCH", f"{path}/a", b"{}", "application/json")
    ask("PATCH", f"{path}/a", b"{}", None)
    ask.patch(f"{path}/none", {}, MERGE)
    ask.patch(f"{path}/a?force=true", {}, MERGE)
    ask.patch(f"{path}/a?dryRun=All", {"data": {"dry": "1"}}, MERGE)
    ask.patch(f"{path}/a?fieldManager=me", {"data": {"mine": "1"}}, MERGE)
    ask.get(f"{path}/a")


def json_patches(ask):
    path = ask.core("configmaps")
    ask.create(path, config_map("a", {"a": "1", "b": "2"}))
    for operations in (
        [{"op": "add", "path": "/data/c", "value": "3"}],
        [{"op": "replace", "path": "/data/a", "value": "9"}],
        [{"op": "remove", "path": "/data/b"}],
        [{"op": "move", "from": "/data/c", "path": "/data/d"}],
        [{"op": "copy", "from": "/data/d", "path": "/data/e"}],
        [{"op": "test", "path": "/data/a", "value": "9"}],
        [{"op": "test", "path": "/data/a", "value": "8"}],
        [{"op": "remove", "path": "/data/none"}],
        [{"op": "replace", "path": "/data/none", "value": "1"}],
        [{"op": "add", "path": "/nothing/here", "value": "1"}],
        [{"op": "add", "path": "data", "value": "1"}],
        [{"op": "jump", "path": "/data/a"}],
        [{"op": "add", "path": "/data/x"}],
        [{"path": "/data/x"}],
        [{"op": "add"}],
        [],
        {},
        "text",
        [{"op": "add", "path": "/metadata/labels", "value": {"a~1b/c": "1"}}],
        [{"op": "add", "path": "/metadata/labels", "value": {"a": "1"}}],
        [{"op": "replace", "path": "", "value": 5}],
    ):
        ask.patch(f"{path}/a", operations, JSON_PATCH)


def strategic_patches(ask):
    path = ask.apps("deployments")
    ask.create(path, deployment("web"))
    containers = "spec.template.spec.containers"
    for patch in (
        {"spec": {"replicas": 3}},
        _at(containers, [{"name": "d", "image": "redis"}]),
        _at(containers, [{"name": "c", "env": [{"name": "A", "value": "1"}]}]),
        _at(containers, [{"name": "c", "env": [{"name": "B", "value": "2"}]}]),
        _at(containers, [{"name": "d", "$patch": "delete"}]),
        _at(containers, [{"image": "nameless"}]),
        _at(containers, [{"name": "c", "ports": [{"containerPort": 80}]}]),
        _at(containers, [{"name": "c", "ports": [{"containerPort": 80, "name": "http"}]}]),
        _at("spec.template.spec", {"$setElementOrder/containers": [{"name": "c"}]}),
        _at("spec.template.spec.tolerations", [{"key": "a", "operator": "Exists"}]),
        _at("spec.template.spec.tolerations", [{"key": "b", "operator": "Exists"}]),
        _at("metadata.finalizers", ["example.com/one"]),
        _at("metadata.finalizers", ["example.com/two"]),
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/one"]}},
        {"metadata": {"finalizers": None}},
        {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        {"spec": {"strategy": {"$patch": "replace", "type": "RollingUpdate"}}},
        {"spec": {"template": {"$patch": "odd"}}},
        {"spec": {"replicas": None}},
        {"odd": 1},
    ):
        ask.patch(f"{path}/web", patch, STRATEGIC)
    ask("PATCH", f"{path}/web", b"[]", STRATEGIC)
    ask("PATCH", f"{path}/web", b"{", STRATEGIC)


def _at(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def deleting(ask):
    path = ask.core("configmaps")
    for name in ("a", "b", "c", "d", "held"):
        finalizers = {"finalizers": ["example.com/hold"]} if name == "held" else {}
        ask.create(path, config_map(name, labels={"all": "yes"}, **finalizers))
    ask.delete(f"{path}/a?dryRun=All")
    ask.delete(f"{path}/a")
    ask.delete(f"{path}/a")
    ask.delete(f"{path}/b", {"preconditions": {"uid": "wrong"}})
    ask.delete(f"{path}/b", {"preconditions": {"resourceVersion": "1"}})
    ask.delete(f"{path}/b", {"propagationPolicy": "Odd"})
    ask.delete(f"{path}/b", {"orphanDependents": True, "propagationPolicy": "Orphan"})
    ask.delete(f"{path}/b", {"gracePeriodSeconds": 5})
    ask.delete(f"{path}/held")
    ask.delete(f"{path}/held")
    ask.patch(f"{path}/held", {"metadata": {"finalizers": ["example.com/x"]}}, MERGE)
    ask.patch(f"{path}/held", {"metadata": {"finalizers": None}}, MERGE)
    ask.get(f"{path}/held")
    ask.delete(f"{path}?labelSelector=all%3Dyes")
    ask.get(path)
    pods = ask.core("pods")
    ask.create(pods, pod("waiting"))
    ask.create(pods, pod("placed", nodeName="n1"))
    ask.create(pods, pod("kept", nodeName="n1"))
    ask.delete(f"{pods}/waiting")
    ask.delete(f"{pods}/placed", {"gracePeriodSeconds": 7})
    ask.delete(f"{pods}/placed", {"gracePeriodSeconds": 3})
    ask.delete(f"{pods}/placed", {"gracePeriodSeconds": 0})
    ask.delete(f"{pods}/kept", {"gracePeriodSeconds": -1})
    ask.delete(f"{pods}/kept?gracePeriodSeconds=0")
    ask("DELETE", f"{path}/d", b"{")
    ask("DELETE", f"{path}/d", b'{"gracePeriodSeconds": "x"}')
    ask.delete("/api/v1/namespaces/default")
    ask.delete("/api/v1/namespaces/kube-system")


def statuses(ask):
    path = ask.core("pods")
    made = ask.create(path, {**pod("p"), "status": {"phase": "Running"}})
    ask.patch(f"{path}/p", {"status": {"phase": "Running"}}, MERGE)
    ask.patch(f"{path}/p/status", {"status": {"phase": "Running", "podIP": "10.0.0.1"}}, MERGE)
    condition = {"type": "Ready", "status": "True"}
    ask.patch(f"{path}/p/status", {"status": {"conditions": [condition]}}, STRATEGIC)
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    ask.patch(f"{path}/p/status", {"status": {"conditions": [condition]}}, STRATEGIC)
    ask.patch(f"{path}/p/status", {"spec": {"nodeName": "x"}}, MERGE)
    ask.patch(f"{path}/p/status", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    ask.patch(f"{path}/p/status", {"status": {"nominatedNodeName": "n1"}}, STRATEGIC)
    ask.get(f"{path}/p/status")
    ask.put(f"{path}/p/status", made)
    ask.put(f"{path}/none/status", pod("none"))
    deployments = ask.apps("deployments")
    ask.create(deployments, deployment("web"))
    ask.patch(f"{deployments}/web/status", {"status": {"replicas": 2}}, MERGE)
    ask.delete(f"{path}/p/status")


def scales(ask):
    path = ask.apps("deployments")
    ask.create(path, deployment("web"))
    scale = ask.get(f"{path}/web/scale")
    ask.put(f"{path}/web/scale", {**scale, "spec": {"replicas": 4}})
    ask.put(f"{path}/web/scale", {**scale, "spec": {"replicas": 5}})
    ask.patch(f"{path}/web/scale", {"spec": {"replicas": 6}}, MERGE)
    ask.patch(f"{path}/web/scale", {"spec": {"replicas": -6}}, MERGE)
    ask.patch(f"{path}/web/scale?fieldManager=scaler", {"spec": {"replicas": 7}}, MERGE)
    ask.get(f"{path}/web")
    ask.get(f"{path}/none/scale")
    ask.get(ask.apps("daemonsets/none/scale"))


def bindings(ask):
    path = ask.core("pods")
    for name in ("a", "b", "c"):
        ask.create(path, pod(name))
    ask.create(path, pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    target = {"target": {"kind": "Node", "name": "n1"}}
    ask.create(f"{path}/a/binding", {"metadata": {"name": "a"}, **target})
    ask.get(f"{path}/a")
    ask.create(f"{path}/a/binding", {"metadata": {"name": "a"}, **target})
    ask.create(f"{path}/none/binding", {"metadata": {"name": "none"}, **target})
    ask.create(f"{path}/gated/binding", {"metadata": {"name": "gated"}, **target})
    ask.create(f"{path}/b/binding", {"metadata": {"name": "b"}})
    ask.create(
        f"{path}/b/binding", {"metadata": {"name": "b"}, "target": {"kind": "Pod", "name": "x"}}
    )
    ask.create(f"{path}/b/binding", {"metadata": {"name": "other"}, **target})
    ask.create(f"{path}/b/binding", {"metadata": {"name": "b", "uid": "wrong"}, **target})
    ask.create(f"{path}/b/binding?dryRun=All", {"metadata": {"name": "b"}, **target})
    annotated = {"name": "c", "annotations": {"a": "b"}, "labels": {"l": "m"}}
    ask.create(ask.core("bindings"), {"metadata": annotated, **target})
    ask.get(f"{path}/c")
    ask.get(f"{path}/b")
    ask.get(f"{path}/a/binding")


def evictions(ask):
    path = ask.core("pods")
    for name in ("a", "b", "c"):
        ask.create(
            path, {**pod(name, nodeName="n1"), "metadata": {"name": name, "labels": {"app": "x"}}}
        )
        ask.patch(f"{path}/{name}/status", {"status": {"phase": "Running"}}, MERGE)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
    ask.create(f"{path}/a/eviction?dryRun=All", body)
    ask.create(f"{path}/a/eviction", body)
    ask.get(f"{path}/a")
    ask.create(f"{path}/none/eviction", {**body, "metadata": {"name": "none"}})
    budgets = ask.group("policy/v1", "poddisruptionbudgets")
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    ask.create(budgets, {"metadata": {"name": "budget"}, "spec": spec})
    ask.create(f"{path}/b/eviction", {**body, "metadata": {"name": "b"}})
    status = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1}
    status |= {"desiredHealthy": 1, "expectedPods": 2}
    ask.patch(f"{budgets}/budget/status", {"status": status}, MERGE)
    ask.create(f"{path}/b/eviction", {**body, "metadata": {"name": "b"}})
    ask.create(f"{path}/b/eviction", {**body, "metadata": {"name": "other"}})
    ask.patch(f"{budgets}/budget/status", {"status": {"disruptionsAllowed": 1}}, MERGE)
    ask.create(f"{path}/b/eviction", {**body, "metadata": {"name": "b"}})
    ask.get(f"{budgets}/budget")


ALL = (
    creating,
    bodies,
    updating,
    merge_patches,
    json_patches,
    strategic_patches,
    deleting,
    statuses,
    scales,
    bindings,
    evictions,
)
