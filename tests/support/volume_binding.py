"""A pod with claims before VolumeBinding, on a cluster of its own."""

from typing import Any

from podium import framework as fwk
from podium.plugins.volume.binding import ScoringVolumeBinding, VolumeBinding
from tests.support.builders import node, pod
from tests.support.claims import HOST, ZONE, uses
from tests.support.fakes import FakeHandle

NODES = {"a": "z1", "b": "z2", "c": ""}


def nodes() -> list[Any]:
    """a in z1, b in z2 and c nowhere; each with its hostname."""
    return [
        node(name, labels={HOST: name, **({ZONE: zone} if zone else {})})
        for name, zone in NODES.items()
    ]


class Trial:
    """``Trial(storage_class(), claim("data"), volume("pv")).verdicts("data")``."""

    def __init__(self, *objects: Any, **args: Any) -> None:
        self.handle = FakeHandle(*nodes(), *objects)
        self.cluster = self.handle.cluster
        kind = ScoringVolumeBinding if "shape" in args else VolumeBinding
        self.plugin = kind(kind.Args(**args), self.handle)
        self.handle.use(self.plugin)
        self.state = fwk.CycleState()

    def pre_filter(self, pod: Any) -> fwk.Status:
        answer = self.plugin.pre_filter(self.state, pod, self.handle.rows)
        assert answer is None or isinstance(answer, fwk.Status)
        return answer or fwk.SUCCESS

    def verdicts(self, *claims: str) -> dict[str, tuple[str, ...]]:
        """The reasons against each node, asked for one and for all; none for one that will do."""
        asking = pod("web", volumes=uses(*claims))
        status = self.pre_filter(asking)
        assert status.ok, status
        one_by_one = [self.plugin.filter(self.state, asking, each) for each in self.handle.rows]
        assert list(self.plugin.filter_all(self.state, asking, self.handle.rows)) == one_by_one
        return dict(zip(self.handle.rows.names, (s.reasons for s in one_by_one), strict=True))

    def feasible(self, *claims: str) -> str:
        """The names of the nodes that will do, in one word."""
        return "".join(name for name, reasons in self.verdicts(*claims).items() if not reasons)

    def reserve(self, node_name: str, *claims: str) -> fwk.Status:
        """Take the volumes for a pod called web, which is assumed on the node."""
        asking = pod("web", volumes=uses(*claims))
        self.state = fwk.CycleState()
        status = self.pre_filter(asking)
        assert status.ok or status.is_skip, status
        return self.plugin.reserve(self.state, asking, node_name) or fwk.SUCCESS
