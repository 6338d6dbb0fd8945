"""VolumeBinding: run a pod where its claims have volumes, or where volumes can be provisioned.

PreFilter  rejects a pod with a claim that is missing, lost or being deleted, or that is unbound
           although its class binds immediately.
Filter     rejects a node on which a bound volume cannot be used, or on which an unbound claim can
           get neither an existing volume nor a new one.
Score      prefers nodes by how full their storage would be; only with StorageCapacityScoring.
Reserve    assumes the chosen volumes, so that the next pod sees them taken; Unreserve undoes that.
PreBind    writes the choice and waits until the claims are bound.
Requeue    when volumes, claims, classes, storage pools or nodes are added or change.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from podium import framework as fwk
from podium.api.claims import named_claims
from podium.api.objects import Pod
from podium.errors import CacheError, NotFound
from podium.framework.scores import zeros
from podium.plugins.volume.binding import hints
from podium.plugins.volume.binding.args import BindingArgs, ScoringBindingArgs
from podium.plugins.volume.binding.binder import Binder
from podium.plugins.volume.binding.decision import Decision, decide
from podium.plugins.volume.binding.migration import MigratedNodes
from podium.plugins.volume.binding.node_groups import first_of_group
from podium.plugins.volume.binding.pod_claims import (
    NO_CLAIMS,
    PodClaims,
    bound_volumes,
    find_claims,
)
from podium.plugins.volume.binding.reservation import Reservation
from podium.plugins.volume.binding.scoring import line_of, score

DEPENDS_ON_NOTHING = fwk.Dependencies()
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.LABELS, cluster=fwk.Aspect.STORAGE, scoring=0)
DEPENDENCIES_OF_SCORES = fwk.Dependencies(node=fwk.Aspect.LABELS, cluster=fwk.Aspect.STORAGE)


class VolumeBinding(
    fwk.PreFilterPlugin,
    fwk.FilterPlugin,
    fwk.PreScorePlugin,
    fwk.ScorePlugin,
    fwk.ReservePlugin,
    fwk.PreBindPlugin,
    fwk.EnqueueExtensions,
):
    name = "VolumeBinding"
    Args: ClassVar[type[fwk.Args]] = BindingArgs

    def __init__(self, args: BindingArgs | ScoringBindingArgs, handle: fwk.Handle) -> None:
        self._handle = handle
        self._binder = Binder(handle, args.bind_timeout_seconds)
        self._migrated = MigratedNodes(handle.cluster)

    def sign(self, pod: Pod) -> Hashable:
        """Return the reach of the pod's volumes if all claims are bound, else the claims' names.

        With bound claims nothing else matters, so that replicas have equal signatures.
        """
        if not pod.spec.volumes:
            return ()
        claims = tuple(named_claims(pod))
        bound = bound_volumes(self._handle.cluster, pod, claims)
        if bound is not None:
            return tuple([volume and volume.content for volume in bound])
        if any(claim.is_ephemeral for claim in claims):
            raise fwk.NotSignable  # the claim belongs to this pod alone
        return pod.namespace, claims

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES if any(True for _ in named_claims(pod)) else DEPENDS_ON_NOTHING

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        found = find_claims(self._handle.cluster, pod) if pod.spec.volumes else fwk.skip()
        if isinstance(found, PodClaims):
            state.put(found)
            return None
        if found.is_skip:
            state.put(NO_CLAIMS)  # Reserve reads it, and is called although Filter is skipped
        return found

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return decide(state.get(PodClaims), node).status

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        claims = state.get(PodClaims)
        firsts = first_of_group(nodes, claims, self._migrated)
        return firsts.map(lambda position: decide(claims, nodes.at(position)).status)

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        return fwk.skip()

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        return 0

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | None:
        claims, reservation = state.get(PodClaims), Reservation(node_name)
        if not claims.are_bound and self._filters():
            decision = self._decide(claims, node_name)
            if not decision.status.ok:
                return decision.status
            try:
                reservation.take(self._handle.cluster, decision)
            except (CacheError, NotFound) as changed:
                return fwk.Status.error(changed)
        state.put(reservation)
        return None

    def unreserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        reservation = state.find(Reservation)
        if reservation is not None:
            state.drop(Reservation)
            reservation.release(self._handle.cluster)
            self._binder.resolve(reservation)

    def pre_bind_pre_flight(
        self, state: fwk.CycleState, pod: Pod, node_name: str
    ) -> fwk.PreFlight | fwk.Status:
        reservation = state.find(Reservation)
        if reservation is None or reservation.node_name != node_name:
            return fwk.Status.error(f'no pod volume found for node "{node_name}"')
        return fwk.PreFlight(allow_parallel=True) if reservation else fwk.skip()

    async def pre_bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status:
        return await self._binder.bind(state.get(Reservation), pod)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("storage.k8s.io/StorageClass", "add|update", hint=hints.class_allows_more),
            fwk.on("PersistentVolumeClaim", "add|update", hint=hints.claim_is_of_pod),
            fwk.on("PersistentVolume", "add|update"),
            fwk.on("Node", "add|label"),
            fwk.on("storage.k8s.io/CSINode", "add|update", hint=hints.drivers_took_over),
            fwk.on("storage.k8s.io/CSIDriver", "update", hint=hints.driver_stopped_checking),
            fwk.on(
                "storage.k8s.io/CSIStorageCapacity",
                "add|update",
                hint=hints.pool_takes_larger_volumes,
            ),
        ]

    def _filters(self) -> bool:
        """Return whether the profile enables this Filter; else there is nothing to reserve."""
        return self.name in self._handle.plugins(fwk.Point.FILTER)

    def _decide(self, claims: PodClaims, node_name: str) -> Decision:
        node = self._handle.cluster.node(node_name)
        if node is None:
            return Decision(fwk.Status.error(f'node "{node_name}" not found'))
        return decide(claims, node)


class ScoringVolumeBinding(VolumeBinding):
    """With the feature StorageCapacityScoring. ``shape`` maps percent used to a score."""

    Args = ScoringBindingArgs

    def __init__(self, args: ScoringBindingArgs, handle: fwk.Handle) -> None:
        super().__init__(args, handle)
        self._line = line_of(args.shape)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        has_claims = super().depends_on(pod) is DEPENDENCIES
        return DEPENDENCIES_OF_SCORES if has_claims else DEPENDS_ON_NOTHING

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        claims = state.get(PodClaims)
        return 0 if claims.are_bound else score(decide(claims, node), self._line)

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        claims = state.get(PodClaims)
        if claims.are_bound:  # as of most pods, since they have no claims
            return zeros(len(nodes))
        firsts = first_of_group(nodes, claims, self._migrated)
        scores = firsts.map(lambda position: score(decide(claims, nodes.at(position)), self._line))
        return scores.to_array(np.int64)
