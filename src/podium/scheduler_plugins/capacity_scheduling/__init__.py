"""CapacityScheduling: namespaces share a cluster by quotas that they may lend to one another.

An ElasticQuota promises a namespace ``min`` and lets it use up to ``max``, as long as all quotas
together use no more than all promises. The contract is that of scheduler-plugins.

PreFilter   refuses a pod with which its quota, or all of them together, would be used up.
PostFilter  takes back what others have borrowed, by evicting their pods; or makes room in the
            pod's own quota, or among pods without quotas, by evicting pods of lower priority.
PreEnqueue  holds the pod back while its victims are being evicted.
Reserve     counts the pod; Unreserve takes it off again.
Requeue     when a pod is deleted, or a quota is added, changed or deleted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from podium import framework as fwk
from podium.api.objects import Pod, PodDisruptionBudget
from podium.framework.preemption import PostFilterAnswer
from podium.framework.status import CLEAR
from podium.plugins.preemption import HELD, nomination
from podium.plugins.preemption.budgets import ExhaustiveBudgets
from podium.plugins.preemption.evaluator import NEVER, NOT_HELPFUL, TERMINATING, Evaluator
from podium.plugins.preemption.eviction import Evictions
from podium.scheduler_plugins.capacity_scheduling.quotas import (
    NOTHING,
    RESOURCE,
    Amounts,
    Quota,
    Quotas,
    Usage,
    add,
    request_of,
    summed,
)
from podium.scheduler_plugins.capacity_scheduling.reclaim import Demand, DryRun, Shares

NO_CANDIDATE = fwk.Status.unschedulable("no candidate node for preemption")


@dataclass(frozen=True, slots=True)
class _Claim:
    """The results of PreFilter that PostFilter uses."""

    demand: Demand
    quotas: dict[str, Quota]


class CapacityScheduling(
    fwk.PreEnqueuePlugin,
    fwk.PreFilterPlugin,
    fwk.PreemptionPlugin,
    fwk.ReservePlugin,
    fwk.EnqueueExtensions,
):
    name = "CapacityScheduling"
    watches = (PodDisruptionBudget,)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._handle = handle
        self._quotas = Quotas(handle.lister(RESOURCE), handle.log)
        self._usage = Usage()
        self._evaluator = Evaluator(handle)
        self._evictions = Evictions(handle)
        self._leave_pods = handle.follow_pods(self._usage.on_pod)

    def close(self) -> None:
        self._leave_pods()

    def pre_enqueue(self, pod: Pod) -> fwk.Status | None:
        return HELD if self._evictions.holds(pod.uid) else None

    def held(self) -> Collection[str]:
        return self._evictions.held()

    # --- PreFilter -------------------------------------------------------------------------------

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        quotas, request = self._quotas.by_namespace(), request_of(pod)
        own = quotas.get(pod.namespace)
        demand = Demand(request, request, request)
        if own is not None:
            demand = self._with_nominated(pod, request, quotas)
        state.put(_Claim(demand, quotas))
        if own is None:
            return None
        rejected = f"Pod {pod.key} is rejected in PreFilter because"
        if own.is_over_max(self._usage.of(pod.namespace), demand.in_quota):
            return fwk.Status.unschedulable(
                f"{rejected} ElasticQuota {pod.namespace} is more than Max"
            )
        if is_over_promises(quotas, self._usage.used, demand.in_all):
            return fwk.Status.unschedulable(f"{rejected} total ElasticQuota used is more than min")
        return None

    def _with_nominated(self, pod: Pod, request: Amounts, quotas: dict[str, Quota]) -> Demand:
        """Add what pods request that are nominated to a node, if they come first.

        These are the pods of the same quota with at least this priority, and the pods of quotas
        that have not got what they were promised.
        """
        in_quota, in_all = dict(request), dict(request)
        for info in self._nominated(pod):
            namespace = info.pod.namespace
            quota = quotas.get(namespace)
            if quota is None:
                continue
            if namespace == pod.namespace:
                if info.priority >= pod.priority:
                    add(in_quota, request_of(info.pod))
                    add(in_all, request_of(info.pod))
            elif not quota.is_over_min(self._usage.of(namespace)):
                add(in_all, request_of(info.pod))
        return Demand(request, in_quota, in_all)

    def _nominated(self, pod: Pod) -> list[fwk.PodInfo]:
        nominator = self._handle.nominator
        if not len(nominator):
            return []
        names = self._handle.cluster.nodes().names
        return [each for name in names for each in nominator.on(name) if each.uid != pod.uid]

    # --- PostFilter ------------------------------------------------------------------------------

    def propose(
        self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses
    ) -> fwk.Proposal | PostFilterAnswer:
        claim = state.find(_Claim)
        if claim is None:
            return None, fwk.Status.unschedulable(
                "not eligible due to failed to read from cycleState"
            )
        shares = Shares(pod, claim.quotas, self._usage.used, claim.demand)
        if why := self._ineligible(pod, statuses, shares):
            return None, fwk.Status.unschedulable(why)
        rows = statuses.rows_with(fwk.Code.UNSCHEDULABLE)
        budgets = ExhaustiveBudgets(self._handle.cluster.objects(PodDisruptionBudget))
        dry_run = DryRun(self._handle, state, shares, budgets)
        found = dry_run.candidates(rows)
        if found:
            return fwk.Proposal(found)
        if dry_run.errors:
            return None, fwk.Status.error("; ".join(dry_run.errors))
        total = self._handle.cluster.node_count
        counts = dict(dry_run.reasons)
        if len(rows) < total:
            counts[NOT_HELPFUL] = total - len(rows)
        return CLEAR, fwk.Status.unschedulable(fwk.fit_message(total, counts))

    def _ineligible(self, pod: Pod, statuses: fwk.NodeStatuses, shares: Shares) -> str:
        """Return why the pod may not evict others now; empty if it may."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        node = (
            self._handle.cluster.node(pod.nominated_node_name) if pod.nominated_node_name else None
        )
        if node is None or statuses.of(node).code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        leaving = (info for info in node.pods if info.pod.is_terminating)
        return TERMINATING if any(shares.is_leaving_for_us(info) for info in leaving) else ""

    def choose(self, pod: Pod, candidates: fwk.Candidates) -> PostFilterAnswer:
        chosen = self._evaluator.choose(pod, candidates)
        if chosen is None:
            return None, NO_CANDIDATE
        self._evictions.start(pod, chosen)
        return nomination(chosen), fwk.SUCCESS

    # --- Reserve ---------------------------------------------------------------------------------

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._usage.reserve(pod)

    def unreserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._usage.unreserve(pod)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Pod", "delete"),
            fwk.on("AssignedPod", "scale-down"),
            fwk.on(RESOURCE, "all"),
        ]


def is_over_promises(
    quotas: dict[str, Quota], used: dict[str, dict[str, int]], more: Amounts
) -> bool:
    """Return whether all quotas together would use more than they are promised."""
    everything = summed((more, *(used.get(name, NOTHING) for name in quotas)))
    return Quota(summed(each.min for each in quotas.values()), None).is_over_min(everything)
