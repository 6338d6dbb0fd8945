"""Two nodes, two pods: one gets a node, the other a reason."""

from podium import app, config
from podium.api.objects import Node, Pod, decode
from podium.cycle.outcome import Placed
from podium.framework import QueuedPod


def node(name: str, cpu: str) -> Node:
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return decode(Node, {"metadata": {"name": name}, "status": {"allocatable": allocatable}})


def pod(name: str, cpu: str) -> Pod:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    meta = {"name": name, "namespace": "default", "uid": name}
    return decode(Pod, {"metadata": meta, "spec": {"containers": [container]}})


def main() -> None:
    core = app.build(config.default(app.in_tree()))
    for member in (node("small", "1"), node("big", "4")):
        core.cluster.set_node(member)
    for waiting in (pod("web", "2"), pod("batch", "8")):
        match core.cycle(QueuedPod.of(waiting)).run():
            case Placed() as placed:
                print(f"{waiting.key} goes to {placed.node_name}")
            case rejected:
                print(f"{waiting.key} waits: {rejected.message}")


if __name__ == "__main__":
    main()
