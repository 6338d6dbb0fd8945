"""The claims that a pod refers to: by name, or made from a template for this pod."""

from __future__ import annotations

from collections.abc import Callable

from podium.api.objects import Pod, PodResourceClaim, ResourceClaim

FindClaim = Callable[[str], ResourceClaim | None]


class Unresolved(Exception):
    """A claim of a pod does not exist, or must not be used. The text is upstream's."""


def claims_of(pod: Pod, find: FindClaim) -> list[ResourceClaim]:
    """Return the pod's claims in order; raise ``Unresolved`` for the first that cannot be used.

    A claim that was deliberately not made is left out.
    """
    claims: list[ResourceClaim] = []
    for reference in pod.spec.resource_claims:
        name = _name_of(pod, reference)
        if name is not None:
            claims.append(_usable(pod, reference, name, find))
    return claims


def can_be_resolved(pod: Pod, find: FindClaim) -> bool:
    """Return whether all claims of the pod can be used."""
    try:
        claims_of(pod, find)
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


def _usable(pod: Pod, reference: PodResourceClaim, name: str, find: FindClaim) -> ResourceClaim:
    key = f"{pod.namespace}/{name}"
    claim = find(key)
    if claim is None:
        raise Unresolved(f'could not find ResourceClaim "{key}"')
    if claim.is_terminating:
        raise Unresolved(f'resourceclaim "{claim.name}" is being deleted')
    if reference.resource_claim_name is None and not claim.is_made_for(pod.uid):
        raise Unresolved(
            f"ResourceClaim {key} was not created for Pod {pod.key} (Pod is not owner)"
        )
    return claim
