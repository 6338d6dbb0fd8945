"""The nodes that come closest to taking a pod, and what exactly each of them lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.shortfalls import describe
from podium.explain.shortfalls.nodes import UNTOLERATED
from podium.explain.shortfalls.resources import requests_of
from podium.explain.values import NearMiss, Shortfall

MOST: Final = 5
_DESCRIBED: Final = 16


def near_misses(case: Case) -> tuple[NearMiss, ...]:
    """Return the nearest nodes, at first one for each set of filters that refuse."""
    rows = nearest(case)
    described = [(row, shortfalls_of(case, row)) for row in rows[:_DESCRIBED]]
    described.sort(key=lambda pair: len(pair[1]))
    return tuple(_miss(case, row, found) for row, found in described[:MOST])


def nearest(case: Case) -> list[int]:
    """Return the rows of refused nodes: different reasons first, then by how much is missing."""
    verdicts = case.verdicts
    if verdicts is None:
        return []
    counts = verdicts.counts
    refused = np.flatnonzero(counts)
    order = refused[np.lexsort((_missing(case)[refused], counts[refused]))]
    masks = np.zeros(len(counts), np.int64)
    for bit, mask in enumerate(verdicts.refused.values()):
        masks += mask.astype(np.int64) << min(bit, 62)
    _, firsts = np.unique(masks[order], return_index=True)
    ahead = order[np.sort(firsts)]
    behind = order[~np.isin(order, ahead)]
    return [int(row) for row in verdicts.rows[np.concatenate((ahead, behind))]]


def _missing(case: Case) -> np.typing.NDArray[np.float64]:
    """Return for each node how much of the requests is missing, as a sum of fractions."""
    verdicts = case.verdicts
    assert verdicts is not None
    nodes = case.cluster.rows_at(verdicts.rows)
    total = np.zeros(len(nodes))
    for name, amount in requests_of(case).items():
        total += np.clip(amount - nodes.free(name), 0, None) / amount
    return total


def shortfalls_of(case: Case, row: int) -> list[Shortfall]:
    """Return everything that keeps the pod off this node."""
    verdicts = case.verdicts
    if verdicts is None:
        return []
    position = int(np.searchsorted(verdicts.rows, row))
    return [
        each for status in verdicts.of(position).values() for each in describe(case, status, row)
    ]


def _miss(case: Case, row: int, found: list[Shortfall]) -> NearMiss:
    return NearMiss(case.cluster.table.names[row], "; ".join(texts_of(found)), tuple(found))


def texts_of(found: Sequence[Shortfall]) -> list[str]:
    """Return what is missing in words, each thing once and all taints together."""
    texts = dict.fromkeys(each.text for each in found if not _is_cordon_taint(each, found))
    taints = [text.removeprefix(UNTOLERATED) for text in texts if text.startswith(UNTOLERATED)]
    if len(taints) < 2:
        return list(texts)
    together = f"{UNTOLERATED}s {listed(map(str.strip, taints), most=9)}"
    return [together, *(text for text in texts if not text.startswith(UNTOLERATED))]


def _is_cordon_taint(each: Shortfall, found: Sequence[Shortfall]) -> bool:
    """Return whether this is the taint that every cordoned node has: "cordoned" says it."""
    is_cordoned = any(other.code == "NodeUnschedulable" for other in found)
    return is_cordoned and each.code == "UntoleratedTaint" and not each.details
