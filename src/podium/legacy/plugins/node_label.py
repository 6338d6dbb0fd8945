"""NodeLabel: keep pods to nodes that have some labels and lack others, whatever their values.

Only configurations of v1beta1 and older, and policies, may name it; NodeAffinity replaces it.

Filter     rejects a node without one of ``presentLabels``, or with one of ``absentLabels``.
Score      the part of the preferences that a node satisfies, in percent.
Requeue    when a node with the right labels joins, or a node's labels become right.

Arguments  presentLabels, absentLabels; presentLabelsPreference, absentLabelsPreference.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from podium import framework as fwk
from podium.api.objects import Node, Pod

REJECTED = fwk.Status.unresolvable("node(s) didn't have the requested labels")
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.LABELS)

Labels = tuple[str, ...]


class NodeLabel(fwk.FilterPlugin, fwk.ScorePlugin, fwk.EnqueueExtensions):
    name = "NodeLabel"

    class Args(fwk.Args, frozen=True, rename="camel"):
        present_labels: Labels = ()
        absent_labels: Labels = ()
        present_labels_preference: Labels = ()
        absent_labels_preference: Labels = ()

        def validate(self) -> Iterable[fwk.Problem]:
            yield from _conflicts(self.present_labels, self.absent_labels, "Labels")
            preferred = self.present_labels_preference, self.absent_labels_preference
            yield from _conflicts(*preferred, "LabelsPreference")

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.demands = wanted(args.present_labels, args.absent_labels)
        self.preferences = wanted(args.present_labels_preference, args.absent_labels_preference)

    def sign(self, pod: Pod) -> Hashable:
        return None  # it does not look at the pod

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return fwk.SUCCESS if self.accepts(node.node) else REJECTED

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        met = count_met(self.demands, lambda label: nodes.labels[label].present)
        accepted = np.broadcast_to(met == len(self.demands), len(nodes))
        return fwk.Column.where(accepted, fwk.SUCCESS, REJECTED)

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        labels = node.labels
        return int(percent(count_met(self.preferences, labels.__contains__), self.preferences))

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        met = count_met(self.preferences, lambda label: nodes.labels[label].present)
        scores = np.zeros(len(nodes), np.int64)
        scores[:] = percent(met, self.preferences)
        return scores

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Node", "add|label", hint=self.node_became_acceptable)]

    def node_became_acceptable(self, pod: Pod, old: Node | None, new: Node) -> bool:
        was_rejected = old is None or not self.accepts(old)
        return was_rejected and self.accepts(new)

    def accepts(self, node: Node) -> bool:
        met = count_met(self.demands, node.labels.__contains__)
        return bool(met == len(self.demands))


Wanted = tuple[tuple[str, bool], ...]


def wanted(present: Labels, absent: Labels) -> Wanted:
    """Pair each label with whether a node should have it."""
    return (*((label, True) for label in present), *((label, False) for label in absent))


def count_met(wishes: Wanted, is_there: Callable[[str], Any]) -> Any:
    """Count the wishes that a node meets; ``is_there`` may answer with an array for many nodes."""
    met: Any = 0
    for label, present in wishes:
        met = met + (is_there(label) == present)
    return met


def percent(met: Any, wishes: Wanted) -> Any:
    """Return the share of wishes that are met, rounded down; 0 when there are none."""
    return 100 * met // (len(wishes) or 1)


def _conflicts(present: Labels, absent: Labels, field: str) -> Iterable[fwk.Problem]:
    positions = {label: index for index, label in enumerate(present)}
    for index, label in enumerate(absent):
        if label in positions:
            message = f'Invalid value: "{label}": conflict with absent{field}[{index}]'
            yield fwk.Problem(f"present{field}[{positions[label]}]", message)
