"""Zones and regions: where the labels of a volume say that it is, and which nodes are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.nodes import BETA_REGION, BETA_ZONE, REGION, ZONE
from podium.api.objects import PersistentVolume
from podium.api.selectors import Requirement

KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
# One way only: a volume with the new labels does not match a node that has the old ones.
SUCCESSORS = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class Topology(NamedTuple):
    """A label that a volume has, and the values that will do on a node."""

    key: str
    values: frozenset[str]


def topologies_of(volume: PersistentVolume) -> list[Topology]:
    """The volume's topology labels; one that cannot be read is left out."""
    found = []
    for key in KEYS:
        if key in volume.labels:
            values = [value.strip() for value in volume.labels[key].split("__")]
            if all(values):
                found.append(Topology(key, frozenset(values)))
    return found


def is_inside(labels: Mapping[str, str], topologies: Iterable[Topology]) -> bool:
    """Whether a node with these labels is where the volumes are."""
    if not any(key in labels for key in KEYS):
        return True  # a cluster of one zone, whose nodes do not say so
    return all(
        labels.get(topology.key, labels.get(SUCCESSORS.get(topology.key, ""))) in topology.values
        for topology in topologies
    )


def are_inside(nodes: fwk.Rows, topologies: Iterable[Topology]) -> NDArray[np.bool_]:
    """The same for all nodes of a view."""
    inside = np.ones(len(nodes), np.bool_)
    for topology in topologies:
        inside &= _matching(nodes, topology)
    return inside if inside.all() else inside | _unlabelled(nodes)


def _matching(nodes: fwk.Rows, topology: Topology) -> NDArray[np.bool_]:
    """The nodes whose label, or else the label that succeeds it, has one of the values."""
    key, values = topology.key, tuple(topology.values)
    matches = nodes.satisfying(Requirement(key, "In", values))
    if key in SUCCESSORS:
        is_missing = ~nodes.labels[key].present
        matches |= is_missing & nodes.satisfying(Requirement(SUCCESSORS[key], "In", values))
    return matches


def _unlabelled(nodes: fwk.Rows) -> NDArray[np.bool_]:
    """The nodes without any of the labels."""
    without = ~nodes.labels[ZONE].present
    for key in (REGION, BETA_ZONE, BETA_REGION):
        if without.any():
            without &= ~nodes.labels[key].present
    return without
