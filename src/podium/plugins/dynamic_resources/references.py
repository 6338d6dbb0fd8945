"""The claims that a pod refers to: by name, or made from a template for this pod."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

from podium.api.objects import Pod, PodResourceClaim, ResourceClaim

FindClaim = Callable[[str], ResourceClaim | None]


OwnerProblem = Callable[[Pod, ResourceClaim], str]
"""Says why a claim was not made for a pod; empty if it was."""


def owned_by_pod(pod: Pod, claim: ResourceClaim) -> str:
    """The pod must be the owner of a claim that was made for it."""
    if claim.is_made_for(pod.uid):
        return ""
    return f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)"


def owned_by_pod_or_group(pod: Pod, claim: ResourceClaim) -> str:
    """The pod or its group must be the owner: the gate DRAWorkloadResourceClaims."""
    name = pod.group_key.rpartition("/")[2]
    if not name:
        return owned_by_pod(pod, claim)
    if claim.is_made_for(pod.uid) or claim.is_made_for_group(name):
        return ""
    owners = f"neither Pod nor PodGroup {name} is the owner"
    return f"ResourceClaim {claim.key} was not created for Pod {pod.key} ({owners})"


class Unresolved(Exception):
    """A claim of a pod does not exist, or must not be used. The text is upstream's."""


def claims_of(
    pod: Pod, find: FindClaim, owner_problem: OwnerProblem = owned_by_pod
) -> list[ResourceClaim]:
    """Return the pod's claims in order; raise ``Unresolved`` for the first that cannot be used.

    A claim that was deliberately not made is left out.
    """
    claims: list[ResourceClaim] = []
    for reference in pod.spec.resource_claims:
        name = _name_of(pod, reference)
        if name is not None:
            claim = _usable(f"{pod.namespace}/{name}", find)
            is_made = reference.resource_claim_name is None
            if is_made and (problem := owner_problem(pod, claim)):
                raise Unresolved(problem)
            claims.append(claim)
    return claims


def indexes_of(pod: Pod, names: Container[str]) -> Iterator[int]:
    """Return the positions in ``claims_of`` of the claims that entries with these names have."""
    there = [each for each in pod.spec.resource_claims if _name_of(pod, each) is not None]
    return (index for index, reference in enumerate(there) if reference.name in names)


def can_be_resolved(pod: Pod, find: FindClaim, owner_problem: OwnerProblem = owned_by_pod) -> bool:
    """Return whether all claims of the pod can be used."""
    try:
        claims_of(pod, find, owner_problem)
    except Unresolved:
        return False
    return True


def _name_of(pod: Pod, reference: PodResourceClaim) -> str | None:
    """Return the name of the claim; ``None`` if there is none on purpose."""
    if reference.resource_claim_name is not None:
        return reference.resource_claim_name
    if reference.resource_claim_template_name is None:
        where = f'pod "{pod.key}", spec.resourceClaim "{reference.name}"'
        raise Unresolved(f"{where}: none of the supported fields are set")
    for status in pod.status.resource_claim_statuses:
        if status.name == reference.name:
            return status.resource_claim_name
    raise Unresolved(f'pod "{pod.key}": ResourceClaim not created yet')


def _usable(key: str, find: FindClaim) -> ResourceClaim:
    claim = find(key)
    if claim is None:
        raise Unresolved(f'could not find ResourceClaim "{key}"')
    if claim.is_terminating:
        raise Unresolved(f'resourceclaim "{claim.name}" is being deleted')
    return claim
