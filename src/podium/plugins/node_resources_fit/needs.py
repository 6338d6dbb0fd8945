"""What a pod needs of a node, and how a node that lacks it is rejected."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import Pod
from podium.framework.status import SUCCESS, Status

_BY_NAME = (resources.CPU, resources.MEMORY, resources.EPHEMERAL_STORAGE)
_ONE_POD = (resources.PODS, 1)

Needs = tuple[tuple[str, int], ...]
"""Resources and amounts, in the order in which reasons are reported: first one of ``pods``."""


def needs_of(pod: Pod) -> Needs:
    """Return all resources of which the pod requests more than 0."""
    requests = dict(resources.spec_requests(pod)[0])
    requests.pop(resources.PODS, None)
    needs = [_ONE_POD]
    needs += [(name, requests.pop(name)) for name in _BY_NAME if name in requests]
    if requests:
        needs += sorted(requests.items())
    return tuple([need for need in needs if need[1] > 0])


def shortages(
    needs: Needs, nodes: fwk.NodeInfo | fwk.Rows, provided: Collection[str] = ()
) -> Iterator[bool | NDArray[np.bool_]]:
    """Yield for each need whether too little is free: a bool for a node, an array for a view.

    What devices provide is left to DynamicResources on nodes that do not offer the resource.
    """
    for name, amount in needs:
        is_short = amount > nodes.free(name)
        yield is_short & (nodes.allocatable(name) > 0) if name in provided else is_short


def fits_everywhere(needs: Needs, nodes: fwk.Rows) -> bool:
    """Return whether all nodes have enough of everything, the quick check for the usual case."""
    for name, amount in needs:
        if np.minimum.reduce(nodes.free(name), initial=amount) < amount:
            return False
    return True


def unresolvable(
    needs: Needs, nodes: fwk.NodeInfo | fwk.Rows, provided: Collection[str] = ()
) -> Iterator[bool | NDArray[np.bool_]]:
    """Yield for each need except ``pods`` whether even an empty node would have too little."""
    for name, amount in needs[1:]:
        offered = nodes.allocatable(name)
        is_short = amount > offered
        yield is_short & (offered > 0) if name in provided else is_short


@lru_cache(maxsize=4096)
def rejection(names: tuple[str, ...], short: int, is_unresolvable: bool) -> Status:
    """Return the status for a set of shortages; bit ``i`` of ``short`` is for ``names[i]``."""
    reasons = tuple(_reason(name) for bit, name in enumerate(names) if short >> bit & 1)
    if not reasons:
        return SUCCESS
    return Status.unresolvable(*reasons) if is_unresolvable else Status.unschedulable(*reasons)


def _reason(name: str) -> str:
    return "Too many pods" if name == resources.PODS else f"Insufficient {name}"
