"""NodeResourcesBalancedAllocation: prefer nodes whose resources the pod makes more evenly used.

PreScore   skips a pod that requests none of the listed resources.
Score      compares how much the used fractions of a node's resources differ with the pod and
           without it: 75 if that stays the same, up to 100 if they get closer, down to 50 if they
           do not. Where devices provide an extended resource, devices are counted.

Arguments  resources (cpu, memory): the resources to compare. Their weights are ignored and must be
           1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import Pod
from podium.framework.args import invalid
from podium.framework.cluster_devices import DEVICE_KINDS
from podium.framework.device_amounts import NodesWithDevices, scores_devices
from podium.framework.resource_scoring import (
    CPU_AND_MEMORY,
    Demand,
    ResourceSpec,
    demands,
    exact_floats,
)
from podium.plugins.node_resources_balanced_allocation.balance import (
    CurrentBalances,
    balance_of,
    balance_with,
    balances,
    balances_of_two,
    points,
    shares,
)

DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.RESOURCES)


@dataclass(frozen=True, slots=True)
class Demands:
    """PreScore's state: what the pod asks for of the listed resources."""

    of: tuple[Demand, ...]


class NodeResourcesBalancedAllocation(fwk.PreScorePlugin, fwk.ScorePlugin):
    name = "NodeResourcesBalancedAllocation"
    watches = DEVICE_KINDS

    class Args(fwk.Args, frozen=True, rename="camel"):
        resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

        def validate(self) -> Iterable[fwk.Problem]:
            names = [spec.name for spec in self.resources]
            for index, spec in enumerate(self.resources):
                where = f"resources[{index}]"
                if spec.name in names[:index]:
                    yield fwk.Problem(f"{where}.name", f'Duplicate value: "{spec.name}"')
                if spec.weight not in (0, 1):
                    yield invalid(f"{where}.weight", spec.weight, "must be 1")

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.resources = args.resources or CPU_AND_MEMORY
        self.request_rule = handle.cluster.request_rule
        self.current = CurrentBalances()
        self.devices = handle.devices
        self.classes = handle.devices.extended_resources.classes

    def sign(self, pod: Pod) -> Hashable:
        if resources.is_held(pod):
            raise fwk.NotSignable  # its status counts, which a pending pod hardly ever has
        if self.classes and scores_devices(self.devices, pod, self.resources):
            raise fwk.NotSignable  # what devices there are matters, too
        return resources.written_requests(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        asked = self.demands_of(pod)
        if asked is None:
            return fwk.skip()
        state.put(asked)
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        asked = state.find(Demands) or self.demands_of(pod)
        if asked is None:
            return 0  # the profile has Score of this plugin enabled, but not PreScore
        with_devices = NodesWithDevices.of(self.devices, asked.of, node) if self.classes else None
        there = [share for share in shares(asked.of, with_devices or node) if share.capacity]
        return int(points(balance_with(there), balance_of(there)))

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        asked = state.find(Demands) or self.demands_of(pod)
        if asked is None:
            return np.zeros(len(nodes), np.int64)
        if self.classes and (more := NodesWithDevices.of(self.devices, asked.of, nodes)):
            after = balances(asked.of, more, balance_with)
            return cast("fwk.Scores", points(after, balances(asked.of, more, balance_of)))
        before = self.current.on(nodes, asked.of)
        floats = exact_floats(nodes, asked.of)
        if floats is None:
            scores: fwk.Scores = points(balances(asked.of, nodes, balance_with), before)
            return scores
        small: NDArray[np.int16] = points(balances_of_two(floats, nodes, asked.of), before)
        return small.astype(np.int64)

    def demands_of(self, pod: Pod) -> Demands | None:
        # The pod's status counts here, unlike in NodeResourcesFit.
        held = resources.is_held(pod)
        rule = self.request_rule
        requests, _ = resources.held_requests(pod, rule) if held else resources.spec_requests(pod)
        if not any(requests.get(spec.name) for spec in self.resources):
            return None
        return Demands(demands(self.resources, requests))
