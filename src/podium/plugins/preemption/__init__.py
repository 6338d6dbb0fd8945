"""DefaultPreemption: make room for a pod by evicting pods of lower priority.

PostFilter  proposes nodes with their victims, chooses among those that extenders accept, and
            evicts the victims in the background.
PreEnqueue  holds the pod back while its victims are being evicted.
Requeue     never: the plugins that rejected the pod decide when it is tried again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar

from podium import framework as fwk
from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod, PodDisruptionBudget
from podium.errors import PodiumError
from podium.framework.args import invalid, outside
from podium.framework.preemption import Evicting, PostFilterAnswer
from podium.plugins.preemption.budgets import Budgets, ExhaustiveBudgets
from podium.plugins.preemption.candidates import DryRun
from podium.plugins.preemption.evaluator import Evaluator
from podium.plugins.preemption.eviction import Evictions, NotActivatingEvictions

HELD = fwk.Status.unresolvable("waiting for the preemption for this pod to be finished")
NO_CANDIDATE = fwk.Status.unschedulable("preemption: no candidate node for preemption")


class DefaultPreemption(fwk.PreEnqueuePlugin, fwk.PreemptionPlugin, fwk.EnqueueExtensions):
    name = "DefaultPreemption"
    watches: ClassVar[Sequence[type[ApiObject]]] = (PodDisruptionBudget,)
    budgets: ClassVar[type[Budgets]] = Budgets
    dry_run: ClassVar[type[DryRun]] = DryRun
    evictions: ClassVar[type[Evictions]] = Evictions
    waits_for_evictions: ClassVar[bool] = False  # in the cycle

    class Args(fwk.Args, frozen=True, rename="camel"):
        min_candidate_nodes_percentage: int = 10
        min_candidate_nodes_absolute: int = 100

        def validate(self) -> Iterable[fwk.Problem]:
            return _problems(self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute)

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.evaluator = Evaluator(
            handle,
            args.min_candidate_nodes_percentage,
            args.min_candidate_nodes_absolute,
            self.budgets,
            self.dry_run,
        )
        self._evictions = self.evictions(handle)

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        return HELD if self._evictions.holds(pod.uid) else fwk.SUCCESS

    def held(self) -> Collection[str]:
        return self._evictions.held()

    def propose(
        self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses
    ) -> fwk.Proposal | tuple[fwk.Nominate | None, fwk.Status]:
        found = self.evaluator.evaluate(state, pod, statuses)
        if found.candidates:
            return fwk.Proposal(found.candidates)
        return found.nominate, _prefixed(found.status)

    def choose(self, pod: Pod, candidates: fwk.Candidates) -> PostFilterAnswer | Evicting:
        chosen = self.evaluator.choose(pod, candidates)
        return (None, NO_CANDIDATE) if chosen is None else self.take(pod, chosen)

    def take(self, pod: Pod, candidate: fwk.Candidate) -> PostFilterAnswer | Evicting:
        """Evict the victims of this candidate."""
        self._evictions.start(pod, candidate)
        return nomination(candidate), self.success(candidate)

    def success(self, candidate: fwk.Candidate) -> fwk.Status:
        """Return the status of a preemption, which users see in the pod's message."""
        placement = f"found a potential placement for pod on node {candidate.node}"
        text = f"preemption: {placement}, preempting {len(candidate.victims)} victims"
        return fwk.Status(fwk.Code.SUCCESS, (text,))

    def events_to_register(self) -> list[fwk.Registration]:
        # Registered so that the queue calls ``pre_enqueue`` again when a victim is gone.
        return [fwk.on("AssignedPod", "delete", hint=a_victim_left)]


class SynchronousPreemption(DefaultPreemption):
    """DefaultPreemption without the feature SchedulerAsyncPreemption.

    Victims are evicted in PostFilter: no other pod is tried until the API server has answered. If
    one cannot be evicted, the pod is not nominated, and its message says why. PreEnqueue has
    nothing to hold back.
    """

    waits_for_evictions = True

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        return fwk.SUCCESS

    def held(self) -> Collection[str]:
        return ()

    def take(self, pod: Pod, candidate: fwk.Candidate) -> Evicting:
        return Evicting(self._evict(pod, candidate))

    async def _evict(self, pod: Pod, candidate: fwk.Candidate) -> PostFilterAnswer:
        try:
            await self._evictions.carry_out(pod, candidate)
        except PodiumError as fault:
            return None, fwk.Status.error(f"preemption: {fault}")
        return nomination(candidate), self.success(candidate)

    def events_to_register(self) -> list[fwk.Registration]:
        return []


class UnreportedPreemption(DefaultPreemption):
    """DefaultPreemption as of 1.36: the pod's message does not mention that there are victims."""

    def success(self, candidate: fwk.Candidate) -> fwk.Status:
        return fwk.SUCCESS


class ExhaustivePreemption(DefaultPreemption):
    """DefaultPreemption as of 1.36, in how victims use up several budgets."""

    budgets = ExhaustiveBudgets


class NotActivatingPreemption(DefaultPreemption):
    """DefaultPreemption as of 1.36, which leaves it to events to wake the pod."""

    evictions = NotActivatingEvictions


def nomination(candidate: fwk.Candidate) -> fwk.Nominate:
    return fwk.Nominate(candidate.node, tuple(info.pod.key for info in candidate.victims))


def a_victim_left(pod: Pod, old: Node | Pod | None, new: Node | Pod | None) -> bool:
    return False


def _prefixed(status: fwk.Status) -> fwk.Status:
    text = f"preemption: {status.message}" if status.message else ""
    return fwk.Status(status.code, (text,) if text else ())


def _problems(percentage: int, absolute: int) -> Iterable[fwk.Problem]:
    names = "minCandidateNodesPercentage", "minCandidateNodesAbsolute"
    yield from outside(names[0], percentage, 0, 100)
    yield from outside(names[1], absolute, 0)
    if percentage == 0 and absolute == 0:
        for name, other in (names, names[::-1]):
            yield invalid(name, 0, f"cannot be zero at the same time as {other}")
