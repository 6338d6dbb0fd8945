"""How much the pods in each row's domains attract or repel the incoming pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.plugins.inter_pod_affinity.domains import Counts, Tally
from podium.plugins.inter_pod_affinity.terms import Wanted
from podium.state.affinity_index import PREFERRED, PREFERRED_ANTI, REQUIRED
from podium.state.cluster import ClusterState


@dataclass(frozen=True, slots=True)
class Attraction:
    """The weights of the terms that hold in a row's domains, summed; one place per row."""

    by_row: Counts


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferred terms of the incoming pod."""

    near: Sequence[Wanted]
    apart: Sequence[Wanted]


def attraction(
    cluster: ClusterState, pod: Pod, own: Preferences, hard_weight: int
) -> Attraction | None:
    """Weigh the pod's terms against all pods, and all pods' terms against the pod.

    ``None`` when no term holds anywhere; terms that cancel each other out are not nothing.
    """
    pull, push = Tally(cluster.table), Tally(cluster.table)
    for wanted in own.near:
        pull.add(wanted.key, cluster.counts(wanted.query), wanted.weight)
    for wanted in own.apart:
        push.add(wanted.key, cluster.counts(wanted.query), wanted.weight)
    seen = (pod.namespace, cluster.namespace_labels(pod.namespace), pod.labels)
    standing = cluster.affinity.matching
    if hard_weight:
        for other in standing(REQUIRED, *seen):
            pull.add_standing(other, hard_weight)
    for other in standing(PREFERRED, *seen):
        pull.add_standing(other, other.term.weight)
    for other in standing(PREFERRED_ANTI, *seen):
        push.add_standing(other, other.term.weight)
    if pull.is_empty and push.is_empty:
        return None
    pulled = pull.total()
    if push.is_empty:
        return Attraction(pulled) if pulled.any() else None
    pushed = push.total()
    return Attraction(pulled - pushed) if pulled.any() or pushed.any() else None


def stretched(scores: fwk.Scores) -> fwk.Scores:
    """The lowest becomes 0 and the highest 100; all 0 when they are equal."""
    if not len(scores):
        return scores
    low = scores.min()
    span = scores.max() - low
    if not span:
        return np.zeros_like(scores)
    # Dividing first costs some scores a point (29 of 100 becomes 28), as upstream.
    shares: NDArray[np.float64] = (scores - low) / span
    return (100.0 * shares).astype(np.int64)
