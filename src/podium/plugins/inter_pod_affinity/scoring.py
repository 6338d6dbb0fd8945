"""How much the pods in each row's domains attract or repel the incoming pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.cluster_view import PREFERRED, PREFERRED_ANTI, REQUIRED
from podium.plugins.inter_pod_affinity.domains import (
    Held,
    Tally,
    in_domains,
    standing_in_domains,
)
from podium.plugins.inter_pod_affinity.terms import Wanted


@dataclass(frozen=True, slots=True)
class Attraction:
    """The weights of the terms that hold in a row's domains, summed."""

    here: Held


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferred terms of the incoming pod."""

    near: Sequence[Wanted]
    apart: Sequence[Wanted]


def attraction(
    cluster: fwk.ClusterView, pod: Pod, own: Preferences, hard_weight: int
) -> Attraction | None:
    """Weigh the pod's terms against all pods, and all pods' terms against the pod.

    ``None`` when no term holds anywhere; terms that cancel each other out are not nothing.
    """
    pull, push = Tally(), Tally()
    for wanted in own.near:
        pull.add(in_domains(cluster, wanted.query, wanted.key), wanted.weight)
    for wanted in own.apart:
        push.add(in_domains(cluster, wanted.query, wanted.key), wanted.weight)
    seen = (pod.namespace, cluster.namespace_labels(pod.namespace), pod.labels)
    matching = cluster.affinity.matching
    if hard_weight:
        for standing in matching(REQUIRED, *seen):
            pull.add(standing_in_domains(cluster, standing), hard_weight)
    for standing in matching(PREFERRED, *seen):
        pull.add(standing_in_domains(cluster, standing), standing.term.weight)
    for standing in matching(PREFERRED_ANTI, *seen):
        push.add(standing_in_domains(cluster, standing), standing.term.weight)
    return _difference(pull.total, push.total)


def _difference(pull: Held | None, push: Held | None) -> Attraction | None:
    pulls = pull is not None and bool(pull.values.any())
    pushes = push is not None and bool(push.values.any())
    if pull is not None and (pulls or pushes):
        return Attraction(pull.minus(push) if push is not None and pushes else pull)
    return Attraction(Held(-push.values, push.places)) if push is not None and pushes else None


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
