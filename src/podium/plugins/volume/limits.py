"""Shared by the plugins that limit a node's volumes: the verdict, and the check of claims."""

from __future__ import annotations

from podium import framework as fwk
from podium.api.claims import NamedClaim, claim_key, is_owned
from podium.api.objects import PersistentVolumeClaim, Pod
from podium.errors import NotFound
from podium.plugins.volume.claims import get_claim, wrong_owner

EXCEEDED = fwk.Status.unschedulable("node(s) exceed max volume count")
NO_NAME = fwk.Status.error("PersistentVolumeClaim had no name")


def usable_claim(
    cluster: fwk.ClusterView, pod: Pod, named: NamedClaim
) -> PersistentVolumeClaim | fwk.Status:
    """Return a claim of the incoming pod, or the status if it is missing or invalid."""
    if not named.name:
        return NO_NAME
    try:
        claim = get_claim(cluster, pod.namespace, named.name)
    except NotFound as missing:
        key = claim_key(pod.namespace, named.name)
        return fwk.Status.unresolvable(f"looking up PVC {key}: {missing}")
    if named.is_ephemeral and not is_owned(claim, pod):
        return fwk.Status.error(wrong_owner(pod, claim))
    return claim
