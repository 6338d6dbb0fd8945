"""A plugin of one's own: prefer racks with few pods. Run: python examples/emptiest_rack.py"""

from collections import Counter

from podium import app, config
from podium import framework as fwk
from podium.api.objects import Node, Pod, decode

EVERY_POD = fwk.pods_matching("")


class EmptiestRack(fwk.ScorePlugin):
    """Scores a node by how few pods its rack has; the label that names the rack is an argument.

    All pods get the same scores (``sign``), which change when pods or labels do (``depends_on``).
    """

    name = "EmptiestRack"

    class Args(fwk.Args, frozen=True):
        rack_label: str = "example.com/rack"

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.label = args.rack_label

    def sign(self, pod: Pod) -> tuple[()]:
        return ()

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return fwk.Dependencies(cluster=fwk.Aspect.PODS | fwk.Aspect.LABELS)

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        return nodes.domain_counts(self.label, EVERY_POD)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return fwk.scale(scores, reverse=True)


CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: EmptiestRack, weight: 100}]
  pluginConfig:
  - name: EmptiestRack
    args: {rackLabel: rack}
"""


def node(name: str, rack: str) -> Node:
    meta = {"name": name, "labels": {"rack": rack}}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    return decode(Node, {"metadata": meta, "status": status})


def pod(name: str) -> Pod:
    meta = {"name": name, "namespace": "default", "uid": name}
    return decode(Pod, {"metadata": meta, "spec": {"containers": [{"name": "main"}]}})


def main() -> None:
    registry = app.in_tree()
    registry.register(EmptiestRack)
    core = app.build(config.load(CONFIGURATION, registry), registry=registry)
    for number in range(6):
        core.cluster.set_node(node(f"n{number}", rack="left" if number < 4 else "right"))
    placed = [core.cycle(fwk.QueuedPod.of(pod(f"p{number}"))).run() for number in range(6)]
    racks = Counter("left" if int(outcome.record.node[1:]) < 4 else "right" for outcome in placed)
    print(f"{racks['left']} pods on the left rack, {racks['right']} on the right")


if __name__ == "__main__":
    main()
