"""Zones and regions of volumes, from their labels, and which nodes are in them."""

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
# Only in this direction: a volume with new labels does not match a node with old ones.
SUCCESSORS = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class Topology(NamedTuple):
    """A topology label of a volume, and the values that a node may have."""

    key: str
    values: frozenset[str]


def topologies_of(volume: PersistentVolume) -> list[Topology]:
    """Return the volume's topology labels, without invalid ones."""
    found = []
    for key in KEYS:
        if key in volume.labels:
            values = [value.strip() for value in volume.labels[key].split("__")]
            if all(values):
                found.append(Topology(key, frozenset(values)))
    return found


def is_inside(labels: Mapping[str, str], topologies: Iterable[Topology]) -> bool:
    """Return whether a node with these labels is in the zones and regions of the volumes."""
    if not any(key in labels for key in KEYS):
        return True  # a cluster with a single zone may have no labels
    return all(
        labels.get(topology.key, labels.get(SUCCESSORS.get(topology.key, ""))) in topology.values
        for topology in topologies
    )


def are_inside(nodes: fwk.Rows, topologies: Iterable[Topology]) -> NDArray[np.bool_]:
    """Return a mask of the nodes for which ``is_inside`` is true."""
    inside = np.ones(len(nodes), np.bool_)
    for topology in topologies:
        inside &= _matching(nodes, topology)
    return inside if inside.all() else inside | _unlabelled(nodes)


def _matching(nodes: fwk.Rows, topology: Topology) -> NDArray[np.bool_]:
    """Return a mask of the nodes whose label, or else its successor, has one of the values."""
    key, values = topology.key, tuple(topology.values)
    matches = nodes.satisfying(Requirement(key, "In", values))
    if key in SUCCESSORS:
        is_missing = ~nodes.labels[key].present
        matches |= is_missing & nodes.satisfying(Requirement(SUCCESSORS[key], "In", values))
    return matches


def _unlabelled(nodes: fwk.Rows) -> NDArray[np.bool_]:
    """Return a mask of the nodes without any of the labels."""
    without = ~nodes.labels[ZONE].present
    for key in (REGION, BETA_ZONE, BETA_REGION):
        if without.any():
            without &= ~nodes.labels[key].present
    return without
