"""PreFilter: the claims of a pod, and what Filter has to decide about each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from podium import framework as fwk
from podium.api.objects import (
    AllocationResult,
    DeviceClass,
    DeviceRequest,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from podium.api.selectors import NodeSelectorMatcher, node_selector
from podium.errors import InvalidSelector
from podium.framework.cluster_devices import ClusterDevices
from podium.plugins.dynamic_resources.extended import Needs

Share = Callable[[ResourceClaim], AllocationResult | None]
FindClass = Callable[[str], DeviceClass | None]
PRIORITIZED_LIST = "has subrequests, but the DRAPrioritizedList feature is disabled"


@dataclass(slots=True, eq=False)
class PodClaims:
    """PreFilter's state.

    Each pod has its own, except ``NO_CLAIMS``, which pods without claims share: nothing may change
    it.

    ``claims`` has the claims that the pod names, followed by the one for its extended resources if
    ``has_extended``. PreBind replaces claims by what it has written. ``on_nodes`` has the node
    selectors of allocated claims. ``is_filtered`` says that Filter has run: without it Reserve has
    nothing to allocate. Filter fills in ``unavailable``, the indexes of allocated claims that
    cannot be used on some node. Reserve fills in ``reserved``, by the index of the claim, and
    ``needs``, what the claim for extended resources asks for on the node. ``in_doubt`` has the
    indexes of claims whose allocation may have been written: the API gave no clear answer.
    ``shared`` has the indexes of claims whose allocation is in flight for other members of the
    pod's group; here they look as if it were written already. ``of_group`` has the indexes of
    claims that are to be reserved ``for_group``, and not for the pod.
    """

    claims: list[ResourceClaim] = field(default_factory=list)
    has_extended: bool = False
    on_nodes: dict[int, NodeSelectorMatcher] = field(default_factory=dict)
    is_filtered: bool = False
    unavailable: set[int] = field(default_factory=set)
    needs: Needs | None = None
    reserved: dict[int, AllocationResult] = field(default_factory=dict)
    in_doubt: set[int] = field(default_factory=set)
    shared: set[int] = field(default_factory=set)
    of_group: frozenset[int] = frozenset()
    for_group: ResourceClaimConsumerReference | None = None

    @property
    def extended(self) -> ResourceClaim | None:
        """The claim for extended resources, if the pod asks for any that devices provide."""
        return self.claims[-1] if self.has_extended else None

    @property
    def named(self) -> list[ResourceClaim]:
        """The claims that the pod names."""
        return self.claims[:-1] if self.has_extended else self.claims

    @property
    def to_allocate(self) -> list[int]:
        """The indexes of the claims without an allocation."""
        return [at for at, claim in enumerate(self.claims) if claim.status.allocation is None]

    @property
    def deallocatable(self) -> Iterator[ResourceClaim]:
        """The claims that some node cannot use, without the one for extended resources."""
        found = sorted(self.unavailable - self.shared)
        return (self.claims[at] for at in found if at < len(self.named))


NO_CLAIMS: Final = PodClaims()


def check(claims: PodClaims, devices: ClusterDevices, share: Share) -> fwk.Status:
    """Return why the claims cannot be used on any node; success if they may be.

    It notes on which nodes the allocated ones can be used. ``share`` returns the allocation in
    flight of a claim if the pod may use it.
    """
    for index, claim in enumerate(claims.claims):
        if claim.status.allocation is None and (pending := share(claim)) is not None:
            claim = claims.claims[index] = _with_allocation(claim, pending)
            claims.shared.add(index)
        if claim.status.allocation is not None:
            try:
                reach = reach_of(claim)
            except InvalidSelector as problem:
                return fwk.Status.error(problem)
            if reach is not None:
                claims.on_nodes[index] = reach
            continue
        if devices.is_in_flight(claim):
            text = f"resource claim {claim.key} is in the process of being allocated"
            return fwk.Status.unresolvable(text)
        if claim is not claims.extended:
            has_alternatives = devices.rules.prioritized_list
            status = problem_of(claim, devices.classes.get, prioritized_list=has_alternatives)
            if not status.ok:
                return status
    return fwk.SUCCESS


def _with_allocation(claim: ResourceClaim, allocation: AllocationResult) -> ResourceClaim:
    status = msgspec.structs.replace(claim.status, allocation=allocation)
    return msgspec.structs.replace(claim, status=status)


def problem_of(claim: ResourceClaim, find: FindClass, *, prioritized_list: bool) -> fwk.Status:
    """Return why a claim cannot be allocated on any node; success if nothing is wrong with it."""
    for request in claim.spec.devices.requests:
        if request.exactly is None and not request.first_available:
            return _refused(claim, request, "unknown request type")
        if request.exactly is None and not prioritized_list:
            return _refused(claim, request, PRIORITIZED_LIST)
        for name, class_name in _classes_of(request):
            if not class_name:
                return fwk.Status.error(f"request {name}: unsupported request type")
            if find(class_name) is None:
                text = f"request {name}: device class {class_name} does not exist"
                return fwk.Status.unresolvable(text)
    return fwk.SUCCESS


def _classes_of(request: DeviceRequest) -> Iterator[tuple[str, str]]:
    """Yield the name of each request or alternative, and the class that it asks for."""
    if request.exactly is not None:
        yield request.name, request.exactly.device_class_name
    else:
        for alternative in request.first_available:
            yield f"{request.name}/{alternative.name}", alternative.device_class_name


def _refused(claim: ResourceClaim, request: DeviceRequest, why: str) -> fwk.Status:
    return fwk.Status.unresolvable(f"resource claim {claim.key}, request {request.name}: {why}")


def reach_of(claim: ResourceClaim) -> NodeSelectorMatcher | None:
    """Return on which nodes an allocated claim can be used; ``None`` means on all.

    Raises ``InvalidSelector`` if the allocation says it wrongly.
    """
    allocation = claim.status.allocation
    if allocation is None or allocation.node_selector is None:
        return None
    matcher = node_selector(allocation.node_selector)
    matcher.check()
    return matcher
