"""DynamicResources: run a pod where it can use the devices that its resource claims ask for.

PreEnqueue  holds a pod back while a claim of it is missing.
PreFilter   rejects a pod with a claim that is missing, being deleted, being allocated for another
            pod, or that asks for a class that does not exist.
Filter      rejects a node on which an allocated claim cannot be used, or on which the devices for
            the other claims are not free.
PostFilter  deallocates a claim that cannot be used and that no other pod uses.
Score       prefers nodes on which a request with alternatives gets the ones it wants most.
Reserve     takes the devices, so that the next pod does not get them; Unreserve undoes that.
PreBind     writes the allocations and reservations, and waits until the devices are prepared.
Requeue     when claims, classes, slices or nodes change.
"""

from __future__ import annotations

from collections.abc import Coroutine, Hashable
from functools import partial
from typing import Any, ClassVar

from podium import framework as fwk
from podium.api.meta import ApiObject
from podium.api.objects import AllocationResult, DeviceTaintRule, Pod, ResourceClaim
from podium.errors import AllocationError
from podium.framework.cluster_devices import DEVICE_KINDS
from podium.framework.scores import scale, zeros
from podium.plugins.dynamic_resources import extended
from podium.plugins.dynamic_resources.args import DynamicResourcesArgs
from podium.plugins.dynamic_resources.binder import Binder, ClaimNotWritten
from podium.plugins.dynamic_resources.filtering import Filtering
from podium.plugins.dynamic_resources.hints import CLAIM_TOPIC, Hints
from podium.plugins.dynamic_resources.pod_claims import NO_CLAIMS, PodClaims, check
from podium.plugins.dynamic_resources.references import (
    Unresolved,
    claims_of,
    owned_by_pod,
)
from podium.plugins.dynamic_resources.release import Releases
from podium.plugins.dynamic_resources.waiting import PreparationWait

NO_STATE = fwk.Status.error("not found")
NO_ALLOCATION = fwk.Status.error("claim allocation not found for node")
DEPENDENCIES_WITHOUT_CLAIMS = fwk.Dependencies(scores_alike=True)
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.LABELS, cluster=fwk.Aspect.DEVICES)
DEPENDENCIES_OF_EXTENDED = fwk.Dependencies(
    node=fwk.Aspect.LABELS | fwk.Aspect.RESOURCES, cluster=fwk.Aspect.DEVICES
)


class DynamicResources(
    fwk.PreEnqueuePlugin,
    fwk.PreFilterPlugin,
    fwk.FilterPlugin,
    fwk.PostFilterPlugin,
    fwk.ScorePlugin,
    fwk.ReservePlugin,
    fwk.PreBindPlugin,
    fwk.EnqueueExtensions,
):
    name = "DynamicResources"
    Args = DynamicResourcesArgs
    # Parts of ``watches``: variants change one each.
    taint_kinds: ClassVar[tuple[type[ApiObject], ...]] = (DeviceTaintRule,)
    group_kinds: ClassVar[tuple[type[ApiObject], ...]] = ()
    watches = (*DEVICE_KINDS, *taint_kinds)
    binder: ClassVar[type[Binder]] = Binder
    # What PostFilter returns if the pod has no claims, and if no claim can be given back.
    status_without_claims: ClassVar[fwk.Status] = fwk.Status.unschedulable()
    status_without_help: ClassVar[fwk.Status] = fwk.Status.unschedulable()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.watches = (*DEVICE_KINDS, *cls.taint_kinds, *cls.group_kinds)

    def __init__(self, args: DynamicResourcesArgs, handle: fwk.Handle) -> None:
        self._handle = handle
        self._devices = handle.devices
        self._provided = handle.devices.extended_resources
        self._classes = self._provided.classes  # by resource
        self._claims = handle.cluster.objects(ResourceClaim)
        self._binder = self.binder(handle)
        self._releases = Releases(handle)
        binding_timeout = args.binding_timeout or 0.0  # without its gate nothing waits
        self._preparation = PreparationWait(handle, binding_timeout)
        self._filtering = Filtering(handle, args.filter_timeout or 0.0, binding_timeout)
        self._hints = Hints(self._claims.get, self.owner_problem)

    def sign(self, pod: Pod) -> Hashable:
        if pod.spec.resource_claims or (self._classes and self._provided.requested_by(pod)):
            raise fwk.NotSignable
        return None

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        if self._provided.requested_by(pod):
            return DEPENDENCIES_OF_EXTENDED
        return DEPENDENCIES if pod.spec.resource_claims else DEPENDENCIES_WITHOUT_CLAIMS

    # --- PreEnqueue, PreFilter, Filter, PostFilter -----------------------------------------------

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        try:
            claims_of(pod, self._claims.get, self.owner_problem)
        except Unresolved as problem:
            return fwk.Status.unresolvable(str(problem))
        return fwk.SUCCESS

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        state.put(NO_CLAIMS)
        try:
            named = claims_of(pod, self._claims.get, self.owner_problem)
        except Unresolved as problem:
            return fwk.Status.unresolvable(str(problem))
        claims = self.pod_claims(pod, named)
        if self._provided.requested_by(pod):
            claims.has_extended = True
            known = self._devices.extended_claim_of(pod)
            claims.claims.append(known or extended.new_claim(pod))
        if not claims.claims:
            return fwk.skip()
        status = check(claims, self._devices, partial(self.shared_allocation, pod))
        if status.ok:
            state.put(claims)
        return status

    def owner_problem(self, pod: Pod, claim: ResourceClaim) -> str:
        """Return why a claim was not made for a pod; empty if it was."""
        return owned_by_pod(pod, claim)

    def pod_claims(self, pod: Pod, named: list[ResourceClaim]) -> PodClaims:
        """Return the state of a pod that names these claims."""
        return PodClaims(named)

    def shared_allocation(self, pod: Pod, claim: ResourceClaim) -> AllocationResult | None:
        """Return the allocation in flight of a claim if the pod may use it."""
        return None

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        claims = state.get(PodClaims)
        if not claims.claims:
            return fwk.Column.uniform(fwk.SUCCESS, len(nodes))
        return self._filtering.judge(claims, pod, nodes)

    def post_filter(
        self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses
    ) -> tuple[None, fwk.Status]:
        claims = state.find(PodClaims)
        if claims is None:
            # An earlier PreFilter rejected the pod. As upstream, this error then ends PostFilter.
            # It is not a fault, so nothing is raised or logged.
            return None, NO_STATE
        if not claims.claims:
            return None, self.status_without_claims
        return None, self._releases.give_back(claims, pod) or self.status_without_help

    # --- Score -----------------------------------------------------------------------------------

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        claims = state.get(PodClaims)
        if not claims.claims or not self._devices.rules.prioritized_list:
            return zeros(len(nodes))
        return self._filtering.scores(claims, pod, nodes)

    def normalize_score(
        self, state: fwk.CycleState, pod: Pod, scores: fwk.Scores, nodes: fwk.Rows
    ) -> fwk.Scores:
        return scale(scores)

    # --- Reserve, Unreserve, PreBind -------------------------------------------------------------

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | None:
        if not pod.spec.resource_claims and not self._classes:
            return None  # nearly all pods: without further calls
        claims = state.get(PodClaims)
        indexes = claims.to_allocate
        if not indexes:
            return None
        try:
            found = self.allocation(claims, pod, node_name)
        except AllocationError as fault:
            return fwk.Status.error(fault)
        if found is None:
            # A claim for extended resources alone, on a node where a device plugin serves them.
            is_served = all(claims.claims[index] is claims.extended for index in indexes)
            return None if is_served else NO_ALLOCATION
        allocations, claims.needs = found
        for index, allocation in zip(indexes, allocations, strict=True):
            claims.reserved[index] = allocation
            self._devices.reserve(claims.claims[index], allocation, pod.uid)
        return None

    def allocation(
        self, claims: PodClaims, pod: Pod, node_name: str
    ) -> tuple[list[AllocationResult], extended.Needs | None] | None:
        """Return what each claim without an allocation gets on a node.

        ``None`` if nothing is to be allocated there.
        """
        node = self._handle.cluster.node(node_name)
        return None if node is None else self._filtering.allocation(claims, pod, node)

    def unreserve(
        self, state: fwk.CycleState, pod: Pod, node_name: str
    ) -> Coroutine[Any, Any, None] | None:
        claims = state.find(PodClaims)
        if claims is None or not claims.claims:
            return None
        self._releases.settle(claims, pod)
        return self._releases.undo(claims, pod) if self._releases.written(claims, pod) else None

    def pre_bind_pre_flight(
        self, state: fwk.CycleState, pod: Pod, node_name: str
    ) -> fwk.PreFlight | fwk.Status:
        if not pod.spec.resource_claims and not self._classes:
            return fwk.skip()
        claims = state.get(PodClaims)
        return fwk.PreFlight(allow_parallel=True) if claims.claims else fwk.skip()

    async def pre_bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | None:
        claims = state.get(PodClaims)
        try:
            await self._binder.bind(claims, pod, node_name)
        except ClaimNotWritten as fault:
            return fwk.Status.error(str(fault))
        if not self._devices.rules.binding_conditions:
            return None
        return await self._preparation.wait(claims, pod, node_name)

    # --- Requeue ---------------------------------------------------------------------------------

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Node", "add|label|allocatable"),
            fwk.on(
                "resource.k8s.io/ResourceClaim",
                "add|update|delete",
                hint=self._hints.claim_helps,
                topic=CLAIM_TOPIC,
            ),
            fwk.on("TargetPod", "generated-claim", hint=self._hints.claims_were_made),
            fwk.on("resource.k8s.io/DeviceClass", "add|update"),
            fwk.on("resource.k8s.io/ResourceSlice", "add|update"),
        ]


class ReportingDynamicResources(DynamicResources):
    """DynamicResources as of 1.36, which adds a text to the message of every rejected pod."""

    status_without_claims = fwk.Status.unschedulable("no new claims to deallocate")
    status_without_help = fwk.Status.unschedulable("still not schedulable")


class DynamicResourcesWithoutTaintRules(DynamicResources):
    """DynamicResources without the feature DRADeviceTaintRules."""

    taint_kinds = ()
