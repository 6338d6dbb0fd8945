"""Which devices a node lacks for the pod's resource claims, and which pods have them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from podium.api.objects import ResourceClaim
from podium.errors import PodiumError
from podium.explain.amounts import MOST_HOLDERS, holder
from podium.explain.case import Case
from podium.explain.shortfalls.device_holders import holders
from podium.explain.shortfalls.device_wishes import Supply, Wish, supply_of, wishes_of
from podium.explain.values import Shortfall
from podium.framework.status import Status
from podium.plugins.dynamic_resources.pod_claims import PodClaims, reach_of

PLUGIN = "DynamicResources"
_NOT_ALL = ", but cannot serve everything that the pod asks for at once"


def unavailable(case: Case, status: Status, row: int) -> list[Shortfall]:
    if "cannot allocate" in status.message:
        pairs = [(wish, supply_of(case, wish, row)) for wish in wishes_of(case, row)]
        short = [(wish, supply) for wish, supply in pairs if wish.is_short(supply)]
        found = [_lacking(case, status, *each, row) for each in short or pairs]
        return found if short else [replace(each, text=each.text + _NOT_ALL) for each in found]
    if "not available on the node" in status.message:
        return list(_elsewhere(case, status, row))
    return []


def _lacking(case: Case, status: Status, wish: Wish, supply: Supply, row: int) -> Shortfall:
    details = {
        "request": ", ".join(wish.requests), "claims": list(wish.claims),
        "deviceClasses": wish.classes, "wanted": wish.count, "devices": supply.total,
        "unmatched": supply.unmatched, "taken": supply.taken, "tainted": supply.tainted,
    }  # fmt: skip
    having = holders(case, row, [way.conditions for way in wish.ways])[:MOST_HOLDERS]
    text = f"{wish.text}; the node has {supply.text}"
    shown = tuple(map(holder, having))
    return Shortfall("DevicesUnavailable", PLUGIN, status.message, text, details, shown)


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
