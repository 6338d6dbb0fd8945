"""Which devices a node lacks for the pod's resource claims, and which pods have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from podium.api.devices import DeviceClass, DeviceSelector
from podium.api.objects import DeviceRequest, ResourceClaim
from podium.errors import PodiumError
from podium.explain.amounts import MOST_HOLDERS, holder, listed, plural
from podium.explain.case import Case
from podium.explain.shortfalls.device_holders import Conditions, expressions, holders
from podium.explain.values import Shortfall
from podium.framework.status import Status
from podium.plugins.dynamic_resources.pod_claims import PodClaims, reach_of

PLUGIN = "DynamicResources"


def unavailable(case: Case, status: Status, row: int) -> list[Shortfall]:
    if "cannot allocate" in status.message:
        found = [_lacking(case, status, wish, row) for wish in _wishes(case)]
        return [each for each in found if _is_short(each)] or found
    if "not available on the node" in status.message:
        return list(_elsewhere(case, status, row))
    return []


@dataclass(frozen=True, slots=True)
class _Wish:
    """What requests of the pod's claims ask for together: so many devices of these classes."""

    claims: tuple[str, ...]
    requests: tuple[str, ...]
    classes: tuple[str, ...]
    count: int
    is_picky: bool  # selectors leave some devices of the class out
    conditions: tuple[Conditions, ...]  # of each request and alternative

    def and_also(self, other: _Wish) -> _Wish:
        return _Wish(
            tuple(dict.fromkeys((*self.claims, *other.claims))),
            (*self.requests, *other.requests),
            self.classes,
            self.count + other.count,
            self.is_picky or other.is_picky,
            (*self.conditions, *other.conditions),
        )


def _wishes(case: Case) -> list[_Wish]:
    """Return what the claims without an allocation ask for, by device class."""
    claims = case.kept(PodClaims)
    found: dict[tuple[str, ...], _Wish] = {}
    for index in () if claims is None else claims.to_allocate:
        assert claims is not None
        claim = claims.claims[index]
        for request in claim.spec.devices.requests:
            wish = _wish(case, claim, request)
            known = found.get(wish.classes)
            found[wish.classes] = wish if known is None else known.and_also(wish)
    return list(found.values())


def _wish(case: Case, claim: ResourceClaim, request: DeviceRequest) -> _Wish:
    exact = request.exactly
    names = [exact.device_class_name] if exact is not None else []
    names += [each.device_class_name for each in request.first_available]
    count = exact.count or 1 if exact is not None else 1
    is_picky = exact is not None and bool(exact.selectors)
    classes = case.core.services.devices.classes
    asked = [(each.device_class_name, each.selectors) for each in request.first_available]
    if exact is not None:
        asked.append((exact.device_class_name, exact.selectors))
    conditions = tuple(
        expressions((*_class_selectors(classes, name), *selectors)) for name, selectors in asked
    )
    return _Wish((claim.name,), (request.name,), tuple(names), count, is_picky, conditions)


def _class_selectors(classes: Mapping[str, DeviceClass], name: str) -> Sequence[DeviceSelector]:
    found = classes.get(name)
    return () if found is None else found.spec.selectors


def _lacking(case: Case, status: Status, wish: _Wish, row: int) -> Shortfall:
    total, taken = _totals(case, wish.classes, row)
    which = f"claim {wish.claims[0]} wants" if len(wish.claims) == 1 else "its claims together want"
    devices = f"{plural(wish.count, 'device')} of class {listed(wish.classes)}"
    picky = ", but too few match its selectors" if wish.is_picky and total else ""
    text = f"{which} {devices}; the node has {_amount(total, taken)}{picky}"
    details = {
        "request": ", ".join(wish.requests), "claims": list(wish.claims),
        "deviceClasses": list(wish.classes), "wanted": wish.count,
        "devices": total, "taken": taken,
    }  # fmt: skip
    having = holders(case, row, wish.conditions)[:MOST_HOLDERS]
    shown = tuple(map(holder, having))
    return Shortfall("DevicesUnavailable", PLUGIN, status.message, text, details, shown)


def _is_short(found: Shortfall) -> bool:
    details = found.details
    return bool(details["devices"] - details["taken"] < details["wanted"])


def _amount(total: int, taken: int) -> str:
    if not total:
        return "none"
    if not taken:
        return str(total)
    if total == taken:
        return f"{total}, and {'it is' if total == 1 else 'all are'} taken"
    return f"{total}, of which {taken} {'is' if taken == 1 else 'are'} taken"


def _totals(case: Case, names: Iterable[str], row: int) -> tuple[int, int]:
    devices = case.core.services.devices
    total = taken = 0
    for name in names:
        device_class = devices.classes.get(name)
        if device_class is not None:
            found = devices.class_totals(device_class, np.array([row], np.intp))
            total, taken = total + int(found[0][0]), taken + int(found[1][0])
    return total, taken


def _elsewhere(case: Case, status: Status, row: int) -> Iterator[Shortfall]:
    node, claims = case.node(row), case.kept(PodClaims)
    for claim in () if claims is None else claims.claims:
        try:
            reach = reach_of(claim)
        except PodiumError:
            continue
        if reach is not None and not reach.matches(node.labels, node.name):
            text = f"claim {claim.name} has devices that can only be used on other nodes"
            details = {"claim": claim.key}
            yield Shortfall("ClaimAllocatedElsewhere", PLUGIN, status.message, text, details)


def unknown_classes(case: Case) -> Iterator[str]:
    """Yield the device classes that claims of the pod name and that do not exist."""
    known, store = case.core.services.devices.classes, case.cluster.objects(ResourceClaim)
    statuses = {
        each.name: each.resource_claim_name for each in case.pod.status.resource_claim_statuses
    }
    for reference in case.pod.spec.resource_claims:
        name = reference.resource_claim_name or statuses.get(reference.name)
        claim = store.get(f"{case.pod.namespace}/{name}")
        for request in () if claim is None else claim.spec.devices.requests:
            asked = [each.device_class_name for each in request.first_available]
            if request.exactly is not None:
                asked.append(request.exactly.device_class_name)
            yield from (each for each in asked if each and each not in known)
