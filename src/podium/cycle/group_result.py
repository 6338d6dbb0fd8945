"""How the cycle of a pod group ends: for each group of its tree, and for each member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from podium.api.objects import PodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.cycle.cycle import Cycle
from podium.cycle.outcome import Rejected
from podium.cycle.record import Record
from podium.framework.cycle_state import CycleState
from podium.framework.group_trial import Nominations
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import CLEAR, SUCCESS, Code, Nominate, Status

MembersOf = Mapping[str, Sequence[QueuedPod]]
"""The waiting members of each PodGroup of a tree, by its key; it may be missing without any."""

UNSCHEDULABLE: Final = "pod group is unschedulable"


def unschedulable(*reasons: str) -> Status:
    """Return the status of a group for which too few members fit."""
    return Status(Code.UNSCHEDULABLE, (UNSCHEDULABLE, *reasons))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A node for a member: found in ``cycle`` with ``state``, tried out, and taken back."""

    cycle: Cycle
    row: int
    state: CycleState

    @property
    def node_name(self) -> str:
        return self.cycle.services.cluster.table.names[self.row]


@dataclass(slots=True)
class MemberResult:
    """The result for one member: a proposal, or why it was rejected.

    ``nominate`` is set by PodGroupPostFilter. ``state`` is that of its cycle, if plugins were
    asked.
    """

    queued: QueuedPod
    outcome: Proposal | Rejected
    start: float
    state: CycleState | None = None
    nominate: Nominate | None = None

    @property
    def status(self) -> Status:
        return SUCCESS if isinstance(self.outcome, Proposal) else self.outcome.status


@dataclass(slots=True)
class GroupResult:
    """The status of a group, and its members in order. If it failed, some may be missing.

    A CompositePodGroup has ``children`` instead, by their entity keys: those that were tried.
    ``complete`` adds what is missing.
    """

    group: SchedulingGroup
    status: Status
    members: list[MemberResult] = field(default_factory=list)
    waits_for_preemption: bool = False
    children: dict[str, GroupResult] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """Return how the attempt counts in metrics."""
        if self.status.ok:
            return "scheduled"
        if not self.status.is_rejection:
            return "error"
        return "waiting_on_preemption" if self.waits_for_preemption else "unschedulable"

    @property
    def tree(self) -> Iterator[GroupResult]:
        """The results of this group and of all groups below it."""
        yield self
        for child in self.children.values():
            yield from child.tree

    @property
    def leaves(self) -> Iterator[tuple[PodGroup, GroupResult]]:
        """The results of PodGroups."""
        for each in self.tree:
            if isinstance(each.group, PodGroup):
                yield each.group, each

    @property
    def placed(self) -> list[Proposal]:
        """Return where members would run: those of PodGroups that fit, in groups that fit."""
        if not self.status.ok:
            return []
        own = [each.outcome for each in self.members if isinstance(each.outcome, Proposal)]
        return own + [each for child in self.children.values() for each in child.placed]

    def complete(
        self,
        members: MembersOf,
        start: float,
        children_of: Callable[[SchedulingGroup], Sequence[SchedulingGroup]],
    ) -> None:
        """Give groups and members that were not tried the status of the group above them.

        Groups that fit get it as well if the group above them does not.
        """
        for queued in members.get(self.group.key, ())[len(self.members) :]:
            rejected = Rejected(self.status, _record(queued, self.status))
            self.members.append(MemberResult(queued, rejected, start))
        tried, self.children = self.children, {}
        for child in children_of(self.group):
            result = tried.get(child.entity_key)
            if result is None:
                result = GroupResult(child, self.status)
            elif result.status.ok and not self.status.ok:
                result = GroupResult(child, self.status, children=result.children)
            self.children[child.entity_key] = result
            result.complete(members, start, children_of)

    def apply(self, nominations: Nominations, answer: Status) -> None:
        """Add what PodGroupPostFilter has answered, to all groups of the tree.

        As upstream, groups that share a status get the text once for each of them.
        """
        results = list(self.tree)
        times = Counter(id(each.status) for each in results)
        changed = {
            id(each.status): _with_answer(each.status, answer, times[id(each.status)])
            for each in results
        }
        for each in results:
            each.status = changed[id(each.status)]
            each.waits_for_preemption = answer.ok
            for member in each.members if answer.ok else ():
                member.nominate = nominations.get(member.queued.uid, member.nominate)

    def rejection(self, member: MemberResult) -> Rejected:
        """Return how a member failed whose group failed, or that failed on its own."""
        own = member.outcome
        if self.status.code is Code.ERROR:
            if isinstance(own, Rejected) and own.status.code is Code.ERROR:
                return own
            return Rejected(self.status, _record(member.queued, self.status), None, CLEAR)
        if isinstance(own, Rejected):
            nominate = own.nominate if member.nominate is None else member.nominate
            return Rejected(own.status, own.record, own.diagnosis, nominate)
        if self.waits_for_preemption:
            status, nominate = self.status, member.nominate
        else:
            status, nominate = unschedulable(self.status.message), CLEAR
        own.cycle.record.message = status.message
        return Rejected(status, own.cycle.record, None, nominate)


def _with_answer(status: Status, answer: Status, times: int) -> Status:
    if answer.code is Code.ERROR:
        return answer
    # As upstream an empty answer is added, too: the message then ends with a comma.
    details = (*status.details, *[answer.message] * times)
    return Status(status.code, details, status.plugin)


def _record(queued: QueuedPod, status: Status) -> Record:
    pod = queued.pod
    return Record(pod.key, pod.uid, queued.attempts, pod.scheduler_name, message=status.message)
