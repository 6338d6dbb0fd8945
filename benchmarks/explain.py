"""How long explanations take in a large cluster that is already in memory.

    python -m benchmarks.explain [NODES]

Prints the time of each explanation with its fixes, and how many attempts of the same pod would take
as long: the ratio depends less on the machine.
"""

from __future__ import annotations

import sys
from time import perf_counter

from podium import app, config
from podium.api.objects import Pod
from podium.app import OfflineCore
from podium.explain import explain_pod
from podium.framework.queued_pod import QueuedPod
from podium.testing import node, pod

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
PODS_PER_NODE = 10


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    core = cluster(nodes)
    print(f"{nodes:,} nodes, {nodes * PODS_PER_NODE:,} pods")
    for name, subject in pending().items():
        explain_pod(core, subject)  # the first one fills what the core keeps
        seconds = timed(lambda subject=subject: explain_pod(core, subject))
        once = timed(lambda subject=subject: core.cycle(QueuedPod.of(subject)).find_feasible())
        print(f"{name:24} {seconds:6.3f} s  {seconds / once:8,.0f} attempts")


def cluster(nodes: int) -> OfflineCore:
    registry = app.in_tree()
    core = app.build(config.default(registry), registry=registry)
    for number in range(nodes):
        labels = f"{HOSTNAME}=n{number} {ZONE}=z{number % 3}"
        taints = "" if number % 10 else "gpu=a:NoSchedule"
        core.cluster.set_node(node(f"n{number}", labels=labels, taints=taints))
    apart = anti_affinity("own", HOSTNAME)
    for number in range(nodes * PODS_PER_NODE):
        own = number < nodes
        core.cluster.add_pod(
            pod(
                f"p{number}",
                node=f"n{number % nodes}",
                cpu=f"{300 + number % 97}m",
                labels="app=own" if own else f"app=a{number % 50}",
                affinity=apart if own else None,
                host_ports=(80,) if own else (),
                priority=number % 5 * 10,
            )
        )
    return core


def pending() -> dict[str, Pod]:
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a1"}},
    }
    own = anti_affinity("own", HOSTNAME)
    return {
        "too large a request": pod("web", cpu="3"),
        "larger than any node": pod("web", cpu="30"),
        "node selector and cpu": pod("web", cpu="3", node_selector="disk=ssd"),
        "topology spread and cpu": pod(
            "web", cpu="3", labels="app=a1", topology_spread_constraints=[spread]
        ),
        "anti-affinity by host": pod("web", cpu="10m", labels="app=own", affinity=own),
        "anti-affinity by zone": pod("web", cpu="10m", affinity=anti_affinity("a1", ZONE)),
        "host port": pod("web", cpu="10m", host_ports=(80,)),
        "high priority": pod("web", cpu="30", priority=100),
        "missing claim": pod("web", cpu="10m", claims="data"),
    }


def anti_affinity(app_name: str, key: str) -> dict[str, object]:
    term = {"labelSelector": {"matchLabels": {"app": app_name}}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def timed(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


if __name__ == "__main__":
    main()
