"""One attempt to find a node for one pod, stage by stage. Start reading at ``run``."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.cycle.detail import Detail
from podium.cycle.found import Found
from podium.cycle.judged import Judged
from podium.cycle.outcome import Outcome, Placed, Rejected, failed, refused
from podium.cycle.ranking import Ranking
from podium.cycle.record import Record
from podium.cycle.sampling import nodes_to_find, take_first
from podium.cycle.services import Services
from podium.cycle.tied import Tied
from podium.cycle.verdicts import UNTRACKED, FeasibleVersion
from podium.errors import CacheError
from podium.framework.answers import AttemptFailed
from podium.framework.binding import Target, run_permit, run_reserve, run_unreserve
from podium.framework.calls import FAULTS
from podium.framework.cycle_state import CycleState, PodsToActivate
from podium.framework.diagnosis import Diagnosis, NodeStatuses
from podium.framework.handle import EventNote
from podium.framework.nominated import filter_crowded, filter_with_nominated
from podium.framework.profile import Profile, refusals
from podium.framework.queued_pod import QueuedPod
from podium.framework.signature import Signature
from podium.framework.status import CLEAR, SUCCESS, Code, Nominate, Status
from podium.framework.waiting_pods import WaitingPod
from podium.state.cluster import ClusterState
from podium.state.column import Column
from podium.state.rows import Rows

T = TypeVar("T")

NO_NODES = Status.unresolvable("no nodes available to schedule pods")


class Cycle:
    """The stages of an attempt. During a cycle nothing else writes to the cluster."""

    def __init__(
        self,
        services: Services,
        profile: Profile,
        queued: QueuedPod,
        percentage: int | None = None,
    ) -> None:
        """``percentage`` as ``nodes_to_find`` takes it."""
        self.services = services
        self.profile = profile
        self.queued = queued
        self.pod: Pod = queued.pod
        self.percentage = percentage
        profile.guard(self.pod)
        services.cluster.begin_cycle()
        self.record = Record(
            self.pod.key, self.pod.uid, queued.attempts, profile.name, services.clock.now(),
            nodes=len(services.cluster.table.live_rows()),
        )  # fmt: skip
        classes, signature = services.pod_classes, self._sign()
        try:
            self._pod_class = classes.of(profile, self.pod, signature)
        except FAULTS:  # some plugin's value cannot be compared
            signature = classes.comparable(profile, self.pod, signature)
            self._pod_class = classes.of(profile, self.pod, signature)
        for problem in signature.problems:
            self._report(problem)
        self.state = self._pod_class.judgement.state
        self.record.reused = self._pod_class.is_known
        self._nominated = services.nominator.ahead_of(self.pod, services.cluster.table)
        # For the record: what was found, and how the feasible nodes compare.
        self._found: Found | None = None
        self._ranking: Ranking | None = None

    def _sign(self) -> Signature:
        return self.profile.sign(self.pod)

    def _report(self, problem: str) -> None:
        """Record an event about a `sign` that fails. The decision about the pod is right anyway."""
        note = EventNote("Warning", "SignatureFailed", "Scheduling", problem)
        self.services.events[self.profile.name].record(self.pod, None, note)

    def run(self) -> Outcome:
        """Run the whole cycle; a scheduler with extenders uses ``run_extended`` instead."""
        if self.services.extenders.all:
            raise RuntimeError("this scheduler has extenders, which wait: await run_extended")
        start = perf_counter()
        try:
            found = self.find_feasible()
            self.note(found)
            if len(found.feasible):
                outcome = self.settle(self.choose(found))
            else:
                outcome = self.post_filter(self.diagnose(found))
        except AttemptFailed as failure:
            outcome = failed(failure.status, self.record)
        return self.recorded(outcome, start)

    def recorded(self, outcome: T, start: float) -> T:
        """The end of a cycle: its record is kept."""
        end = perf_counter()
        self.record.seconds["cycle"] = end - start
        self.services.records.add(self.record, end, self._detail)
        return outcome

    def _detail(self) -> Detail | None:
        if self._found is None:
            return None
        return Detail(self.services.cluster.table.names_by_row(), self._found, self._ranking)

    def note(self, found: Found) -> None:
        self.record.feasible = len(found.feasible)
        self.record.rejected = found.rejections()
        self.profile.count_refusals(self.record.rejected)
        self._found = found  # last, because counting refusals may call plugins, which may raise

    # --- PreFilter, Filter -----------------------------------------------------------------------

    def find_feasible(self, *, fast_path: bool = True) -> Found:
        """Judge the nodes; a nominated node that fits is taken alone on the fast path."""
        if not self.record.nodes:
            raise AttemptFailed(NO_NODES)
        classes = self.services.pod_classes
        try:
            judged = self._pod_class.judgement.refresh(self.pod)
        except BaseException as failure:
            # What was interrupted has read the journal without using it: it cannot be kept. If a
            # plugin failed on a node that it would not see in strict order, judge in that order.
            classes.drop(self._pod_class)
            if not isinstance(failure, AttemptFailed) or not self._pod_class.may_be_out_of_turn(
                failure
            ):
                raise
            self._pod_class = classes.scratch(self.profile, self.pod)
            self.record.reused = False
            judged = self._pod_class.judgement.refresh(self.pod)
        classes.keep(self._pod_class)
        self.state = judged.state
        if not judged.pre.status.ok:  # no node was judged
            none = _no_nodes(self.services.cluster)
            return Found(judged, none, NodeStatuses.none(none, judged.pre.status))
        tried = self._nominated_row() if fast_path else None
        if tried is None:
            return self._sample(self._leave_room(judged), None)
        alone = Rows(self.services.cluster, np.array([tried], np.intp))
        if self._has_room(alone, judged):
            return Found(judged, alone)
        found = self._leave_room(judged)
        status = self._judge_nominated(alone, found)
        if status is not None and status.ok:
            return found.narrowed(alone, found.statuses)
        sampled = self._sample(found, tried)
        return sampled if status is None else sampled.after_nominated(tried, status)

    def _leave_room(self, judged: Judged) -> Found:
        """Judge nodes with nominated pods a second time, with those pods there."""
        cluster, verdicts = self.services.cluster, judged.verdicts
        found = Found(judged, Rows(cluster, verdicts.feasible), None, verdicts.version)
        if self._nominated is None:
            return found
        statuses = found.statuses
        rows = statuses.nodes.index
        crowded = np.flatnonzero(self._nominated.are_on(rows))
        if not len(crowded):
            return found
        some = Rows(cluster, rows[crowded])
        again = filter_crowded(self.profile, self.state, self.pod, some, self._nominated)
        refused = refusals(again)
        if not refused.any():
            return found
        # The nodes that take the pod with these pods have been judged without them already.
        both = statuses.statuses.patched(
            crowded[refused], Column(again.values, again.index[refused])
        )
        feasible = Rows(cluster, rows[~refusals(both)])
        return found.narrowed(feasible, NodeStatuses(statuses.nodes, both, statuses.absent))

    def _has_room(self, alone: Rows, judged: Judged) -> bool:
        """Return whether this node is feasible, with the nominated pods there and without them."""
        feasible, row = judged.verdicts.feasible, alone.index[0]
        position = int(np.searchsorted(feasible, row))
        if position == len(feasible) or feasible[position] != row:
            return False
        nominated = self._nominated
        if nominated is None or not nominated.are_on(alone.index)[0]:
            return True
        crowded = filter_crowded(self.profile, self.state, self.pod, alone, nominated)
        return not refusals(crowded)[0]

    def _nominated_row(self) -> int | None:
        name = self.pod.nominated_node_name
        return self.services.cluster.table.live_row(name) if name else None

    def _judge_nominated(self, alone: Rows, found: Found) -> Status | None:
        """The nodes that PreFilter wants do not bind a nomination, as upstream: ask the filters."""
        wanted = found.pre_filtered.node_names
        if wanted is None or self.pod.nominated_node_name in wanted:
            return found.statuses.of(alone.at(0))
        try:
            statuses = filter_with_nominated(
                self.profile, self.state, self.pod, alone, self._nominated
            )
        except AttemptFailed:
            return None  # the other nodes are looked at instead
        return statuses.values[int(statuses.index[0])]

    def _sample(self, found: Found, tried: int | None) -> Found:
        """Keep as many feasible nodes as a configured percentage asks for."""
        if self.percentage is None:
            return found
        nodes = found.statuses.nodes
        # Nobody scores: the first node that fits will do.
        is_scored = self.profile.scores or self.services.extenders.judge
        enough = nodes_to_find(len(nodes), self.percentage) if is_scored else 1
        if enough >= len(nodes):
            self._advance(nodes.index, tried)
            return found
        table = self.services.cluster.table
        in_order = self._in_order(found)
        is_feasible = np.zeros(table.size, np.bool_)
        is_feasible[found.feasible.index] = True
        start = self.services.node_walk.start % len(in_order)
        kept, seen = take_first(in_order, is_feasible, start, enough)
        self._advance(seen, tried)
        positions = np.flatnonzero(np.isin(nodes.index, seen))
        statuses = Column(found.statuses.statuses.values, found.statuses.statuses.index[positions])
        explicit = NodeStatuses(
            Rows(nodes.cluster, nodes.index[positions]), statuses, found.statuses.absent
        )
        return found.narrowed(Rows(nodes.cluster, kept), explicit)

    def _in_order(self, found: Found) -> NDArray[np.intp]:
        """Return the rows of all candidates in the order in which they are sampled."""
        in_order = self.services.cluster.table.rows_in_order()
        if found.pre_filtered.node_names is None:
            return in_order
        return in_order[np.isin(in_order, found.statuses.nodes.index)]

    def _advance(self, seen: NDArray[np.intp], tried: int | None) -> None:
        """Say where the next walk starts; a nominated node that was tried in vain counts too."""
        count = len(seen) + (tried is not None and tried not in seen)
        walk = self.services.node_walk
        walk.start = (walk.start + count) % self.record.nodes

    # --- PreScore, Score, NormalizeScore ---------------------------------------------------------

    def choose(self, found: Found) -> int:
        """Return the row of the best node; a lone feasible node is not scored."""
        if len(found.feasible) == 1:
            return int(found.feasible.index[0])
        ranking = self.score(found.feasible, found.version)
        board = ranking.scoreboard
        return self.pick(ranking, ranking.best() if board is None else board.best(ranking.nodes))

    def pick(self, ranking: Ranking, best: Tied) -> int:
        """One of the best rows."""
        row = best.choose(f"{self.services.seed}/{self.pod.uid}/{self.queued.attempts}")
        self._ranking = ranking
        self.record.tied = len(best)
        return row

    def score(self, feasible: Rows, version: FeasibleVersion = UNTRACKED) -> Ranking:
        """Score these nodes; ``version`` as ``Found`` gives it for its feasible nodes."""
        if not self.profile.scores:
            return Ranking(feasible)
        board = self._pod_class.scoreboard
        try:
            board.refresh(self.state, self.pod, feasible, version)
        except BaseException:
            self.services.pod_classes.drop(self._pod_class)
            raise
        return Ranking(feasible, board)

    # --- PostFilter ------------------------------------------------------------------------------

    def diagnose(self, found: Found) -> Diagnosis:
        """Why nothing is feasible."""
        diagnosis = Diagnosis(self.record.nodes, found.statuses)
        pre = found.pre_filtered
        diagnosis.unschedulable_plugins |= pre.narrowed_by
        if pre.status.is_rejection:
            diagnosis.pre_filter_message = pre.status.message
            diagnosis.blame(pre.status)
        for status in found.statuses.distinct():
            diagnosis.blame(status)
        return diagnosis

    def post_filter(self, diagnosis: Diagnosis) -> Rejected:
        """Let PostFilter try to make room; the pod stays rejected for now either way."""
        if not self.profile.post_filters:
            return self.refuse(diagnosis, CLEAR, None)
        state = self.state.fork()
        return self.refuse(
            diagnosis, *self.profile.run_post_filters(state, self.pod, diagnosis.statuses)
        )

    def refuse(
        self, diagnosis: Diagnosis, nominate: Nominate | None, answer: Status | None
    ) -> Rejected:
        """Reject the pod; ``answer`` is the status that PostFilter returned, if it was asked."""
        diagnosis.post_filter_message = answer.message if answer is not None else ""
        if nominate is not None:
            self.record.nominated, self.record.victims = nominate.node, nominate.victims
        self.record.message = message = diagnosis.message
        status = Status(Code.UNSCHEDULABLE, (message,))
        failed_as = None if answer is not None and answer.ok else self._shared_class()
        return Rejected(status, self.record, diagnosis, nominate, answer, failed_as)

    def _shared_class(self) -> Hashable:
        """Name the class of pods for which this attempt speaks; ``None`` if for no other pod."""
        pod, signature = self.pod, self._pod_class.signature
        if signature is None or signature.unsigned or self.services.extenders.all:
            return None
        if pod.nominated_node_name or self.profile.has_outside_plugins:
            return None
        # PostFilter does not sign. Beside the priority, preemption reads the policy.
        return signature.number, pod.priority, pod.spec.preemption_policy

    # --- assume, Reserve, Permit -----------------------------------------------------------------

    def settle(self, row: int, state: CycleState | None = None) -> Outcome:
        """Take the row: assume the pod there, reserve, and ask Permit.

        Whatever is raised or refused after that, Reserve and assume are undone first. ``state`` is
        given if the pod was judged earlier than by the last cycle.
        """
        ref = self.services.cluster.table.ref(row)
        own = self.state if state is None else state
        target = Target(self.profile, own.fork(), self.pod, ref.name)
        try:
            self.services.cluster.assume(self.queued.info, row)
        except CacheError as fault:
            return failed(Status.error(fault), self.record)
        try:
            status = self._reserve_and_permit(target)
        except BaseException:
            self.undo(target)
            raise
        if not status.ok and not status.is_wait:
            self.undo(target)
            return refused(status, self.record, self.services.cluster)
        self.record.node = ref.name
        return Placed(target, ref, status, self.record)

    def _reserve_and_permit(self, target: Target) -> Status:
        """Run Reserve and Permit; what they leave to be done is done if both agree."""
        self.services.nominator.remove(self.pod.uid)
        status = run_reserve(target)
        if not status.ok:
            return status
        waits, status = run_permit(target)
        if not status.ok and not status.is_wait:
            return status
        if waits:
            try:
                waiting = WaitingPod(self.pod, waits, self.services.clock)
            except Exception as fault:  # a shell that cannot wait
                return Status.error(fault)
            self.services.waiting_pods.add(waiting)
        activate = target.state.get(PodsToActivate)
        if activate.pods:
            self.services.activate(activate.pods.values())
            activate.pods = {}
        return status if waits else SUCCESS

    def try_out(self, row: int, state: CycleState) -> Target | Rejected:
        """Assume the pod on this row and reserve, without Permit; ``undo`` takes it back."""
        target = Target(self.profile, state, self.pod, self.services.cluster.table.names[row])
        try:
            self.services.cluster.assume(self.queued.info, row)
        except CacheError as fault:
            return failed(Status.error(fault), self.record)
        self.services.nominator.remove(self.pod.uid)
        status = run_reserve(target)
        if status.ok:
            return target
        self.undo(target)
        return refused(status, self.record, self.services.cluster)

    def undo(self, target: Target) -> None:
        """Undo Reserve and assume, in this order."""
        self.services.waiting_pods.remove(self.pod.uid)
        try:
            for left in run_unreserve(target):
                self.services.spawn("unreserve", _awaited(left))
        finally:
            self.services.cluster.forget(self.pod.uid)


def _no_nodes(cluster: ClusterState) -> Rows:
    return Rows(cluster, np.zeros(0, np.intp))


async def _awaited(left: Awaitable[None]) -> None:
    await left
