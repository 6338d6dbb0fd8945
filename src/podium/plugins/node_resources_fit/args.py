"""NodeResourcesFitArgs: which resources not to check, and how to score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podium.api.names import label_key_problems
from podium.framework.args import Args, Problem, invalid
from podium.framework.resource_scoring import (
    CPU_AND_MEMORY,
    ResourceSpec,
    ShapePoint,
    shape_problems,
)
from podium.plugins.node_resources_fit.strategies import RATIO, STRATEGIES, Strategy


class RatioParams(Args, frozen=True, rename="camel"):
    shape: tuple[ShapePoint, ...] = ()


class ScoringStrategy(Args, frozen=True, rename="camel"):
    """``type`` has no default: a configuration that has a strategy must name its type."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY
    requested_to_capacity_ratio: RatioParams | None = None

    def build(self) -> Strategy:
        params = self.requested_to_capacity_ratio
        points = [(point.utilization, point.score) for point in params.shape] if params else []
        return STRATEGIES[self.type](points)

    def problems(self, path: str) -> Iterator[Problem]:
        if self.type not in STRATEGIES:
            supported = ", ".join(f'"{name}"' for name in sorted(STRATEGIES))
            text = f'Unsupported value: "{self.type}": supported values: {supported}'
            yield Problem(f"{path}.type", text)
        for index, spec in enumerate(self.resources):
            if not 0 <= spec.weight <= 100:
                detail = f"resource weight of {spec.name} not in valid range (0, 100]"
                yield invalid(f"{path}.resources[{index}].weight", spec.weight, detail)
        yield from self._ratio_problems(f"{path}.requestedToCapacityRatio")

    def _ratio_problems(self, path: str) -> Iterator[Problem]:
        params = self.requested_to_capacity_ratio
        if self.type != RATIO:
            if params is not None:
                yield Problem(path, f"Forbidden: must be nil when type is not {RATIO}")
        elif params is None:
            yield Problem(path, f"Required value: must be specified when type is {RATIO}")
        else:
            yield from shape_problems(params.shape, f"{path}.shape")


class FitArgs(Args, frozen=True, rename="camel"):
    """Extended resources are ignored by name, or by group (the part before the ``/``)."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")

    def validate(self) -> Iterator[Problem]:
        yield from _name_problems("ignoredResources", self.ignored_resources)
        for index, group in enumerate(self.ignored_resource_groups):
            if "/" in group:
                detail = "resource group name can't contain '/'"
                where = f"ignoredResourceGroups[{index}]"
                yield Problem(where, f'Invalid value: "{group}": {detail}')
        yield from _name_problems("ignoredResourceGroups", self.ignored_resource_groups)
        yield from self.scoring_strategy.problems("scoringStrategy")

    def ignores(self, resource: str) -> bool:
        group = resource.partition("/")[0]
        return resource in self.ignored_resources or group in self.ignored_resource_groups


def _name_problems(field: str, names: Sequence[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        for problem in label_key_problems(name):
            yield Problem(f"{field}[{index}]", f'Invalid value: "{name}": {problem}')
