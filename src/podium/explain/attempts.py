"""Attempts that leave nothing behind: what would happen to a pod if it were tried now."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from podium.api.objects import Pod
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.cycle.offline import OfflineCore
from podium.cycle.outcome import Placed
from podium.cycle.ranking import Ranking
from podium.framework.answers import AttemptFailed
from podium.framework.binding import Target, run_permit, run_unreserve
from podium.framework.plugin import is_in_tree
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import SUCCESS, Nominate, Status
from podium.state.pod_info import PodInfo


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far an attempt got.

    ``profile`` is ``None`` if no profile has the pod's scheduler name. ``gate`` is the status of
    PreEnqueue. ``found`` is there once nodes were judged. ``error`` is what ended the attempt,
    ``settled`` what Reserve and Permit said about ``node``, the chosen one. ``victims`` are the
    pods that were preempted before, and ``choices`` how many nodes had equally good ones. An
    attempt is ``contested`` if it succeeds or fails depending on which pending pod wakes up first.
    """

    pod: Pod
    profile: Profile | None
    gate: Status = SUCCESS
    cycle: Cycle | None = None
    found: Found | None = None
    error: Status | None = None
    node: str = ""
    settled: Status = SUCCESS
    victims: tuple[str, ...] = ()
    choices: int = 1
    contested: bool = False

    @property
    def places(self) -> bool:
        """Whether the pod gets a node.

        A pod that Coscheduling lets wait for the rest of its group needs nothing more itself.
        """
        return bool(self.node) and (self.settled.ok or self._waits_for_group)

    @property
    def _waits_for_group(self) -> bool:
        return self.settled.is_wait and self.settled.plugin not in _outside_permits(self.profile)

    @property
    def tied(self) -> int:
        """Return how many nodes are as good as the chosen one, counting it."""
        return max(self.choices, 0 if self.cycle is None else self.cycle.record.tied)

    @property
    def refusal(self) -> Status | None:
        """Return the status that refused the pod before nodes were judged, if there is one."""
        if self.found is None or self.found.pre_filtered.status.ok:
            return None
        return self.found.pre_filtered.status


class Attempts:
    """Runs attempts on a core and undoes them.

    ``failures`` has the first error of each plugin that failed in any of them.
    """

    def __init__(self, core: OfflineCore) -> None:
        self.core = core
        self.failures: dict[str, str] = {}

    def run(self, pod: Pod) -> Attempt:
        """Try a pod that is not placed."""
        profile = self.core.profiles.get(pod.scheduler_name)
        if profile is None:
            return Attempt(pod, None)
        gate = profile.run_pre_enqueue(pod)
        if not gate.ok:
            return Attempt(pod, profile, gate)
        walk = self.core.services.node_walk
        start = walk.start
        try:
            attempt = self._judge(pod, profile)
            if attempt.error is not None and not attempt.error.is_rejection:
                self.failures.setdefault(attempt.error.plugin, attempt.error.message)
            return attempt
        finally:
            walk.start = start  # the next real attempt looks at the same nodes as without this one

    def ranking(self, attempt: Attempt) -> Ranking | None:
        """Return the scores of the feasible nodes of the latest attempt."""
        if attempt.cycle is None or attempt.found is None or not len(attempt.found.feasible):
            return None
        return attempt.cycle.score(attempt.found.feasible, attempt.found.version)

    def _judge(self, pod: Pod, profile: Profile) -> Attempt:
        cycle = self.core.cycle(QueuedPod.of(pod))
        found: Found | None = None
        try:
            found = cycle.find_feasible()
            if not len(found.feasible):
                return Attempt(pod, profile, cycle=cycle, found=found)
            row = cycle.choose(found)
        except AttemptFailed as failure:
            return Attempt(pod, profile, cycle=cycle, found=found, error=failure.status)
        node = self.core.cluster.table.names[row]
        settled = self._settle(cycle, row) if profile.has_outside_plugins else _permit(cycle, node)
        return Attempt(pod, profile, cycle=cycle, found=found, node=node, settled=settled)

    def _settle(self, cycle: Cycle, row: int) -> Status:
        """Ask Reserve and Permit, and undo what they did.

        Podium's own plugins refuse nothing in Reserve that their filters accept, so that they are
        only asked for a permit: to Coscheduling an Unreserve means that the whole group failed.

        A wait for the rest of a PodGroup is left out, as in ``_permit``; any other one is in the
        name of a plugin from outside, if one of them waits.
        """
        with self._settled(cycle, row) as status:
            if not status.is_wait:
                return status
            waiting = self.core.services.waiting_pods.get(cycle.pod.uid)
            plugins = () if waiting is None else waiting.pending_plugins
            outside = [each for each in plugins if each in _outside_permits(cycle.profile)]
            if outside:
                return status.by(outside[0])
            return SUCCESS if cycle.pod.group_key else status

    @contextmanager
    def settled(self, attempt: Attempt) -> Iterator[None]:
        """Give the pod of the latest attempt its node, volumes and devices until the block ends."""
        gets_node = bool(attempt.node) and attempt.settled.ok
        row = self.core.cluster.table.live_row(attempt.node) if gets_node else None
        if attempt.cycle is None or row is None:
            yield
            return
        with self._settled(attempt.cycle, row):
            yield

    @contextmanager
    def _settled(self, cycle: Cycle, row: int) -> Iterator[Status]:
        nominator, pod = self.core.nominator, cycle.pod
        nominated = nominator.node_of(pod.uid)
        outcome = cycle.settle(row)
        try:
            yield outcome.status
        finally:
            if isinstance(outcome, Placed):
                self._undo(outcome)
            if nominated is not None:
                nominator.add(PodInfo(pod), Nominate(nominated))

    def _undo(self, placed: Placed) -> None:
        uid = placed.target.pod.uid
        self.core.services.waiting_pods.remove(uid)
        for left in run_unreserve(placed.target):
            if inspect.iscoroutine(left):
                left.close()  # there is no cluster in which something could be undone
        self.core.cluster.forget(uid)


def _outside_permits(profile: Profile | None) -> frozenset[str]:
    """Return the names of the plugins at Permit that podium does not come with."""
    permits = () if profile is None else profile.permits
    return frozenset(plugin.name for plugin in permits if not is_in_tree(plugin))


def _permit(cycle: Cycle, node: str) -> Status:
    """Ask Permit alone, because the pod is not about to be bound.

    The pods of a PodGroup of Kubernetes are not asked about one by one: see ``pod_group``.
    """
    if cycle.pod.group_key:
        return SUCCESS
    _, status = run_permit(Target(cycle.profile, cycle.state, cycle.pod, node))
    return status
