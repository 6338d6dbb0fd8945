"""The main loop with the feature gate GenericWorkload: it takes pods and whole pod groups.

Start reading at ``GroupScheduler.attempt``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from podium.api.pod_groups import POD_GROUP, SchedulingGroup
from podium.cycle.group_cycle import GroupCycle
from podium.cycle.group_result import GroupResult, Proposal
from podium.cycle.group_rules import PolicyRule, problem_of
from podium.cycle.group_trial import GroupTrial
from podium.cycle.outcome import Placed, Rejected, failed
from podium.cycle.record import Record
from podium.framework.pod_groups import run_pod_group_post_filters
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.framework.queued_pod_group import QueuedPodGroup
from podium.framework.status import SUCCESS, Code, Status
from podium.live.attempt import Attempt
from podium.live.group_status import GroupStatuses
from podium.live.scheduler import Scheduler, is_ending
from podium.logs import get_logger
from podium.metrics import GroupMetrics
from podium.queue.group_queue import GroupQueue

log = get_logger(__name__)

StartGroupCycle = Callable[[Profile, SchedulingGroup, Sequence[QueuedPod]], GroupCycle]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScheduler(Scheduler):
    """Schedules the members of a group together, and all other pods one by one."""

    queue: GroupQueue
    groups: GroupStatuses
    profiles: Mapping[str, Profile]
    counts: GroupMetrics
    start_group_cycle: StartGroupCycle
    policy_rule: PolicyRule

    async def attempt(self, queued: QueuedPod) -> None:
        if not isinstance(queued, QueuedPodGroup):
            await Scheduler.attempt(self, queued)
            return
        with self.gate.closed():  # the cluster stands still until the cycle ends
            try:
                await self._attempt_group(queued)
            except (Exception, asyncio.CancelledError) as fault:
                if is_ending():
                    raise
                log.error("pod group scheduling cycle failed", podGroup=queued.group.key)
                self._fail(queued, queued.group, Status.error(fault))

    async def _attempt_group(self, queued: QueuedPodGroup) -> None:
        key, start = queued.group.key, self.services.clock.now()
        cluster = self.services.cluster
        group = cluster.trees.get(queued.key)
        if group is None:
            kind = "pod group" if queued.group.entity_type == POD_GROUP else "composite pod group"
            what = f"{kind} object not found for {kind} {queued.key}"
            self._fail(queued, None, Status.error(what))
            return
        leaves = cluster.trees.leaves(group)
        placed = (pod for leaf in leaves for pod in cluster.members(leaf.key).scheduled())
        pods = [member.pod for member in queued.members]
        if problem := problem_of(group, pods, placed, self.profiles, self.policy_rule):
            self._fail(queued, group, Status.error(problem))
            return
        self._leave_out_skipped(queued)
        if not queued.members:
            self.queue.put_back_group(queued, SUCCESS)
            return
        log.v(3, "Attempting to schedule pod group", podGroup=key)
        profile = self.profiles[queued.members[0].pod.scheduler_name]
        cycle = self.start_group_cycle(profile, group, queued.members)
        await self._run(queued, cycle, start)

    async def _run(self, queued: QueuedPodGroup, cycle: GroupCycle, start: float) -> None:
        begin = perf_counter()
        result = await cycle.run()
        members: dict[str, list[QueuedPod]] = {}
        for member in queued.members:
            members.setdefault(member.pod.group_key, []).append(member)
        result.complete(members, start, self.services.cluster.trees.children)
        before = result.status
        self.counts.algorithm_seconds.observe(perf_counter() - begin)
        if before.code is Code.UNSCHEDULABLE:
            trial = GroupTrial(cycle, result)
            result.apply(*await run_pod_group_post_filters(cycle.profile, trial))
            cycle.profile.calls.report()
        for group, each in result.leaves:
            self._submit(cycle, each)
            self.groups.write(group, each.status)
        seconds = self.services.clock.now() - start
        self.counts.observe_attempt(cycle.profile.name, result.summary, seconds)
        self.queue.put_back_group(queued, before)

    def _leave_out_skipped(self, queued: QueuedPodGroup) -> None:
        """Leave out members that are being deleted, or are on their way to a node already."""
        skipped = {member.uid for member in queued.members if self.should_skip(member.pod)}
        for uid in skipped:
            self.queue.done(uid)
        if skipped:
            queued.keep(lambda member: member.uid not in skipped)

    def _fail(self, queued: QueuedPodGroup, group: SchedulingGroup | None, status: Status) -> None:
        """Return all members to the queue before any was tried."""
        start = self.services.clock.now()
        for member in queued.members:
            pod = member.pod
            if pod.scheduler_name not in self.profiles:
                self.queue.done(pod.uid)
                continue
            record = Record(pod.key, pod.uid, member.attempts, pod.scheduler_name)
            attempt = Attempt(member, pod.scheduler_name, start)
            self.failures.handle(attempt, failed(status, record))
        for leaf in self.services.cluster.trees.leaves(group) if group is not None else ():
            self.groups.write(leaf, status)
        self.queue.put_back_group(queued, status)

    def _submit(self, cycle: GroupCycle, result: GroupResult) -> None:
        """Bind the members of a PodGroup that found a node, if it may; return the others."""
        log.v(
            2, "Pod group scheduling cycle ended", podGroup=result.group.key,
            result=result.summary, err=result.status.message,
        )  # fmt: skip
        for member in result.members:
            attempt = Attempt(member.queued, cycle.profile.name, member.start)
            if result.status.ok and isinstance(member.outcome, Proposal):
                self._take(attempt, member.outcome)
            else:
                self.failures.handle(attempt, result.rejection(member))

    def _take(self, attempt: Attempt, proposal: Proposal) -> None:
        """Assume a member on its node, and bind it in the background.

        Reserve or Permit may still refuse it; the other members go on then.
        """
        outcome = proposal.cycle.settle(proposal.row, proposal.state)
        match outcome:
            case Placed() as placed:
                self.bindings.spawn("binding", self.bind(attempt, placed))
            case Rejected() as rejected:
                self.failures.handle(attempt, rejected)
