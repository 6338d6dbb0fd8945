"""NodeResourcesFit: a node needs room for what the pod requests.

Filter   rejects a node that has too many pods or too little left of a requested resource.
Score    prefers empty nodes (LeastAllocated), full ones (MostAllocated), or as a shape says.
Requeue  when pods leave or shrink, a node that would be large enough joins or grows, or a
         device class begins to offer a requested resource.

Where devices provide an extended resource, DynamicResources filters, and the score counts devices.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import cast

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import Node, Pod
from podium.framework.cluster_devices import DEVICE_KINDS
from podium.framework.device_amounts import NodesWithDevices, scores_devices
from podium.framework.resource_scoring import CPU_AND_MEMORY, Demand
from podium.plugins.node_resources_fit import hints
from podium.plugins.node_resources_fit.args import FitArgs
from podium.plugins.node_resources_fit.needs import (
    Needs,
    fits_everywhere,
    needs_of,
    rejection,
    shortages,
    unresolvable,
)
from podium.plugins.node_resources_fit.strategies import scored_demands

DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.RESOURCES)


@dataclass(frozen=True, slots=True)
class CheckedNeeds:
    """PreFilter's state: the needs to check, and their names.

    ``provided`` are those that devices provide on nodes that do not offer them themselves.
    """

    needs: Needs
    names: tuple[str, ...]
    provided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredDemands:
    """PreScore's state: what the pod requests of the resources that are scored."""

    demands: tuple[Demand, ...]


class NodeResourcesFit(
    fwk.PreFilterPlugin,
    fwk.ResourceFilterPlugin,
    fwk.PreScorePlugin,
    fwk.ScorePlugin,
    fwk.EnqueueExtensions,
):
    name = "NodeResourcesFit"
    Args = FitArgs
    watches = DEVICE_KINDS

    def __init__(self, args: FitArgs, handle: fwk.Handle) -> None:
        self.args = args
        self.cluster = handle.cluster
        self.nominator = handle.nominator
        self.request_rule = handle.cluster.request_rule
        self.strategy = args.scoring_strategy.build()
        self.resources = args.scoring_strategy.resources or CPU_AND_MEMORY
        self.devices = handle.devices
        self.classes = handle.devices.extended_resources.classes

    def sign(self, pod: Pod) -> Hashable:
        if self.classes and (provided := self.devices.extended_resources.requested_by(pod)):
            if scores_devices(self.devices, pod, self.resources):
                raise fwk.NotSignable  # the score depends on what devices there are
            return resources.written_requests(pod), provided
        # As written, which is faster than summing up, and replicas are written the same.
        return resources.written_requests(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> None:
        needs = self.checked(pod)
        provided = self.devices.extended_resources.requested_by(pod) if self.classes else ()
        state.put(CheckedNeeds(needs, tuple([name for name, _ in needs]), provided))

    def needs(self, state: fwk.CycleState, pod: Pod) -> Needs | None:
        checked = state.get(CheckedNeeds)
        return None if checked.provided else checked.needs

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        checked = state.get(CheckedNeeds)
        short = [*shortages(checked.needs, node, checked.provided)]
        if not any(short):
            return fwk.SUCCESS
        bits = sum(1 << bit for bit, is_short in enumerate(short) if is_short)
        never = any(unresolvable(checked.needs, node, checked.provided))
        return rejection(checked.names, bits, never)

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        checked = state.get(CheckedNeeds)
        if fits_everywhere(checked.needs, nodes):
            return fwk.Column.uniform(fwk.SUCCESS, len(nodes))
        needs, provided = checked.needs, checked.provided
        short = cast("list[NDArray[np.bool_]]", [*shortages(needs, nodes, provided)])
        never = np.zeros(len(nodes), np.bool_)
        never = reduce(or_, unresolvable(needs, nodes, provided), never)
        width = len(short)
        return fwk.packed([*short, never]).map(
            lambda bits: rejection(checked.names, bits & ~(1 << width), bits >> width == 1)
        )

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> None:
        state.put(ScoredDemands(self.demands_of(pod)))

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        demands = self.scored(state, pod)
        with_devices = NodesWithDevices.of(self.devices, demands, node) if self.classes else None
        score: int = self.strategy.score(demands, with_devices or node)
        return score

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        demands = self.scored(state, pod)
        if self.classes and (with_devices := NodesWithDevices.of(self.devices, demands, nodes)):
            scores: fwk.Scores = self.strategy.score(demands, with_devices)
            return scores
        return self.strategy.score_all(demands, nodes)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("AssignedPod", "delete", hint=self.pod_made_room),
            fwk.on("AssignedPod", "scale-down", hint=self.pod_made_room),
            fwk.on("TargetPod", "scale-down", hint=self.pod_made_room),
            fwk.on("Node", "add|allocatable", hint=self.node_became_large_enough),
            fwk.on("resource.k8s.io/DeviceClass", "add|update", hint=hints.class_offers_resource),
        ]

    def pod_made_room(self, pod: Pod, old: Pod, new: Pod | None) -> bool:
        if not hints.pod_made_room(pod, old, new, self.request_rule):
            return False
        return self._may_fit_now(pod, (new or old).node_name)

    def node_became_large_enough(self, pod: Pod, old: Node | None, new: Node) -> bool:
        provided = self.devices.extended_resources.requested_by(pod)
        return hints.node_became_large_enough(needs_of(pod), old, new, provided)

    def _may_fit_now(self, pod: Pod, node_name: str) -> bool:
        """Return whether a pod may fit on a node that now has more room.

        Asked for a pod that has a nominated node, where its victims are leaving: it does not
        preempt again, so that only room for all that it needs helps it elsewhere. A member of a
        group does not wait for its own node alone, but until all members have room.
        """
        if pod.group_key or pod.nominated_node_name in ("", node_name):
            return True
        node = self.cluster.node(node_name)
        if node is None:
            return True
        needed = dict(self.checked(pod))
        for other in self.nominator.on(node_name):
            if other.priority >= pod.priority and other.uid != pod.uid:
                for name, amount in needs_of(other.pod):
                    if name in needed:
                        needed[name] += amount
        provided = self.devices.extended_resources.requested_by(pod)
        return not any(shortages(tuple(needed.items()), node, provided))

    def checked(self, pod: Pod) -> Needs:
        """Return the pod's needs without the resources that the arguments ignore."""
        needs = needs_of(pod)
        args = self.args
        if not args.ignored_resources and not args.ignored_resource_groups:
            return needs
        return tuple(
            (name, amount)
            for name, amount in needs
            if not (resources.is_extended(name) and args.ignores(name))
        )

    def scored(self, state: fwk.CycleState, pod: Pod) -> tuple[Demand, ...]:
        """Return what PreScore stored, or compute it if the profile has this PreScore disabled."""
        kept = state.find(ScoredDemands)
        return self.demands_of(pod) if kept is None else kept.demands

    def demands_of(self, pod: Pod) -> tuple[Demand, ...]:
        return scored_demands(self.resources, pod)
