"""PreFilter: the claims of a pod, and for each on which nodes it can be served."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium import framework as fwk
from podium.api.claims import (
    BIND_COMPLETED,
    NamedClaim,
    claim_key,
    class_name,
    is_owned,
    named_claims,
)
from podium.api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from podium.errors import InvalidObject
from podium.framework.cluster_view import Objects
from podium.plugins.volume.binding.matching import Candidates, find_candidates, requested
from podium.plugins.volume.binding.migration import in_tree_plugin, is_migrated, migrated_reach
from podium.plugins.volume.binding.provisioning import Provisioning, find_provisioning
from podium.plugins.volume.binding.reach import Reach, of_volume
from podium.plugins.volume.claims import WAIT_FOR_FIRST_CONSUMER, missing, wrong_owner

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"

IMMEDIATE = fwk.Status.unresolvable("pod has unbound immediate PersistentVolumeClaims")


class BoundVolume(NamedTuple):
    """The volume of a bound claim."""

    volume: PersistentVolume
    plugin: str  # the in-tree plugin, if a CSI driver may have replaced it; else empty
    csi_nodes: Objects[CSINode]

    @classmethod
    def of(cls, cluster: fwk.ClusterView, volume: PersistentVolume) -> BoundVolume:
        return cls(volume, in_tree_plugin(volume), cluster.objects(CSINode))

    def is_usable_on(self, node: fwk.NodeInfo) -> bool:
        """Return whether the volume can be used on the node.

        Raises ``InvalidObject`` if a CSI driver serves it there and the volume has no CSI form.
        """
        csi_node = self.csi_nodes.get(node.name) if self.plugin else None
        migrated = is_migrated(self.plugin, csi_node)
        reach = migrated_reach(self.volume) if migrated else of_volume(self.volume)
        return reach.covers(node.labels)

    @property
    def content(self) -> Hashable:
        """Everything about the volume that Filter depends on."""
        if not self.plugin:
            return of_volume(self.volume)
        try:
            return self.plugin, of_volume(self.volume), migrated_reach(self.volume)
        except InvalidObject:
            return self.volume.name  # the error message has its name

    @property
    def reaches(self) -> list[Reach]:
        """The reaches with and without migration, for grouping nodes."""
        reaches = [of_volume(self.volume)]
        if self.plugin:
            with suppress(InvalidObject):  # Filter reports it for the nodes concerned
                reaches.append(migrated_reach(self.volume))
        return reaches


@dataclass(frozen=True, slots=True)
class DelayedClaim:
    """A claim that waits for its pod to have a node."""

    claim: PersistentVolumeClaim
    candidates: Candidates
    provisioning: Provisioning


@dataclass(frozen=True, slots=True)
class PodClaims:
    """PreFilter's state. ``bound`` has ``None`` for a bound claim whose volume does not exist.

    ``selected`` claims are already being provisioned for a node. ``unmatched`` claims still need a
    volume; they choose in this order, the smallest request first.
    """

    bound: tuple[BoundVolume | None, ...] = ()
    selected: tuple[DelayedClaim, ...] = ()
    unmatched: tuple[DelayedClaim, ...] = ()

    @property
    def are_bound(self) -> bool:
        """Whether nothing is left to be bound."""
        return not self.selected and not self.unmatched


NO_CLAIMS: Final = PodClaims()


def find_claims(cluster: fwk.ClusterView, pod: Pod) -> PodClaims | fwk.Status:
    """Return the pod's claims, a rejection if one cannot be used, or a skip without claims."""
    claims: dict[str, PersistentVolumeClaim] = {}
    for named in named_claims(pod):
        found = _usable(cluster, pod, named)
        if isinstance(found, str):
            return fwk.Status.unresolvable(found)
        # A claim in two volumes of a pod counts once; kube-scheduler would look for two volumes.
        claims[found.key] = found
    return _classify(cluster, claims.values()) if claims else fwk.skip()


def bound_volumes(
    cluster: fwk.ClusterView, pod: Pod, named: Iterable[NamedClaim]
) -> list[BoundVolume | None] | None:
    """Return the volumes of the pod's claims, each once; ``None`` unless all are bound."""
    found: dict[str, BoundVolume | None] = {}
    for each in named:
        claim = _usable(cluster, pod, each)
        if isinstance(claim, str) or not is_bound(claim):
            return None
        found[claim.key] = _volume_of(cluster, claim)
    return list(found.values())


def is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.annotations


def _usable(cluster: fwk.ClusterView, pod: Pod, named: NamedClaim) -> PersistentVolumeClaim | str:
    """Return the claim with assumptions applied, or the reason why it cannot be used."""
    claim = cluster.assumed(PersistentVolumeClaim).get(claim_key(pod.namespace, named.name))
    if claim is None:
        return _missing(named)
    if claim.status.phase == "Lost":
        return (
            f'persistentvolumeclaim "{named.name}" bound to non-existent '
            f'persistentvolume "{claim.spec.volume_name}"'
        )
    if claim.is_terminating:
        return f'persistentvolumeclaim "{named.name}" is being deleted'
    if named.is_ephemeral and not is_owned(claim, pod):
        return wrong_owner(pod, claim)
    return claim


def _missing(named: NamedClaim) -> str:
    if named.is_ephemeral:
        reason = "waiting for ephemeral volume controller"
        return f'{reason} to create the persistentvolumeclaim "{named.name}"'
    return missing(PersistentVolumeClaim, named.name)


def _classify(
    cluster: fwk.ClusterView, claims: Iterable[PersistentVolumeClaim]
) -> PodClaims | fwk.Status:
    bound: list[BoundVolume | None] = []
    delayed: list[tuple[PersistentVolumeClaim, StorageClass]] = []
    has_immediate = False
    for claim in claims:
        if is_bound(claim):
            bound.append(_volume_of(cluster, claim))
            continue
        wanted = cluster.objects(StorageClass).get(class_name(claim))
        if wanted is not None and not wanted.volume_binding_mode:
            return fwk.Status.error(f'VolumeBindingMode not set for StorageClass "{wanted.name}"')
        if wanted is not None and _is_delayed(claim, wanted):
            delayed.append((claim, wanted))
        else:
            has_immediate = True
    if has_immediate:
        return IMMEDIATE
    found = [_delayed(cluster, claim, wanted) for claim, wanted in delayed]
    return PodClaims(
        tuple(bound),
        tuple(one for one in found if SELECTED_NODE in one.claim.annotations),
        tuple(
            sorted(
                (one for one in found if SELECTED_NODE not in one.claim.annotations),
                key=lambda one: requested(one.claim),
            )
        ),
    )


def _volume_of(cluster: fwk.ClusterView, claim: PersistentVolumeClaim) -> BoundVolume | None:
    volume = cluster.assumed(PersistentVolume).get(claim.spec.volume_name)
    return None if volume is None else BoundVolume.of(cluster, volume)


def _is_delayed(claim: PersistentVolumeClaim, wanted: StorageClass) -> bool:
    """Return whether the claim waits for a node. One that names a volume never does."""
    return wanted.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER and not claim.spec.volume_name


def _delayed(
    cluster: fwk.ClusterView, claim: PersistentVolumeClaim, wanted: StorageClass
) -> DelayedClaim:
    candidates = find_candidates(cluster, claim)
    return DelayedClaim(claim, candidates, find_provisioning(cluster, claim, wanted))
