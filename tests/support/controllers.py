"""A cluster without scheduler, server or real time, for tests of controllers and kubelets."""

from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.all_controllers import all_controllers
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Runner
from podium.apiserver.deletion import DeleteOptions
from podium.apiserver.kubelet import PodAgent
from podium.apiserver.kubelet_nodes import NodeAgent
from podium.apiserver.restoring import restore
from podium.apiserver.subresources import bind
from podium.clock import FakeClock
from podium.release import LATEST


class World:
    """Objects go in, time passes, objects come out; ``settle`` lets everything react."""

    def __init__(self, *, kubelets=True, release=LATEST, restored=None, features=frozenset()):
        self.clock = FakeClock()
        self.api = new_api(self.clock, seed=1, release=release, features=features)
        self.cluster = Cluster(self.api)
        if restored is not None:
            restore(self.cluster, restored)
        agents = [NodeAgent(self.cluster), PodAgent(self.cluster)] if kubelets else []
        self.runner = Runner(self.api.store, [*all_controllers(self.cluster), *agents])
        self.runner.start()
        self.settle()

    def settle(self):
        self.clock.advance(0)
        self.api.store.check_invariants()

    def wait(self, seconds):
        self.clock.advance(seconds)
        self.settle()

    def create(self, resource, obj, namespace="default"):
        kind = self.api.kind(resource)
        made = self.api.create(kind, namespace if kind.namespaced else "", obj, Call()).decode()
        self.settle()
        return made

    def change(self, resource, name, change, namespace="default"):
        """``change`` alters the object it is given."""

        def altered(obj):
            change(obj)
            return obj

        kind = self.api.kind(resource)
        key = (namespace if kind.namespaced else "", name)
        self.api.modify(kind, key, altered, Call())
        self.settle()

    def delete(self, resource, name, namespace="default", **options):
        kind = self.api.kind(resource)
        key = (namespace if kind.namespaced else "", name)
        self.api.delete(kind, key, DeleteOptions(**options))
        self.settle()

    def get(self, resource, name, namespace="default"):
        kind = self.api.kind(resource)
        return self.cluster.find(resource, (namespace if kind.namespaced else "", name))

    def status(self, resource, name, namespace="default"):
        return self.get(resource, name, namespace)["status"]

    def names(self, resource, namespace=None):
        return [item.key[1] for item in self.api.store.list(resource, namespace).items]

    def pods(self, **labels):
        """The pods with these labels that are not being deleted, by name."""
        found = [
            pod
            for pod in self.api.store.objects("pods")
            if labels.items() <= (pod["metadata"].get("labels") or {}).items()
            and "deletionTimestamp" not in pod["metadata"]
        ]
        return {pod["metadata"]["name"]: pod for pod in found}

    def phases(self, **labels):
        return sorted(pod["status"]["phase"] for pod in self.pods(**labels).values())

    def bind(self, name, node, namespace="default"):
        bind(self.api, (namespace, name), {"target": {"name": node}}, Call())
        self.settle()

    def bind_all(self, node="n1"):
        """What a scheduler without scruples does."""
        for pod in self.api.store.objects("pods"):
            if not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
                self.bind(pod["metadata"]["name"], node, pod["metadata"]["namespace"])

    def run_all(self, node="n1"):
        """Bind everything and wait until it runs."""
        self.bind_all(node)
        self.wait(2)

    def reasons(self, name):
        """The reasons of all events about an object."""
        events = self.api.store.objects("events")
        return [one["reason"] for one in events if one["involvedObject"]["name"] == name]


def node(name="n1", labels=None, **capacity):
    found = {"metadata": {"name": name, "labels": labels or {}}}
    if capacity:
        found["status"] = {"capacity": {"pods": "110", **capacity}}
    return found


def storage_class(name="standard"):
    """The default one, which provisions at once."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {"metadata": {"name": name, "annotations": default}, "provisioner": "podium.dev/test"}


def container(**requests):
    found = {"name": "c", "image": "app:1"}
    devices = {name: amount for name, amount in requests.items() if "/" in name}
    resources = {"requests": requests, **({"limits": devices} if devices else {})}
    return {**found, "resources": resources} if requests else found


def pod(name="web", annotations=None, labels=None, **spec):
    meta = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    return {"metadata": meta, "spec": {"containers": [container()], **spec}}


def template(annotations=None, image="app:1", **spec):
    meta = {"labels": {"app": "web"}, "annotations": annotations or {}}
    return {
        "metadata": meta,
        "spec": {"containers": [{"name": "c", "image": image}], **spec},
    }


def workload(name="web", **spec):
    """Any kind with a selector and a template."""
    return {
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(),
            **spec,
        },
    }


def image(text):
    """A change of a workload: its pods run this image."""
    return lambda obj: obj["spec"]["template"]["spec"]["containers"][0].update(image=text)
