"""DynamicResources for pod groups: claims that members share, and claims of a whole group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from podium import framework as fwk
from podium.api.objects import AllocationResult, Pod, PodGroup, ResourceClaim
from podium.api.pod_groups import PodGroupResourceClaim
from podium.api.resource_claims import group_consumer
from podium.framework.group_trial import GroupTrial, Nominations
from podium.framework.plugin import PodGroupPostFilterPlugin
from podium.framework.status import as_status
from podium.plugins.dynamic_resources import NO_ALLOCATION, NO_STATE, DynamicResources
from podium.plugins.dynamic_resources.binder import GroupBinder, WorkloadBinder
from podium.plugins.dynamic_resources.pod_claims import PodClaims
from podium.plugins.dynamic_resources.references import (
    Unresolved,
    indexes_of,
    owned_by_pod_or_group,
)

RELEASED: Final = fwk.Status.unschedulable("deallocation and deletion of ResourceClaims completed")
GROUP_DEALLOCATED: Final = fwk.Status.unschedulable(
    "deallocation of PodGroup ResourceClaim completed"
)
GROUP_UNRESERVED: Final = fwk.Status.unresolvable("ResourceClaim unreserved for PodGroup")


class GroupDynamicResources(DynamicResources, PodGroupPostFilterPlugin):
    """DynamicResources with the feature gate GenericWorkload."""

    binder = GroupBinder

    def shared_allocation(self, pod: Pod, claim: ResourceClaim) -> AllocationResult | None:
        """Members of a group may use what others of them have reserved and not written yet.

        Otherwise a gang whose members share a claim could never be placed: they all wait for one
        another before the first of them writes it.
        """
        holders = self._devices.holders(claim) if pod.group_key else ()
        if not holders:
            return None
        members = self._handle.cluster.members(pod.group_key).pods
        return self._devices.pending(claim) if all(uid in members for uid in holders) else None

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | None:
        status = super().reserve(state, pod, node_name)
        claims = state.find(PodClaims)
        if claims is None or not claims.shared or not as_status(status).ok:
            return status
        for index in claims.shared:
            claim = claims.claims[index]
            pending = self._devices.pending(claim)
            if pending is None:
                return NO_ALLOCATION  # whoever reserved it was refused in the end
            claims.reserved[index] = pending
            self._devices.reserve(claim, pending, pod.uid)
        return status

    async def pod_group_post_filter(self, trial: GroupTrial) -> tuple[Nominations, fwk.Status]:
        """Give back a claim for each member that has one it cannot use.

        As upstream it says so even if there is no claim, and fails if no member came this far.
        """
        states = trial.states
        tried = [(states[pod.uid].find(PodClaims), pod) for pod in trial.pods if pod.uid in states]
        found = [(claims, pod) for claims, pod in tried if claims is not None]
        if not found:
            return {}, NO_STATE
        helped = [self._releases.give_back(claims, pod) is not None for claims, pod in found]
        if not all(helped):
            group, own = trial.group, [claims for claims, _ in found]
            status = self.give_back_for_group(group, own) if isinstance(group, PodGroup) else None
            if status is not None:
                return {}, status
        return {}, RELEASED

    def give_back_for_group(self, group: PodGroup, found: list[PodClaims]) -> fwk.Status | None:
        """Give back a claim of the whole group; ``None`` if there is none."""
        return None


class TopologyGroupDynamicResources(GroupDynamicResources):
    """DynamicResources with the feature gate TopologyAwareWorkloadScheduling."""

    async def pod_group_post_filter(self, trial: GroupTrial) -> tuple[Nominations, fwk.Status]:
        """Give back nothing for a group with constraints, or a group of groups, as upstream."""
        group = trial.group
        if not isinstance(group, PodGroup) or group.spec.scheduling_constraints is not None:
            return {}, fwk.Status.unschedulable()
        return await super().pod_group_post_filter(trial)


class WorkloadDynamicResources(GroupDynamicResources):
    """DynamicResources with the feature gate DRAWorkloadResourceClaims.

    A claim that the pod and its group name in the same way is reserved for the whole group, by the
    first member that is bound. It may also have been made from a template for the group.
    """

    group_kinds = (PodGroup,)
    binder = WorkloadBinder

    def __init__(self, args: Any, handle: fwk.Handle) -> None:
        super().__init__(args, handle)
        self._groups = handle.cluster.objects(PodGroup)

    def owner_problem(self, pod: Pod, claim: ResourceClaim) -> str:
        return owned_by_pod_or_group(pod, claim)

    def pod_claims(self, pod: Pod, named: list[ResourceClaim]) -> PodClaims:
        claims = PodClaims(named)
        group = self._groups.get(pod.group_key) if pod.group_key else None
        if group is not None and group.spec.resource_claims:
            claims.of_group = frozenset(indexes_of(pod, names_in_common(pod, group)))
            claims.for_group = group_consumer(group)
        return claims

    def give_back_for_group(self, group: PodGroup, found: list[PodClaims]) -> fwk.Status | None:
        """Give back a claim that is kept for the group alone, if no member uses it yet."""
        if self._handle.cluster.members(group.key).scheduled_count:
            return None
        for claims in found:
            for claim in claims.deallocatable:
                if all(user.uid == group.uid for user in claim.status.reserved_for):
                    work = self._releases.deallocate(claim)
                    self._handle.spawn(f"deallocation of claim {claim.key}", work)
                    return GROUP_DEALLOCATED
        try:
            reserved = next(self._reserved_for(group), None)
        except Unresolved as problem:
            return fwk.Status.error(str(problem))
        if reserved is None:
            return None
        work = self._releases.remove_group(reserved, group)
        self._handle.spawn(f"reservation of claim {reserved.key}", work)
        return GROUP_UNRESERVED

    def _reserved_for(self, group: PodGroup) -> Iterator[ResourceClaim]:
        """Return the allocated claims of the group that are reserved for it."""
        for entry in group.spec.resource_claims:
            name = name_of(group, entry)
            if name is None:
                continue
            key = f"{group.namespace}/{name}"
            claim = self._claims.get(key)
            if claim is None:
                raise Unresolved(f'could not find ResourceClaim "{key}"')
            if entry.resource_claim_name is None and not claim.is_made_for(group.uid):
                continue
            is_allocated = claim.status.allocation is not None
            if is_allocated and claim.is_reserved_for_group(group.name):
                yield claim


def names_in_common(pod: Pod, group: PodGroup) -> set[str]:
    """Return the names of the claims that the pod and the group define in the same way."""
    of_group = {
        (each.name, each.resource_claim_name, each.resource_claim_template_name)
        for each in group.spec.resource_claims
    }
    return {
        each.name
        for each in pod.spec.resource_claims
        if (each.name, each.resource_claim_name, each.resource_claim_template_name) in of_group
    }


def name_of(group: PodGroup, entry: PodGroupResourceClaim) -> str | None:
    """Return the name of a group's claim; ``None`` if there is none on purpose."""
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name
    for status in group.status.resource_claim_statuses:
        if status.name == entry.name:
            return status.resource_claim_name
    raise Unresolved(f"PodGroup {group.key}: ResourceClaim not created yet")
