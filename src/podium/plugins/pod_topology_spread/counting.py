"""Which nodes a constraint counts on, and how many pods each of its domains holds.

A domain is the number of its value in the label's column. Arrays by domain have one more element,
the last, for nodes without the label: their number is -1, which as an index means the last element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod, Taints
from podium.api.selectors import RequiredNodeAffinity
from podium.api.taints import find_untolerated
from podium.framework.cluster_view import Group
from podium.plugins.pod_topology_spread.constraints import Constraint

Mask = NDArray[np.bool_]
Numbers = NDArray[np.intp]


def columns(nodes: fwk.Rows, constraints: Sequence[Constraint]) -> list[fwk.LabelColumn]:
    """Return the label column of each constraint.

    Callers keep these objects until the next PreFilter or PreScore. A column that is dropped and
    looked up again would have other numbers.
    """
    return [nodes.cluster.label_column(constraint.topology_key) for constraint in constraints]


def keyless(nodes: fwk.Rows, labels: Sequence[fwk.LabelColumn]) -> Mask | None:
    """Return a mask of the nodes that lack one of the labels; ``None`` if no node does."""
    found = None
    for label in labels:
        if label.labelled == nodes.cluster.node_count:
            continue
        missing = nodes.take(label.numbers) < 0
        if missing.any():
            found = missing if found is None else found | missing
    return found


def is_whole_table(nodes: fwk.Rows) -> bool:
    """Return whether the view has all rows, so that counts kept by label can be used."""
    return len(nodes) == nodes.cluster.size


class CountedNodes:
    """The nodes on which pods count, by a constraint's node policies. ``None`` means all nodes."""

    def __init__(self, nodes: fwk.Rows, pod: Pod, without: Mask | None) -> None:
        self._nodes = nodes
        self._pod = pod
        self._without = without
        self._masks: dict[tuple[bool, bool, bool], Mask | None] = {}

    def of(self, constraint: Constraint) -> Mask | None:
        honors = constraint.honors_affinity, constraint.honors_taints
        policies = (*honors, constraint.compares_tolerations)
        if policies not in self._masks:
            self._masks[policies] = self._mask(*policies)
        return self._masks[policies]

    def _mask(self, honors_affinity: bool, honors_taints: bool, compares: bool) -> Mask | None:
        mask = None if self._without is None else ~self._without
        affinity = RequiredNodeAffinity.of(self._pod)
        if honors_affinity and not affinity.is_empty:
            mask = _both(mask, self._nodes.matching(affinity))
        if honors_taints:
            mask = _both(mask, self._tolerated(compares))
        return mask

    def _tolerated(self, compares: bool) -> Mask:
        tolerations = self._pod.spec.tolerations

        def is_tolerated(taints: Taints) -> bool:
            found = find_untolerated(taints, tolerations, comparison_operators=compares)
            return found is None

        mask: Mask = self._nodes.taints.map(is_tolerated).to_array(np.bool_)
        return mask


def _both(first: Mask | None, second: Mask) -> Mask:
    return second if first is None else first & second


def by_domain(numbers: Numbers, label: fwk.LabelColumn, amounts: Any) -> NDArray[Any]:
    """Return the sum of ``amounts`` in each domain."""
    size = len(label.values)
    if len(numbers) and numbers.min() < 0:
        numbers = np.where(numbers < 0, size, numbers)
    return np.bincount(numbers, amounts, size + 1)


def domains_with(nodes: fwk.Rows, label: fwk.LabelColumn, counted: Mask | None) -> Mask:
    """Return a mask of the domains that have a node on which pods count."""
    if counted is None and is_whole_table(nodes):
        missing = nodes.cluster.size - label.labelled
        return np.array([*label.holders, missing]) > 0
    numbers: Numbers = nodes.take(label.numbers)
    held: Mask = by_domain(numbers, label, counted) > 0
    return held


def pods_by_domain(
    nodes: fwk.Rows, constraint: Constraint, label: fwk.LabelColumn, counted: Mask | None
) -> NDArray[np.int64]:
    """Return how many pods the constraint counts in each domain."""
    query = constraint.query
    if query is None:
        return np.zeros(len(label.values) + 1, np.int64)
    if counted is None and is_whole_table(nodes):
        return nodes.cluster.domain_counts(query, label.key)
    amounts = nodes.count_pods(query)
    if counted is not None:
        amounts = np.where(counted, amounts, 0)
    return by_domain(nodes.take(label.numbers), label, amounts).astype(np.int64)


def matched_pods(
    constraints: Sequence[Constraint], cluster: fwk.ClusterView, pods: Sequence[fwk.PodInfo]
) -> Iterator[Mask]:
    """Yield for each constraint a mask of the pods that its selector matches.

    Each group of pods is judged once. As in kube-scheduler, terminating pods and empty selectors
    are not special here.
    """
    for constraint in constraints:
        if constraint.query is not None:
            cluster.pod_counts(constraint.query)  # makes the groups distinguish its label keys
    subjects = [info.group or info for info in pods]
    distinct = set(subjects)
    for constraint in constraints:
        matches = {subject: _matches(constraint, subject) for subject in distinct}
        yield np.fromiter(map(matches.__getitem__, subjects), np.bool_, len(subjects))


def _matches(constraint: Constraint, subject: Group | fwk.PodInfo) -> bool:
    pod = subject.pod if isinstance(subject, fwk.PodInfo) else subject
    return pod.namespace == constraint.namespace and constraint.selector.matches(pod.labels)
