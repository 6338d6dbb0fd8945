"""Which pods on a node have devices that a pending pod could use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from podium.api.devices import DeviceSelector
from podium.api.objects import Pod, ResourceClaim, ResourceSlice
from podium.devices.contents import KnownDevice
from podium.errors import EvaluationError, InvalidExpression
from podium.explain.case import Case
from podium.release import Release
from podium.state.pod_info import PodInfo

if TYPE_CHECKING:
    from podium.cel import DeviceView

Conditions = tuple[str, ...]
"""The selectors of a request and of its device class, all of which a device must match."""


class _DeviceId(NamedTuple):
    driver: str
    pool: str
    device: str


def device_users(case: Case, row: int) -> list[PodInfo]:
    """Return the pods on a node that have allocated claims."""
    return [info for info in case.node(row).pods if info.pod.spec.resource_claims]


def holders(case: Case, row: int, wanted: Sequence[Conditions]) -> list[PodInfo]:
    """Return the pods on a node with a device that matches one of these lists of selectors."""
    users = [(info, _allocated(case, info.pod)) for info in device_users(case, row)]
    suitable = _suitable(case, {each for _, ids in users for each in ids}, wanted)
    return [info for info, ids in users if ids & suitable]


def expressions(selectors: Iterable[DeviceSelector]) -> Conditions:
    return tuple(each.cel.expression for each in selectors if each.cel is not None)


def _allocated(case: Case, pod: Pod) -> set[_DeviceId]:
    """Return the devices of a pod's claims."""
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    found: set[_DeviceId] = set()
    for reference in pod.spec.resource_claims:
        name = reference.resource_claim_name or made.get(reference.name)
        claim = case.cluster.objects(ResourceClaim).get(f"{pod.namespace}/{name}")
        allocation = None if claim is None else claim.status.allocation
        for one in () if allocation is None else allocation.devices.results:
            found.add(_DeviceId(one.driver, one.pool, one.device))
    return found


def matches_all(texts: Conditions, view: DeviceView, release: Release) -> bool:
    """Return whether a device matches all selectors; one that fails does not match."""
    from podium.cel import compile_selector  # slow to load, and few clusters have devices

    try:
        return all(compile_selector(text, release).matches(view) for text in texts)
    except (InvalidExpression, EvaluationError):
        return False


def _suitable(
    case: Case, ids: set[_DeviceId], wanted: Sequence[Conditions]
) -> frozenset[_DeviceId]:
    pools = {(each.driver, each.pool) for each in ids}
    rules = case.core.services.device_rules
    found: set[_DeviceId] = set()
    for spec in (each.spec for each in case.cluster.objects(ResourceSlice)):
        if (spec.driver, spec.pool.name) in pools:
            for device in spec.devices:
                one = _DeviceId(spec.driver, spec.pool.name, device.name)
                view = KnownDevice(device, rules).view(spec.driver, rules)
                if one in ids and any(matches_all(each, view, rules.release) for each in wanted):
                    found.add(one)
    return frozenset(found)
