"""Eviction of victims, usually in the background so that the next pod does not wait for it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from podium import framework as fwk
from podium.api.objects import Condition, Pod
from podium.api.pod_groups import SchedulingGroup
from podium.clock import sleep
from podium.errors import NotFound, PodiumError
from podium.plugins.preemption.evaluator import REASON

IN_MEMORY = " (in kube-scheduler memory)."
RETRY_SECONDS = 1.0
# If the watch shows nothing for this long, it has lost the deletion: the next attempt shows that.
UNSEEN_SECONDS = 10.0


class Preemptor(NamedTuple):
    """The pod or pod group that evicts. ``pods`` are woken when an eviction needs no event."""

    kind: str
    uid: str
    key: str
    priority: int
    pods: tuple[Pod, ...]

    @classmethod
    def of_pod(cls, pod: Pod) -> Preemptor:
        return cls("pod", pod.uid, pod.key, pod.priority, (pod,))

    @classmethod
    def of_group(cls, group: SchedulingGroup, pods: Sequence[Pod]) -> Preemptor:
        return cls(group.entity_type, group.uid, group.key, group.priority, tuple(pods))


@dataclass(slots=True, eq=False)
class _Hold:
    """Keeps a pod back until its last victim leaves.

    ``last`` is that victim, and None while there are others. ``until`` ends the wait in any case;
    it is set when all are evicted.
    """

    last: fwk.PodInfo | None = None
    until: float = math.inf


class Evictions:
    """The preemptors that victims make room for, by uid, and what each of them waits for.

    A preemptor waits until the watch shows its last victim leaving: an attempt before would find no
    room and would evict more pods.
    """

    def __init__(self, handle: fwk.Handle) -> None:
        self._handle = handle
        self._holds: dict[str, _Hold] = {}

    def start(self, pod: Pod, candidate: fwk.Candidate) -> None:
        """Evict the candidate's victims in the background, except those already terminating."""
        self._handle.metrics.preempted(len(candidate.victims))
        self.start_for(Preemptor.of_pod(pod), candidate.node, candidate.victims)

    def start_for(self, preemptor: Preemptor, node: str, victims: Sequence[fwk.PodInfo]) -> None:
        victims = _not_terminating(victims)
        if not victims:
            return
        self._holds[preemptor.uid] = hold = _Hold()
        work = self._carry_out(preemptor, node, victims, hold)
        self._handle.spawn(f"preemption for {preemptor.key}", work)

    async def carry_out(self, pod: Pod, candidate: fwk.Candidate) -> None:
        """Evict the victims and wait for that; raise if one cannot be evicted."""
        self._handle.metrics.preempted(len(candidate.victims))
        await self.carry_out_for(Preemptor.of_pod(pod), candidate.node, candidate.victims)

    async def carry_out_for(
        self, preemptor: Preemptor, node: str, victims: Sequence[fwk.PodInfo]
    ) -> None:
        left = _not_terminating(victims)
        await _wait_for_all(self._evict(preemptor, node, info.pod) for info in left)
        await self._clear_lower_nominations(preemptor, node)

    def holds(self, uid: str) -> bool:
        """Return whether this pod or group must wait for its victims to leave."""
        hold = self._holds.get(uid)
        return hold is not None and self._must_wait(hold)

    def held(self) -> Collection[str]:
        """Return the uids of all pods that must wait."""
        self._holds = {uid: hold for uid, hold in self._holds.items() if self._must_wait(hold)}
        return self._holds.keys()

    def _must_wait(self, hold: _Hold) -> bool:
        if hold.last is None:
            return True
        victim = self._handle.cluster.pods.get(hold.last.uid)
        is_leaving = victim is None or victim.pod.is_terminating
        return not is_leaving and self._handle.clock.now() < hold.until

    async def _carry_out(
        self, preemptor: Preemptor, node: str, victims: list[fwk.PodInfo], hold: _Hold
    ) -> None:
        """Evict all victims but one together, then the last, whose deletion wakes the pod."""
        begin, result, in_memory = self._handle.clock.now(), "error", False
        was_leaving = False
        try:
            await self._clear_lower_nominations(preemptor, node)
            *others, last = victims
            await _wait_for_all(self._evict(preemptor, node, info.pod) for info in others)
            hold.last = last
            # Somebody else deleted it: the event came while the pod was still held back.
            was_leaving = not self._must_wait(hold)
            in_memory = await self._evict(preemptor, node, last.pod)
            result = "success"
        except PodiumError as fault:
            self._handle.log.warning(
                "preemption failed", pod=preemptor.key, node=node, why=str(fault)
            )
        except Exception:
            self._handle.log.error("preemption failed", pod=preemptor.key, node=node)
        finally:
            self._evicted(preemptor, result, self._handle.clock.now() - begin)
            if result == "success" and not in_memory:
                hold.until = self._handle.clock.now() + UNSEEN_SECONDS
            elif self._holds.get(preemptor.uid) is hold:  # else another one has begun meanwhile
                del self._holds[preemptor.uid]
        if result == "error":
            self._handle.spawn(f"another attempt of {preemptor.key}", self._try_again(preemptor))
        elif in_memory:
            self._wake(preemptor)
        elif was_leaving:
            self._handle.activate(preemptor.pods)

    def _evicted(self, preemptor: Preemptor, result: str, seconds: float) -> None:
        self._handle.metrics.evicted(result, seconds)

    def _wake(self, preemptor: Preemptor) -> None:
        """Wake the pod when the last victim was never bound: no deletion will be announced."""
        self._handle.activate(preemptor.pods)

    async def _try_again(self, preemptor: Preemptor) -> None:
        """Wake the pod after a failed preemption, since no event will.

        Not at once: without permission to delete pods, kube-scheduler tries 575 times a second.
        """
        await sleep(self._handle.clock, RETRY_SECONDS)
        self._handle.activate(preemptor.pods)

    async def _clear_lower_nominations(self, preemptor: Preemptor, node: str) -> None:
        """Clear the nominations of lower-priority pods that are nominated for this node."""
        for info in self._handle.nominator.on(node):
            if info.priority < preemptor.priority and info.pod.nominated_node_name:
                try:
                    await self._handle.client.clear_nominated_node_name(info.pod)
                except PodiumError:
                    self._handle.log.error("cannot clear nomination", pod=info.key, node=node)

    async def _evict(self, preemptor: Preemptor, node: str, victim: Pod) -> bool:
        """Cancel the victim if it is still waiting or binding, else mark and delete it.

        Return whether it was only cancelled, in the memory of this scheduler.
        """
        waiting = self._handle.waiting_pods.get(victim.uid)
        if waiting is not None and waiting.preempt("DefaultPreemption", "preempted"):
            self._record_event(preemptor, node, victim, IN_MEMORY)
            return True
        binding = self._handle.pods_in_pre_bind.get(victim.uid)
        if binding is not None and binding.cancel("preempted by DefaultPreemption"):
            self._record_event(preemptor, node, victim, IN_MEMORY)
            return True
        try:
            await self._handle.client.patch_pod_condition(victim, _disrupted(preemptor, victim))
            await self._handle.client.delete_pod(victim)
        except NotFound:
            return False  # gone already: nothing was evicted, so there is no event
        self._record_event(preemptor, node, victim, "")
        return False

    def _record_event(self, preemptor: Preemptor, node: str, victim: Pod, how: str) -> None:
        note = f"Preempted by {preemptor.kind} {preemptor.uid} on node {node}{how}"
        event = fwk.EventNote("Normal", "Preempted", "Preempting", note)
        related = preemptor.pods[0] if preemptor.kind == "pod" else None
        self._handle.events.record(victim, related, event)


class GroupEvictions(Evictions):
    """Evictions that are also counted by who makes room: a pod or a pod group."""

    def _evicted(self, preemptor: Preemptor, result: str, seconds: float) -> None:
        super()._evicted(preemptor, result, seconds)
        self._handle.metrics.preemption_executed(preemptor.kind, result, seconds)


class NotActivatingEvictions(Evictions):
    """Evictions as of 1.36: if the last victim was never bound, the pod waits for another event."""

    def _wake(self, preemptor: Preemptor) -> None:
        """Do nothing."""


async def _wait_for_all(evictions: Iterable[Coroutine[Any, Any, bool]]) -> None:
    """Wait for all evictions even if one fails, so that none is still running afterwards."""
    for outcome in await asyncio.gather(*evictions, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def _not_terminating(victims: Iterable[fwk.PodInfo]) -> list[fwk.PodInfo]:
    return [info for info in victims if not info.pod.is_terminating]


def _disrupted(preemptor: Preemptor, victim: Pod) -> Condition:
    name, kind = preemptor.pods[0].scheduler_name, preemptor.kind
    return Condition(
        type="DisruptionTarget",
        status="True",
        reason=REASON,
        message=f"{name}: preempting to accommodate a higher priority {kind}",
        observed_generation=victim.metadata.generation,
    )
