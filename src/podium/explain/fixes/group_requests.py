"""Smaller requests of the pods of a group: at most so much of one resource for each of them.

Whether a group fits changes where some pods fill a node exactly: ``k`` pods of the limit, beside
pods that request less. So the limits to try are what a node has free, less what some smaller pods
request, divided by ``k``. A limit just below what a pod requests changes one pod more, and pods
that are created again are tried after the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api import resources
from podium.api.objects import Pod, PodGroup
from podium.api.resources import spec_requests
from podium.explain.amounts import show
from podium.explain.case import Case
from podium.explain.fixes.candidate import Candidate
from podium.explain.fixes.requests import shrink
from podium.explain.group_trials import members, placed_count, try_group

_MOST_LIMITS: Final = 64
_MOST_ROOMS: Final = 64  # different amounts that nodes have free
_MOST_SUMS: Final = 256


def by_resource(case: Case, group: PodGroup) -> Iterator[Iterator[Candidate]]:
    """Yield, for each resource that the members request, the limits that may help."""
    waiting = members(case)
    names = dict.fromkeys(name for pod in waiting for name in spec_requests(pod)[0])
    needed = group.min_count - placed_count(case)
    for name in names:
        if name != resources.PODS and 0 < needed <= len(waiting):
            yield _limited(case, group, name, needed)


def _limited(case: Case, group: PodGroup, name: str, needed: int) -> Iterator[Candidate]:
    """Yield limits for one resource, the highest first; none if not even the lowest helps."""
    waiting = members(case)
    wanted = [spec_requests(pod)[0].get(name, 0) for pod in waiting]
    if try_group(case, (), [_shrunk(pod, name, 1) for pod in waiting]) is None:
        return
    rooms = [int(each) for each in np.unique(case.cluster.rows().free(name))[::-1] if each > 0]
    free = case.cluster.rows().free(name)
    tried = 0
    for limit in sorted(_limits(rooms[:_MOST_ROOMS], wanted), reverse=True):
        if _may_fit(free, [min(each, limit) for each in wanted], needed):
            yield _candidate(group, name, limit, wanted)
            tried += 1
        if tried == _MOST_LIMITS:
            return


def _limits(rooms: Sequence[int], wanted: Sequence[int]) -> set[int]:
    highest = max(wanted)
    sums = _sums(wanted)
    just_below = {each - 1 for each in wanted if each > 1}
    return just_below | {
        (room - taken) // count
        for room in rooms
        for taken in sums
        for count in range(max(1, (room - taken) // highest), min(len(wanted), room - taken) + 1)
        if 0 < (room - taken) // count < highest
    }


def _sums(amounts: Sequence[int]) -> set[int]:
    """Return what some of these amounts are together, for any of them."""
    sums = {0}
    for amount in sorted(amounts):
        if len(sums) < _MOST_SUMS:
            sums |= {each + amount for each in sums}
    return sums


def _may_fit(free: NDArray[np.int64], sizes: list[int], least: int) -> bool:
    """Return whether so many pods of these sizes may fit: neither too large nor too many."""
    smallest = sorted(sizes)[:least]
    room = free.clip(0)
    counted = int((room // max(smallest[0], 1)).sum())
    return sum(smallest) <= int(room.sum()) and least <= counted and smallest[-1] <= int(room.max())


def _candidate(group: PodGroup, name: str, limit: int, wanted: Sequence[int]) -> Candidate:
    text = (
        f"reduce the request for {name} of each pod of the pod group {group.key} "
        f"to at most {show(name, limit)}"
    )
    return Candidate(
        "group-request",
        text,
        partial(_shrunk, name=name, limit=limit),
        details={
            "group": group.key,
            "resource": name,
            "from": show(name, max(wanted)),
            "to": show(name, limit),
        },
    )


def _shrunk(pod: Pod, name: str, limit: int) -> Pod:
    return shrink(pod, {name: limit}) if spec_requests(pod)[0].get(name, 0) > limit else pod
