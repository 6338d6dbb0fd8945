"""Scripts: server-side apply, who owns which field, conflicts."""

from tests.support.control_plane.comparison import APPLY, MERGE
from tests.support.control_plane.scripts.objects import deployment


def _map(name="a", data=None, **meta):
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **meta}}
    return found if data is None else {**found, "data": data}


def applied_maps(ask):
    path = ask.core("configmaps/a")
    ask.apply(path, _map(data={"a": "1"}), "one")
    ask.apply(path, _map(data={"a": "1"}), "one")
    ask.apply(path, _map(data={"a": "2"}), "two")
    ask.apply(path, _map(data={"a": "2"}), "two", force=True)
    ask.apply(path, _map(data={"b": "1"}), "one")
    ask.apply(path, _map(data={"b": "1", "a": "3"}, labels={"x": "y"}), "one")
    ask.apply(path, _map(), "two")
    ask.patch(f"{path}?fieldManager=three", {"data": {"b": "9", "c": "1"}}, MERGE)
    ask.apply(path, _map(data={"b": "1"}), "one")
    ask.apply(path, _map(data={"b": "1"}), "one", force=True)
    ask.apply(path, _map(), "one")
    ask.get(path)


def apply_requests(ask):
    path = ask.core("configmaps/a")
    ask("PATCH", path, _map(data={}), APPLY)
    ask.apply(path, {}, "one")
    ask.apply(path, {"apiVersion": "v1", "kind": "ConfigMap"}, "one")
    ask.apply(path, {"kind": "ConfigMap", "metadata": {"name": "a"}}, "one")
    ask.apply(path, {"apiVersion": "v1", "metadata": {"name": "a"}}, "one")
    ask.apply(path, {**_map(), "kind": "Secret"}, "one")
    ask.apply(path, {**_map(), "apiVersion": "v2"}, "one")
    ask.apply(path, _map("b"), "one")
    ask.apply(path, _map(managedFields=[]), "one")
    ask.apply(path, _map(managedFields=[{"manager": "x"}]), "one")
    ask.apply(path, _map(uid="x"), "one")
    ask.apply(path, _map(resourceVersion="5"), "one")
    ask.apply(path, _map(namespace="other"), "one")
    ask.apply(path, {**_map(), "odd": 1}, "one")
    ask("PATCH", f"{path}?fieldManager=one", b"text", APPLY)
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}"
    ask("PATCH", f"{path}?fieldManager=one", text, APPLY)
    ask("PATCH", f"{path}?fieldManager=one&dryRun=All", text.replace(b"1'", b"2'"), APPLY)
    ask("PATCH", f"{path}?fieldManager=one&fieldValidation=Strict", text + b"\nodd: 1", APPLY)
    ask.get(path)


def applied_deployments(ask):
    path = ask.apps("deployments/web")
    ask.apply(path, deployment("web"), "one")
    ask.apply(path, deployment("web", 3), "two")
    ask.patch(f"{path}/scale?fieldManager=scaler", {"spec": {"replicas": 5}}, MERGE)
    ask.apply(path, deployment("web"), "one")
    without = deployment("web")
    del without["spec"]["replicas"]
    ask.apply(path, without, "one")
    more = deployment("web")
    del more["spec"]["replicas"]
    container = {"name": "c", "image": "nginx:2", "ports": [{"containerPort": 80}]}
    container["env"] = [{"name": "A", "value": "1"}]
    more["spec"]["template"]["spec"]["containers"] = [container, {"name": "d", "image": "redis"}]
    ask.apply(path, more, "one")
    other = deployment("web")
    del other["spec"]["replicas"]
    other["spec"]["template"]["spec"]["containers"] = [{"name": "c", "image": "nginx:3"}]
    ask.apply(path, other, "two")
    ask.apply(path, other, "two", force=True)
    ask.apply(path, other, "one")
    ask.patch(f"{path}/status?fieldManager=controller", {"status": {"replicas": 1}}, MERGE)
    ask.get(path)


def applied_pods(ask):
    """Lists that are maps by several keys, sets and atomic lists."""
    path = ask.core("pods/p")
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    spec = {
        "containers": [{"name": "c", "image": "nginx:1", "ports": ports}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "nodeSelector": {"disk": "ssd"},
    }
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    body["metadata"]["finalizers"] = ["example.com/hold"]
    ask.apply(path, body, "one")
    image = [{"name": "c", "image": "nginx:2"}]
    ask.apply(path, {**body, "metadata": {"name": "p"}, "spec": {"containers": image}}, "two")
    both = {"name": "p", "finalizers": ["example.com/hold", "example.com/more"]}
    ask.apply(path, {**body, "metadata": both, "spec": {}}, "three")
    ask.apply(path, {**body, "metadata": {"name": "p"}}, "one")
    condition = {"type": "Odd", "status": "True"}
    status = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    status["status"] = {"conditions": [condition]}
    ask.apply(f"{path}/status", status, "kubelet")
    ask.get(path)
    ask.patch(path, {"metadata": {"finalizers": None}}, MERGE)
    ask.delete(path)


ALL = (applied_maps, apply_requests, applied_deployments, applied_pods)
