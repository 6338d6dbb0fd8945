"""Pods that are in the way: one that goes, or those that a higher priority evicts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final

from podium.api import resources
from podium.api.affinity_terms import affinity_terms
from podium.explain.amounts import owner_of
from podium.explain.case import Case, Verdicts
from podium.explain.edits import departure
from podium.explain.fixes.candidate import Candidate, deletion
from podium.explain.fixes.relaxations import rows_by_nearness
from podium.explain.shortfalls.device_holders import device_users
from podium.explain.shortfalls.nodes import port_holders
from podium.explain.shortfalls.resources import provided_to, requests_of
from podium.explain.shortfalls.topology import (
    broken_constraints,
    opponents,
    spread_with,
    topology_keys,
    unwanted,
)
from podium.explain.shortfalls.volumes import claim_rivals, disk_rivals
from podium.framework.status import Code, Status
from podium.state.pod_info import PodInfo

MOST_TRIED: Final = 48
_COMES_BACK: Final = ("DaemonSet", "Node")  # owners that recreate a pod on the same node

Find = Callable[[Case, int], Iterable[PodInfo]]


def gone(case: Case) -> Iterator[Candidate]:
    """Yield single pods whose deletion may help, the least important and smallest first."""
    found = {info.uid: info for info in _worth_trying(case)}
    infos = sorted(found.values(), key=lambda info: (info.priority, _size(info), info.key))
    for info in infos[:MOST_TRIED]:
        yield _without(case, info)


def on(case: Case, plugin: str, row: int) -> Iterator[Candidate]:
    """Yield single pods without which a filter may not refuse a node."""
    for info in _BY_PLUGIN[plugin](case, row) if plugin in _BY_PLUGIN else ():
        if not _comes_back(info):
            yield _without(case, info)


def _without(case: Case, info: PodInfo) -> Candidate:
    owner = owner_of(info.pod)
    again = f" (its {owner} will make another)" if owner else ""
    text = f"delete pod {info.key}{again}"
    return Candidate(
        "pod-gone",
        text,
        edits=tuple(departure(case.cluster, info)),
        changes=(deletion("Pod", info.key, text),),
        details={"priority": info.priority},
        victims=(info.key,),
    )


def _size(info: PodInfo) -> int:
    return info.requests.get(resources.CPU, 0)


def _worth_trying(case: Case) -> Iterator[PodInfo]:
    """Yield all pods if they are few, and else those that are in the way."""
    if case.verdicts is None:
        return iter(())
    placed = case.cluster.pods
    found = iter(placed.values()) if len(placed) <= MOST_TRIED else _in_the_way(case, case.verdicts)
    return (info for info in found if not _comes_back(info))


def _comes_back(info: PodInfo) -> bool:
    controller = info.pod.controller
    return controller is not None and controller.kind in _COMES_BACK


def _in_the_way(case: Case, verdicts: Verdicts) -> Iterator[PodInfo]:
    """Yield the pods that may keep the pod off a node that only pods keep it off."""
    possible = verdicts.refused_only_by(_BY_PLUGIN)
    rows = set(verdicts.rows[possible].tolist())
    position_of = {int(row): position for position, row in enumerate(verdicts.rows.tolist())}
    keys, seen = topology_keys(case), set()
    for row in [each for each in rows_by_nearness(case) if each in rows]:
        refusals = verdicts.of(position_of[row])
        fit = refusals.get("NodeResourcesFit")
        if fit is not None and fit.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            continue  # the node is too small even without pods
        where = _where(case, keys, frozenset(refusals), row)
        if where in seen:
            continue
        seen.add(where)
        yield from _blockers(case, refusals, row)


def _where(case: Case, keys: list[str], refusing: frozenset[str], row: int) -> Hashable:
    """Return what decides which pods are in the way: only domains, or the node itself."""
    if not refusing <= {"PodTopologySpread", "InterPodAffinity"}:
        return row
    labels = case.node(row).labels
    return refusing, tuple(map(labels.get, keys))


def _blockers(case: Case, refusals: Mapping[str, Status], row: int) -> list[PodInfo]:
    """Return the pods that each filter which refuses the node may be satisfied without."""
    sets = [{info.uid: info for info in _BY_PLUGIN[plugin](case, row)} for plugin in refusals]
    common = set(sets[0]).intersection(*sets[1:])
    return [sets[0][uid] for uid in common]


def _large(case: Case, row: int) -> Iterator[PodInfo]:
    """Yield the pods on a node that alone hold what is missing."""
    node, provided = case.node(row), provided_to(case)
    missing = {
        name: amount - free
        for name, amount in requests_of(case).items()
        if name not in provided and (free := node.free(name)) < amount
    }
    for info in node.pods:
        if all(info.requests.get(name, 0) >= amount for name, amount in missing.items()):
            yield info


def _with_ports(case: Case, row: int) -> Iterator[PodInfo]:
    for port in dict.fromkeys(resources.host_ports(case.pod)):
        yield from port_holders(case, port, row)


def _spread(case: Case, row: int) -> Iterator[PodInfo]:
    for broken in broken_constraints(case, row):
        if broken.skew == broken.constraint.max_skew + 1:
            yield from spread_with(case, broken)


def _repelling(case: Case, row: int) -> list[PodInfo]:
    """Return the pod in the node's domains that excludes the pod, if it is the only one."""
    found = {info.uid: info for info, _ in opponents(case, row)}
    for term in affinity_terms(case.pod).required_anti:
        found |= {info.uid: info for info in unwanted(case, term, row)}
    return list(found.values()) if len(found) == 1 else []


def _rivals(case: Case, row: int) -> Iterator[PodInfo]:
    yield from disk_rivals(case, row)
    yield from claim_rivals(case)


def _with_volumes(case: Case, row: int) -> Iterator[PodInfo]:
    return (info for info in case.node(row).pods if info.volumes)


_BY_PLUGIN: Final[Mapping[str, Find]] = {
    "NodeResourcesFit": _large,
    "NodePorts": _with_ports,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _repelling,
    "VolumeRestrictions": _rivals,
    "NodeVolumeLimits": _with_volumes,
    "DynamicResources": device_users,
}
