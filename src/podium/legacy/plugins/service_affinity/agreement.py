"""The label values that a node must have so that the pods of a service stay together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.api.requirements import IN, Requirement
from podium.api.selectors import from_map
from podium.framework.workload_selectors import services_of

Pairs = tuple[tuple[str, str], ...]
Uids = dict[int, frozenset[str]]
"""Uids of pods by row."""


@dataclass(slots=True)
class Agreement:
    """PreFilter's state: the label values that every node needs.

    ``pairs`` come from the pod's node selector. The values of the ``missing`` labels are those of
    the first node with a peer. A dry run may remove all peers of that node; in the world of that
    node the second one decides then. Peers that a dry run adds count last.
    """

    cluster: fwk.ClusterView
    pairs: Pairs
    missing: tuple[str, ...] = ()
    peers: fwk.PodQuery | None = None
    first: tuple[int, ...] = ()  # rows with peers, two at most
    there: int = 0  # peers on the first of them
    gone: Uids = field(default_factory=dict)
    added: Uids = field(default_factory=dict)

    def clone(self) -> Agreement:
        return replace(self, gone=dict(self.gone), added=dict(self.added))

    def add(self, info: fwk.PodInfo, row: int) -> None:
        if self.peers is not None and self.peers.matches_pod(info):
            self.added[row] = self.added.get(row, frozenset()) | {info.uid}

    def remove(self, info: fwk.PodInfo, row: int) -> None:
        if self.peers is None or not self.peers.matches_pod(info):
            return
        if info.uid in self.added.get(row, ()):
            self.added[row] -= {info.uid}
        else:
            self.gone[row] = self.gone.get(row, frozenset()) | {info.uid}

    def decisive(self, row: int) -> int | None:
        """Return the row whose labels decide in the world of this row, if there is one."""
        first = self.first
        if first and first[0] == row and len(self.gone.get(row, ())) >= self.there:
            first = first[1:]
        if first:
            return first[0]
        return row if self.added.get(row) else None

    def on(self, row: int) -> Pairs:
        """Return the label values that a node must have, in the world of its row."""
        return self.pairs + self.looked_up(self.decisive(row))

    def looked_up(self, row: int | None) -> Pairs:
        node = None if row is None else self.cluster.node_object(row)
        labels = {} if node is None else node.labels
        return tuple([(label, labels[label]) for label in self.missing if label in labels])

    def mask(self, nodes: fwk.Rows) -> NDArray[np.bool_]:
        """Return which nodes have the label values that they must have."""
        usual = self.looked_up(self.first[0] if self.first else None)
        mask = np.ones(len(nodes), np.bool_)
        for key, value in self.pairs + usual:
            mask &= nodes.satisfying(Requirement(key, IN, (value,)))
        # Only in the world of the first row may another row decide. A row that decides for itself,
        # because of what a dry run added, agrees with itself.
        for position in np.flatnonzero(nodes.index == (self.first or (-1,))[0]).tolist():
            node = nodes.at(position)
            mask[position] = agree(self.on(node.row), node.labels)
        return mask


def agree(pairs: Pairs, labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in pairs)


def agreement(
    cluster: fwk.ClusterView, nodes: fwk.Rows, pod: Pod, labels: tuple[str, ...]
) -> Agreement:
    """Take label values from the pod's node selector, and the others from where its peers run."""
    wanted = pod.spec.node_selector
    pairs = tuple((label, wanted[label]) for label in labels if label in wanted)
    missing = tuple(label for label in labels if label not in wanted)
    if not missing or not services_of(cluster, pod):
        return Agreement(cluster, pairs)
    peers = peers_of(pod)
    counts = cluster.pod_counts(peers)
    first = first_rows(cluster, counts)
    there = int(counts[first[0]]) if first else 0
    return Agreement(cluster, pairs, missing, peers, first, there)


def peers_of(pod: Pod) -> fwk.PodQuery:
    """Select the pods of the namespace that have all labels of this one, terminating or not."""
    return fwk.PodQuery((fwk.Clause(frozenset((pod.namespace,)), from_map(pod.labels)),))


def first_rows(cluster: fwk.ClusterView, counts: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the first two nodes, in upstream's order, whose count is not 0."""
    rows = cluster.nodes().index
    rows = rows[counts[rows] > 0]
    if len(rows) > 1:
        order = cluster.rows_in_order()
        rows = order[counts[order] > 0]
    return tuple(rows[:2].tolist())
