"""A small cluster as `kubectl get -o json` would print it."""

import json


def node(name, cpu="4", **labels):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
            "capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
        },
    }


def pod(name, cpu="1", node_name="", namespace="default", owner="", **spec):
    """A pod as an API server shows it; ``manifest`` is one that does not exist yet."""
    made = manifest(name, cpu, **spec)
    meta = {"namespace": namespace, "uid": f"uid-{namespace}-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z"}  # fmt: skip
    if owner:
        meta["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": f"uid-{owner}",
             "controller": True}
        ]  # fmt: skip
    made["metadata"].update(meta)
    if node_name:
        made["spec"]["nodeName"] = node_name
        made["status"] = {"phase": "Running"}
    return made


def manifest(name, cpu="1", **spec):
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


def replica_set(name, replicas):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}},
    }


def written(path, *objects):
    """Write the dump of a cluster, by default of three nodes, to a file; return its path."""
    items = objects or USUAL
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
    return path


USUAL = (
    node("one"),
    node("two", disk="ssd"),
    node("three"),
    replica_set("web", 2),
    pod("web-1", node_name="one", owner="web"),
    pod("web-2", "3", node_name="two", owner="web"),
    pod("huge", "9"),
    pod("gated", schedulingGates=[{"name": "example.com/wait"}]),
)
