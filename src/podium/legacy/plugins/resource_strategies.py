"""The scoring strategies of NodeResourcesFit as separate plugins, each with its arguments.

Only configurations of v1beta1 and older, and policies, may name them.

NodeResourcesLeastAllocated  prefers empty nodes.
NodeResourcesMostAllocated   prefers full nodes.
RequestedToCapacityRatio     scores the use of each resource by a shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import Pod
from podium.framework.args import invalid
from podium.framework.resource_scoring import (
    CPU_AND_MEMORY,
    Demand,
    ResourceSpec,
    ShapePoint,
    shape_problems,
)
from podium.plugins.node_resources_fit import strategies
from podium.plugins.node_resources_fit.strategies import scored_demands

DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.RESOURCES)


class ResourcesArgs(fwk.Args, frozen=True, rename="camel"):
    """The resources to score; an empty list means the default ones."""

    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

    def validate(self) -> Iterator[fwk.Problem]:
        for index, spec in enumerate(self.resources):
            if not 0 <= spec.weight <= 100:
                yield _bad_weight(index, spec, "(0, 100]")


class RatioArgs(fwk.Args, frozen=True, rename="camel"):
    """The shape is required; weights have no limit."""

    shape: tuple[ShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

    def validate(self) -> Iterator[fwk.Problem]:
        yield from shape_problems(self.shape, "shape")
        for index, spec in enumerate(self.resources):
            if spec.weight < 0:
                yield _bad_weight(index, spec, "[1, inf)")


class SingleStrategy(fwk.ScorePlugin):
    """Scores by one strategy; the three plugins below set it."""

    strategy: strategies.Strategy

    def __init__(self, args: ResourcesArgs | RatioArgs, handle: fwk.Handle) -> None:
        self.resources = args.resources or CPU_AND_MEMORY
        self._last: tuple[Pod, tuple[Demand, ...]] | None = None

    def sign(self, pod: Pod) -> Hashable:
        return resources.written_requests(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        return int(self.strategy.score(self.demands_of(pod), node))

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        return self.strategy.score_all(self.demands_of(pod), nodes)

    def demands_of(self, pod: Pod) -> tuple[Demand, ...]:
        """Return the pod's demands; those of the last pod are kept, as there is no PreScore."""
        if self._last is None or self._last[0] is not pod:
            self._last = pod, scored_demands(self.resources, pod)
        return self._last[1]


class NodeResourcesLeastAllocated(SingleStrategy):
    name = "NodeResourcesLeastAllocated"
    Args = ResourcesArgs
    strategy = strategies.LeastAllocated()


class NodeResourcesMostAllocated(SingleStrategy):
    name = "NodeResourcesMostAllocated"
    Args = ResourcesArgs
    strategy = strategies.MostAllocated()


class RequestedToCapacityRatio(SingleStrategy):
    name = "RequestedToCapacityRatio"
    Args = RatioArgs

    def __init__(self, args: RatioArgs, handle: fwk.Handle) -> None:
        super().__init__(args, handle)
        points = [(point.utilization, point.score) for point in args.shape]
        self.strategy = strategies.RequestedToCapacityRatio(points)


def _bad_weight(index: int, spec: ResourceSpec, valid: str) -> fwk.Problem:
    detail = f"resource weight of {spec.name} not in valid range {valid}"
    return invalid(f"resources[{index}].weight", spec.weight, detail)
