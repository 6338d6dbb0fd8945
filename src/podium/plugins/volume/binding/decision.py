"""Filter's rule: whether a pod's claims can be served on a node, and with which volumes.

The decision depends only on the cluster's state, so Reserve computes it again for the chosen node
instead of Filter keeping it for every node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from podium import framework as fwk
from podium.api.objects import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
)
from podium.errors import PodiumError
from podium.plugins.volume.binding.pod_claims import SELECTED_NODE, DelayedClaim, PodClaims
from podium.plugins.volume.binding.reach import Labels

WRONG_NODE: Final = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME: Final = "node(s) didn't find available persistent volumes to bind"
NO_SPACE: Final = "node(s) did not have enough free storage"
VOLUME_GONE: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


@dataclass(frozen=True, slots=True)
class Binding:
    """An existing volume that a claim gets."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


@dataclass(frozen=True, slots=True)
class Provision:
    """A claim that gets a new volume, from this pool if the driver publishes pools."""

    claim: PersistentVolumeClaim
    pool: CSIStorageCapacity | None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the node can serve all claims, and with which existing and new volumes."""

    status: fwk.Status
    bindings: tuple[Binding, ...] = ()
    provisions: tuple[Provision, ...] = ()


def decide(claims: PodClaims, node: fwk.NodeInfo) -> Decision:
    """Decide for one node. All problems of the node are reported; an invalid object is an error."""
    try:
        bound = check_bound(claims, node)
        served = serve_delayed(claims, node)
    except PodiumError as fault:
        return Decision(fwk.Status.error(str(fault)))
    if isinstance(served, Decision) and not bound:
        return served
    delayed = "" if isinstance(served, Decision) else served
    first, last = ("", bound) if bound == VOLUME_GONE else (bound, "")
    return _rejection(tuple(filter(None, (first, delayed, last))))


def check_bound(claims: PodClaims, node: fwk.NodeInfo) -> str:
    """Return the first problem of the bound claims' volumes on this node; empty if none."""
    for bound in claims.bound:
        if bound is None:
            return VOLUME_GONE
        if not bound.is_usable_on(node):
            return WRONG_NODE
    return ""


def serve_delayed(claims: PodClaims, node: fwk.NodeInfo) -> Decision | str:
    """Find an existing or a new volume for each unbound claim, or return the reason."""
    if any(one.claim.annotations[SELECTED_NODE] != node.name for one in claims.selected):
        return NO_VOLUME
    bindings: list[Binding] = []
    provisioned = list(claims.selected)
    taken: set[str] = set()
    for delayed in claims.unmatched:
        volume = delayed.candidates.at(node.labels, taken)
        if volume is None:
            provisioned.append(delayed)
            continue
        taken.add(volume.name)
        bindings.append(Binding(delayed.claim, volume))
    provisions = provide(provisioned, node.labels)
    if isinstance(provisions, str):
        return provisions
    return Decision(fwk.SUCCESS, tuple(bindings), provisions)


def provide(delayed: list[DelayedClaim], labels: Labels) -> tuple[Provision, ...] | str:
    """Return new volumes for these claims on a node with these labels, or the reason."""
    provisions: list[Provision] = []
    for one in delayed:
        pool: CSIStorageCapacity | None = None
        if not one.provisioning.reach.covers(labels):
            return NO_VOLUME
        if one.provisioning.pools is not None:
            pool = next(one.provisioning.pools.at(labels), None)
            if pool is None:
                return NO_SPACE
        provisions.append(Provision(one.claim, pool))
    return tuple(provisions)


@lru_cache(maxsize=64)
def _rejection(reasons: tuple[str, ...]) -> Decision:
    return Decision(fwk.Status.unresolvable(*reasons))
