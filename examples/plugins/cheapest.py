"""Cheapest: prefer cheap nodes; the prices are objects of the cluster, and may change any time.

apiVersion: example.com/v1
kind: Price
metadata: {name: m5.large}      # the node's node.kubernetes.io/instance-type
hourly: 96                      # in thousandths
"""

from podium import framework as fwk


class Cheapest(fwk.ScorePlugin, fwk.EnqueueExtensions):
    name = "Cheapest"

    class Args(fwk.Args, frozen=True):
        label: str = "node.kubernetes.io/instance-type"
        unknown: int = 1000

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.args = args
        self.prices = handle.lister("prices.v1.example.com")

    def score(self, state: fwk.CycleState, pod: fwk.Pod, node: fwk.NodeInfo) -> int:
        price = self.prices.get(node.labels.get(self.args.label, ""))
        return int(price["hourly"]) if price else self.args.unknown

    def normalize_score(
        self, state: fwk.CycleState, pod: fwk.Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        """The dearest node gets 0."""
        return fwk.scale(scores, reverse=True)

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("prices.v1.example.com", "add|update|delete")]
