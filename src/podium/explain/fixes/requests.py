"""Smaller requests: exactly as much as fits on some node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from podium.api import quantity, resources
from podium.api.objects import Container, Pod, ResourceRequirements
from podium.explain.amounts import listed, show
from podium.explain.case import Case, Verdicts
from podium.explain.fixes.candidate import Candidate, sums
from podium.explain.fixes.relaxations import may_fit_without
from podium.explain.shortfalls.resources import nominated_ahead, provided_to, requests_of

PLUGIN: Final = "NodeResourcesFit"
KIND: Final = "request"
_BOTH: Final = frozenset((PLUGIN, "DynamicResources"))
_MOST_ROWS: Final = 40
_MOST_WAYS: Final = 256

Amounts = dict[str, int]


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield requests that may fit, those that give up least first.

    Devices and what nodes have free are counted apart: last come requests with less of both.
    """
    if case.verdicts is None:
        return
    of_devices = list(_of_devices(case))
    with_both = (
        {**fewer, **devices}
        for fewer in (_of_nodes(case, case.verdicts, _BOTH) if of_devices else ())
        for devices in of_devices
    )
    of_nodes = _of_nodes(case, case.verdicts, frozenset((PLUGIN,)))
    ways = chain(of_nodes, of_devices, islice(with_both, _MOST_WAYS))
    for fewer in {str(each): each for each in ways}.values():
        yield candidate(case, fewer)


def _of_devices(case: Case) -> Iterator[Amounts]:
    """Yield smaller requests for resources that device classes provide."""
    wanted, names = requests_of(case), provided_to(case)
    limits = [wanted[name] for name in names]
    ways = (way for total in range(1, sum(limits) + 1) for way in sums(limits, total))
    for given_up in islice(ways, _MOST_WAYS):
        pairs = zip(names, given_up, strict=True)
        yield {name: wanted[name] - less for name, less in pairs if less}


def _of_nodes(case: Case, verdicts: Verdicts, plugins: frozenset[str]) -> Iterator[Amounts]:
    """Yield requests that nodes have room for which only these filters refuse.

    What pods of a lower priority have is room too, if the pod can preempt them. It cannot where it
    needs one of them, so that each node is tried with its free room as well.
    """
    rows = verdicts.rows[may_fit_without(case, verdicts, plugins)]
    wanted = requests_of(case)
    if not len(rows) or not wanted:
        return
    kept = [_kept(case, name, wanted[name], rows) for name in wanted]
    rows = np.tile(rows, len(_rooms(case)))
    lost = sum(1 - amounts / wanted[name] for name, amounts in zip(wanted, kept, strict=True))
    order = np.argsort(np.asarray(lost), kind="stable")[:_MOST_ROWS]
    for position in order.tolist():
        fewer = _fewer(wanted, kept, position)
        if fewer and not _is_crowded(case, int(rows[position])):
            yield fewer


def on(case: Case, row: int) -> Iterator[Candidate]:
    """Yield the requests that fit on one node; nothing if less of everything would not help."""
    wanted = requests_of(case)
    kept = [_kept(case, name, wanted[name], np.array([row], np.intp)) for name in wanted]
    for position in range(0 if _is_crowded(case, row) else len(_rooms(case))):
        fewer = _fewer(wanted, kept, position)
        if fewer:
            yield candidate(case, fewer)


def candidate(case: Case, fewer: Mapping[str, int]) -> Candidate:
    before = requests_of(case)
    parts = [
        f"{name} to {show(name, amount)}" if amount else f"{name} to 0"
        for name, amount in fewer.items()
    ]
    details = {
        "requests": {
            name: {"from": show(name, before[name]), "to": show(name, amount)}
            for name, amount in fewer.items()
        }
    }
    text = f"reduce the request for {listed(parts, most=9)}"
    return Candidate(KIND, text, lambda pod: shrink(pod, fewer), details=details)


def _fewer(wanted: Amounts, kept: list[NDArray[np.int64]], position: int) -> Amounts:
    pairs = zip(wanted, (int(amounts[position]) for amounts in kept), strict=True)
    return {name: amount for name, amount in pairs if amount < wanted[name]}


def _rooms(case: Case) -> tuple[bool, ...]:
    """Return what counts as room: whether what pods of lower priority have is a part of it."""
    return (True, False) if case.may_preempt(case.pod) else (False,)


def _kept(case: Case, name: str, wanted: int, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how much of a request each node has room for, first with preemption if there is."""
    rooms = [_room(case, name, rows, preempts=preempts) for preempts in _rooms(case)]
    if name in provided_to(case):
        has_devices = case.cluster.rows_at(rows).allocatable(name) == 0
        rooms = [np.where(has_devices, wanted, room) for room in rooms]
    return np.minimum(np.concatenate(rooms), wanted).clip(0)


def _room(case: Case, name: str, rows: NDArray[np.intp], *, preempts: bool) -> NDArray[np.int64]:
    """Return what the pod may request on each node; what nominated pods need is not free."""
    room = case.cluster.rows_at(rows).free(name).copy()
    if preempts:
        table = case.cluster.table
        below = table.resources.requested_below(case.pod.priority)
        room += below[table.resources.index[name]][rows]
    if len(case.core.nominator):
        for position, row in enumerate(rows.tolist()):
            room[position] -= _promised(case, name, row)
    return room


def _promised(case: Case, name: str, row: int) -> int:
    ahead = nominated_ahead(case, row)
    if name == resources.PODS:
        return len(ahead)
    return sum(info.requests.get(name, 0) for info in ahead)


def _is_crowded(case: Case, row: int) -> bool:
    """Return whether the node has no place for one more pod, whatever it requests."""
    preempts = case.may_preempt(case.pod)
    return int(_room(case, resources.PODS, np.array([row], np.intp), preempts=preempts)[0]) < 1


# --- the pod with smaller requests ----------------------------------------------------------------


def shrink(pod: Pod, most: Mapping[str, int]) -> Pod:
    """Return the pod with at most these requests in total, in the scheduler's units.

    The largest container gives up first. Nothing else about the pod changes.
    """
    for name, amount in most.items():
        unit = quantity.MILLI if name == resources.CPU else quantity.NANO
        overhead = quantity.stored(pod.spec.overhead.get(name, 0))
        pod = _shrink_one(pod, name, max(0, amount * unit - overhead))
    return pod


def _shrink_one(pod: Pod, name: str, most: int) -> Pod:
    """Shrink one resource to ``most`` nano units, without the pod's overhead."""
    spec = pod.spec
    inits, mains = list(spec.init_containers), list(spec.containers)
    sidecars = [index for index, each in enumerate(inits) if each.is_sidecar]
    together = [(mains, index) for index in range(len(mains))]
    _cut(together + [(inits, index) for index in sidecars], name, most)
    for index in range(len(inits)):  # what runs while an init container does
        running = [(inits, each) for each in sidecars if each < index]
        _cut([(inits, index), *running], name, most)
    changed = replace(spec, containers=tuple(mains), init_containers=tuple(inits))
    if spec.resources is not None and name in spec.resources.requests:
        changed = replace(changed, resources=_limited(spec.resources, name, most))
    return replace(pod, spec=changed)


def _cut(places: list[tuple[list[Container], int]], name: str, most: int) -> None:
    """Let the containers at these places request at most this much together."""
    held = [(_requested(inside[index], name), inside, index) for inside, index in places]
    excess = sum(amount for amount, _, _ in held) - most
    for amount, inside, index in sorted(held, key=lambda each: -each[0]):
        if excess <= 0:
            return
        cut = min(excess, amount)
        container = inside[index]
        limited = _limited(container.resources, name, amount - cut)
        inside[index] = replace(container, resources=limited)
        excess -= cut


def _requested(container: Container, name: str) -> int:
    return quantity.stored(container.resources.requests.get(name, 0))


def _limited(given: ResourceRequirements, name: str, amount: int) -> ResourceRequirements:
    """Return resources with this request. Where requests equal limits by rule, both are set."""
    if quantity.stored(given.requests.get(name, 0)) <= amount:
        return given
    style = quantity.style(given.requests[name])
    text = quantity.format(amount, style)
    requests, limits = {**given.requests, name: text}, dict(given.limits)
    if name in limits and not _may_overcommit(name):
        limits[name] = text
    return replace(given, requests=requests, limits=limits)


def _may_overcommit(name: str) -> bool:
    return name in (resources.CPU, resources.MEMORY, resources.EPHEMERAL_STORAGE)
