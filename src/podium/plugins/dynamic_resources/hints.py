"""Which changes of claims may help a pod that was rejected because of its claims."""

from __future__ import annotations

from typing import Final

import msgspec

from podium.api import quantity
from podium.api.objects import Pod, ResourceClaim, ResourceClaimStatus
from podium.api.resource_claims import claim_keys
from podium.framework.events import Topic
from podium.plugins.dynamic_resources.references import (
    FindClaim,
    OwnerProblem,
    Unresolved,
    can_be_resolved,
    claims_of,
)


def _concerned_claim(old: ResourceClaim | None, new: ResourceClaim | None) -> list[str] | None:
    """Return the key of the claim; ``None`` if devices become free, which may help all pods."""
    had = old is not None and old.status.allocation is not None
    has = new is not None and new.status.allocation is not None
    claim = new or old
    return None if claim is None or (had and not has) else [claim.key]


def _claims_that_concern(pod: Pod) -> set[str]:
    return set(claim_keys(pod))


# Without it the hint would be asked about each pod that waits for claims, at each change of one.
CLAIM_TOPIC: Final = Topic(_concerned_claim, _claims_that_concern)


def _differ(old: ResourceClaimStatus, new: ResourceClaimStatus) -> bool:
    """Whether two statuses differ in more than how quantities are written."""
    return old != new and _with_amounts(old) != _with_amounts(new)


def _with_amounts(status: ResourceClaimStatus) -> ResourceClaimStatus:
    """Return the status with numbers, in nano units, for the capacity that shares consume."""
    allocation = status.allocation
    if allocation is None:
        return status
    replace = msgspec.structs.replace
    results = tuple(
        replace(
            result,
            consumed_capacity={
                name: quantity.parse(amount) for name, amount in result.consumed_capacity.items()
            },
        )
        for result in allocation.devices.results
    )
    devices = replace(allocation.devices, results=results)
    return replace(status, allocation=replace(allocation, devices=devices))


class Hints:
    """The hints of the plugin. The cluster has changed already when they are asked."""

    def __init__(self, find: FindClaim, owner_problem: OwnerProblem) -> None:
        self._find = find
        self._owner_problem = owner_problem

    def claim_helps(self, pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None) -> bool:
        """Return whether a change of a claim frees devices, or is about a claim of the pod."""
        if new is None:
            return old is not None and old.status.allocation is not None
        try:
            claims = claims_of(pod, self._find, self._owner_problem)
        except Unresolved:
            return False
        if old is not None and old.status.allocation is not None and new.status.allocation is None:
            return True
        is_own = any(claim.uid == new.uid for claim in claims)
        return is_own and (old is None or _differ(old.status, new.status))

    def claims_were_made(self, pod: Pod, old: Pod | None, new: Pod) -> bool:
        """Return whether the pod itself has changed, and all of its claims exist now."""
        return new.uid == pod.uid and can_be_resolved(new, self._find, self._owner_problem)
