"""Scoring: how much the pods in each row's domains attract or repel the incoming pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.cluster_view import PREFERRED, PREFERRED_ANTI, REQUIRED
from podium.plugins.inter_pod_affinity.domains import (
    DomainCounts,
    Tally,
    pod_counts,
    term_counts,
)
from podium.plugins.inter_pod_affinity.terms import TermQuery


@dataclass(frozen=True, slots=True)
class Attraction:
    """PreScore's state: for each row, the sum of the weights of all matches in its domains."""

    here: DomainCounts


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferred terms of the incoming pod."""

    near: Sequence[TermQuery]
    apart: Sequence[TermQuery]


def attraction(
    cluster: fwk.ClusterView, pod: Pod, own: Preferences, hard_weight: int
) -> Attraction | None:
    """Sum the weights of the pod's terms that match placed pods, and of their terms that match it.

    Returns ``None`` when no term matches anywhere. If matches cancel each other out, the result has
    zeros but is not ``None``.
    """
    pull, push = Tally(), Tally()
    for wanted in own.near:
        pull.add(pod_counts(cluster, wanted.query, wanted.key), wanted.weight)
    for wanted in own.apart:
        push.add(pod_counts(cluster, wanted.query, wanted.key), wanted.weight)
    seen = (pod.namespace, cluster.namespace_labels(pod.namespace), pod.labels)
    matching = cluster.affinity.matching
    if hard_weight:
        for standing in matching(REQUIRED, *seen):
            pull.add(term_counts(cluster, standing), hard_weight)
    for standing in matching(PREFERRED, *seen):
        pull.add(term_counts(cluster, standing), standing.term.weight)
    for standing in matching(PREFERRED_ANTI, *seen):
        push.add(term_counts(cluster, standing), standing.term.weight)
    return _difference(pull.total, push.total)


def _difference(pull: DomainCounts | None, push: DomainCounts | None) -> Attraction | None:
    pulls = pull is not None and bool(pull.values.any())
    pushes = push is not None and bool(push.values.any())
    if pull is not None and (pulls or pushes):
        return Attraction(pull.minus(push) if push is not None and pushes else pull)
    return (
        Attraction(DomainCounts(-push.values, push.domain_ids))
        if push is not None and pushes
        else None
    )


def stretched(scores: fwk.Scores) -> fwk.Scores:
    """Scale scores so that the lowest is 0 and the highest 100; all 0 when they are equal."""
    if not len(scores):
        return scores
    low = scores.min()
    span = scores.max() - low
    if not span:
        return np.zeros_like(scores)
    # Dividing first costs some scores a point (29 of 100 becomes 28), as in kube-scheduler.
    shares: NDArray[np.float64] = (scores - low) / span
    return (100.0 * shares).astype(np.int64)
