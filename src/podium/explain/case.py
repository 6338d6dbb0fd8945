"""One pod on one cluster: an attempt, and what every filter says about every node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod, PodGroup
from podium.cycle.offline import OfflineCore
from podium.explain.attempts import Attempt, Attempts
from podium.explain.edits import Edit, applied, departure
from podium.explain.preemption import Preempted, preempt
from podium.framework.answers import AttemptFailed
from podium.framework.nominated import filter_crowded
from podium.framework.preemption import Candidate
from podium.framework.profile import refusals
from podium.framework.status import SUCCESS, Nominate, Status
from podium.state.cluster import ClusterState
from podium.state.column import Column
from podium.state.pod_info import PodInfo
from podium.state.rows import NodeInfo, Rows

T = TypeVar("T")
Mask = NDArray[np.bool_]
RowNumbers = NDArray[np.intp]

_MOST_EARLIER: Final = 50
_MOST_ATTEMPTS: Final = 500  # of earlier pods, in all trials together
_PREEMPTION_COST: Final = 5  # about as long as so many attempts


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What every filter says about every node, also about those that an earlier one refused.

    ``refused[plugin]`` is a mask over ``rows``. ``failed`` has the plugins that raised.
    """

    rows: RowNumbers
    statuses: dict[str, Column[Status]]
    refused: dict[str, Mask]
    skipped: tuple[str, ...] = ()
    failed: dict[str, Status] = field(default_factory=dict)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return how many filters refuse each node."""
        total = np.zeros(len(self.rows), np.int64)
        for mask in self.refused.values():
            total += mask
        return total

    def refused_only_by(self, plugins: Iterable[str]) -> Mask:
        """Return a mask of the nodes that some of these filters refuse, and no other."""
        allowed = frozenset(plugins)
        mine, others = np.zeros(len(self.rows), np.bool_), np.zeros(len(self.rows), np.bool_)
        for plugin, mask in self.refused.items():
            if plugin in allowed:
                mine |= mask
            else:
                others |= mask
        return mine & ~others

    def of(self, position: int) -> dict[str, Status]:
        """Return the refusals of one node, by filter."""
        return {
            plugin: self.statuses[plugin].values[int(self.statuses[plugin].index[position])]
            for plugin, mask in self.refused.items()
            if mask[position]
        }

    def on_row(self, row: int) -> dict[str, Status]:
        """Return the refusals of the node at a row of the table, by filter."""
        return self.of(int(np.searchsorted(self.rows, row)))


class Case:
    """A pod that is being explained, or a variant of it that is being tried.

    ``earlier`` are the pending pods that are tried before it, in order: they may take room that a
    change makes. ``later`` are those that are tried before it once it is created again. The case
    is ``is_changed`` if the cluster has changed since they were tried.
    """

    def __init__(
        self,
        core: OfflineCore,
        pod: Pod,
        earlier: Iterable[Pod] = (),
        later: Iterable[Pod] = (),
        *,
        is_changed: bool = False,
    ) -> None:
        self.core = core
        self.pod = pod
        self.is_changed = is_changed
        self.earlier = tuple(earlier)
        self.later = tuple(later)
        self._attempts_left = _MOST_ATTEMPTS
        self.attempts = Attempts(core)
        self.attempt = self.attempts.run(pod)
        # Later trials change what the core keeps, so everything is read now.
        cycle = self.attempt.cycle
        self._state = None if cycle is None else cycle.state.clone()
        self.verdicts = self._judge_all()
        self.node_count = len(core.cluster.table.live_rows())
        found = self.attempt.found
        self.feasible_count = 0 if found is None else len(found.feasible)
        self.base_message = self._message()

    def kept(self, kind: type[T]) -> T | None:
        """Return what a plugin has put into the state of the attempt, by its type."""
        return None if self._state is None else self._state.find(kind)

    def _judge_all(self) -> Verdicts | None:
        """Return what every filter says; ``None`` if the attempt ended before Filter."""
        attempt = self.attempt
        if attempt.found is None or attempt.refusal is not None:
            return None
        return _judge_all(self)

    def _message(self) -> str:
        """Return the scheduler's message before PostFilter; empty if a node was found."""
        cycle, found = self.attempt.cycle, self.attempt.found
        if cycle is None or found is None or len(found.feasible):
            return ""
        return cycle.diagnose(found).base_message

    def rewritten(self, pod: Pod, *, is_changed: bool = False) -> Case:
        """Return the case of another version of the pod on the cluster as it is now.

        ``is_changed`` says whether the cluster differs from that of this case.
        """
        changed = self.is_changed or is_changed
        if pod == self.pod:
            return Case(self.core, pod, self.earlier, self.later, is_changed=changed)
        return Case(self.core, pod, self._others, is_changed=changed)

    @contextmanager
    def crowded(self) -> Iterator[Case]:
        """Let the other pods have what they get in a changed cluster, and yield the case then.

        This is the cluster that the pod finds when it is created again.
        """
        ahead = [each for each in self._others if each.priority >= self.pod.priority]
        if not self.is_changed or not ahead or not self._is_affordable(ahead):
            yield self
            return
        with self.after(ahead):
            yield Case(self.core, self.pod)

    @contextmanager
    def after(self, others: Sequence[Pod]) -> Iterator[None]:
        """Let other pending pods have what they would get now, one after the other."""
        with ExitStack() as stack:
            for other in others[:_MOST_EARLIER]:
                stack.enter_context(self._with(other))
            yield

    @property
    def _others(self) -> tuple[Pod, ...]:
        return (*self.earlier, *self.later)

    @property
    def cluster(self) -> ClusterState:
        return self.core.cluster

    def try_it(self, pod: Pod, edits: Sequence[Edit] = ()) -> Attempt:
        """Return what would happen to this variant of the pod after these changes."""
        with applied(self.cluster, edits):
            return self._placed(pod)

    def try_last(self, pod: Pod, edits: Sequence[Edit]) -> Attempt:
        """Return the same if the earlier pods are tried first, except those of a lower priority.

        A pod that is created again comes after all others.
        """
        earlier = self.earlier if pod == self.pod else self._others
        return self._try_after(
            [each for each in earlier if each.priority >= pod.priority], pod, edits
        )

    def try_contested(self, pod: Pod, edits: Sequence[Edit], first: Attempt) -> Attempt:
        """Return ``first`` if it succeeds whichever pending pod is tried before.

        A change that frees devices shows in several events, and each wakes other pods: those of a
        lower priority may be tried before this one.
        """
        last = self._try_after(self._others, pod, edits)
        return first if last.places else replace(last, contested=True)

    def _try_after(self, others: Sequence[Pod], pod: Pod, edits: Sequence[Edit]) -> Attempt:
        if not self._is_affordable(others):
            return Attempt(pod, None)
        first = others[:_MOST_EARLIER]
        with ExitStack() as stack:
            stack.enter_context(applied(self.cluster, edits))
            preempting = [stack.enter_context(self._with(other)) for other in first]
            attempt = self._placed(pod)
        if not attempt.places or not any(preempting):
            return attempt
        slowly = self._try_beside_victims(first, pod, edits)
        return attempt if slowly.places else replace(slowly, contested=True)

    def _try_beside_victims(
        self, others: Sequence[Pod], pod: Pod, edits: Sequence[Edit]
    ) -> Attempt:
        """Return the same while the victims of others leave, or once they have left.

        Until then pods of a lower priority may take what is not on the nominated nodes.
        """
        waiting: list[tuple[Pod, Candidate]] = []
        with ExitStack() as stack:
            stack.enter_context(applied(self.cluster, edits))
            for other in others:
                attempt = self.attempts.run(other)
                found = None if attempt.places else self._preempt(attempt)
                if found is None or found.candidate is None:
                    stack.enter_context(self.attempts.settled(attempt))
                else:
                    waiting.append((other, found.candidate))
                    stack.enter_context(self._nominated(other, found.candidate.node))
            attempt = self._placed(pod)
            if attempt.places and not attempt.victims:
                return attempt
            for other, chosen in waiting:
                left = [info for info in chosen.victims if info.uid in self.cluster.pods]
                stack.enter_context(self._without(left))
                stack.enter_context(
                    self.attempts.settled(self.attempts.run(other.nominated_to(chosen.node)))
                )
            return self._placed(pod)

    @contextmanager
    def _nominated(self, pod: Pod, node: str) -> Iterator[None]:
        """Let a node be nominated for a pod during a block."""
        nominator = self.core.nominator
        before = nominator.node_of(pod.uid)
        nominator.add(PodInfo(pod), Nominate(node))
        yield
        nominator.remove(pod.uid)
        if before is not None:
            nominator.add(PodInfo(pod), Nominate(before))

    def try_nominated(self, pod: Pod, edits: Sequence[Edit], first: Attempt) -> Attempt:
        """Return the same if all others are tried while the pod waits for its victims to leave.

        ``first`` is the attempt that has the victims. ``is_exposed`` says which pods need this.
        """
        others = self._others
        if not self._is_affordable(others):
            return Attempt(pod, None)
        with ExitStack() as stack:
            stack.enter_context(applied(self.cluster, edits))
            gone = [info for info in self.cluster.pods.values() if info.key in first.victims]
            stack.enter_context(self._without(gone))
            stack.enter_context(self._nominated(pod, first.node))
            for other in others[:_MOST_EARLIER]:
                stack.enter_context(self._with(other))
            after = self.attempts.run(pod.nominated_to(first.node))
        return replace(
            after, victims=first.victims, choices=first.choices, contested=not after.places
        )

    def is_exposed(self, pod: Pod) -> bool:
        """Return whether others can take the node from a pod for which it is nominated.

        A nomination keeps room and ports of the node, but no devices and volumes, and pods on other
        nodes may break affinity and spreading.
        """
        spec = pod.spec
        if spec.resource_claims or spec.volumes or spec.topology_spread_constraints:
            return True
        return any(_has_required_terms(each) for each in (pod, *self._others))

    def _is_affordable(self, others: Sequence[Pod]) -> bool:
        """Return whether others can be tried: with very many it is not worth the time."""
        self._attempts_left -= min(len(others), _MOST_EARLIER)
        return self._attempts_left >= 0

    @contextmanager
    def _with(self, other: Pod) -> Iterator[bool]:
        """Let another pending pod have what it would get now: a node, perhaps by preemption.

        Yield whether it preempts.
        """
        attempt = self.attempts.run(other)
        found = None if attempt.places else self._preempt(attempt)
        chosen = None if found is None else found.candidate
        with ExitStack() as stack:
            if chosen is not None:
                self._attempts_left -= _PREEMPTION_COST
                stack.enter_context(self._without(chosen.victims))
                attempt = self.attempts.run(other.nominated_to(chosen.node))
            stack.enter_context(self.attempts.settled(attempt))
            yield chosen is not None

    def _placed(self, pod: Pod) -> Attempt:
        """Try the pod; if no node fits, try again without the pods that it would preempt."""
        attempt = self.attempts.run(pod)
        found = None if attempt.places else self._preempt(attempt)
        if found is None or found.candidate is None:
            return attempt
        with self._without(found.candidate.victims):
            after = self.attempts.run(pod.nominated_to(found.candidate.node))
        victims = tuple(info.key for info in found.candidate.victims)
        return replace(after, victims=victims, choices=found.tied)

    def _preempt(self, attempt: Attempt) -> Preempted | None:
        return preempt(attempt) if self.may_preempt(attempt.pod) else None

    def _without(self, victims: Iterable[PodInfo]) -> AbstractContextManager[None]:
        """Let these pods be gone during a block."""
        return applied(
            self.cluster, [edit for info in victims for edit in departure(self.cluster, info)]
        )

    def may_preempt(self, pod: Pod) -> bool:
        """Return whether there are pods that this one may preempt; a group preempts as one."""
        if pod.spec.preemption_policy == "Never" or self._is_in_group(pod):
            return False
        return bool(self.cluster.view.counts_below(pod.priority).any())

    def _is_in_group(self, pod: Pod) -> bool:
        return bool(pod.group_key) and self.cluster.objects(PodGroup).get(pod.group_key) is not None

    def node(self, row: int) -> NodeInfo:
        return NodeInfo(self.cluster, row)


def _has_required_terms(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    parts = () if affinity is None else (affinity.pod_affinity, affinity.pod_anti_affinity)
    return any(part is not None and part.required for part in parts)


def _judge_all(case: Case) -> Verdicts:
    attempt, cluster = case.attempt, case.cluster
    assert attempt.profile is not None
    assert attempt.cycle is not None
    nodes, state = cluster.rows(), attempt.cycle.state
    statuses: dict[str, Column[Status]] = {}
    refused: dict[str, Mask] = {}
    failed: dict[str, Status] = {}
    for plugin in attempt.profile.filters:
        if plugin.name in state.skip_filter:
            continue
        try:
            found = attempt.profile.filter_all(plugin, state, case.pod, nodes)
        except AttemptFailed as failure:
            failed[plugin.name] = failure.status
            continue
        statuses[plugin.name] = found
        refused[plugin.name] = refusals(found)
    skipped = tuple(p.name for p in attempt.profile.filters if p.name in state.skip_filter)
    verdicts = Verdicts(nodes.index, statuses, refused, skipped, failed)
    _leave_out(case, verdicts)
    _leave_room(case, verdicts, nodes)
    return verdicts


def _leave_out(case: Case, verdicts: Verdicts) -> None:
    """Refuse the nodes that a PreFilter did not name, unless its filter refuses them anyway."""
    found = case.attempt.found
    assert found is not None
    wanted = found.pre_filtered.node_names
    if wanted is None:
        return
    names = case.cluster.table.names
    outside = np.array([names[row] not in wanted for row in verdicts.rows.tolist()], np.bool_)
    for plugin in found.pre_filtered.narrowed_by:
        outside &= ~verdicts.refused.get(plugin, np.zeros(len(outside), np.bool_))
    if outside.any():
        plugin = sorted(found.pre_filtered.narrowed_by)[0]
        _refuse(verdicts, plugin, outside, found.statuses.absent.by(plugin))


def _leave_room(case: Case, verdicts: Verdicts, nodes: Rows) -> None:
    """Judge nodes with nominated pods with those pods there too, as a cycle does."""
    attempt = case.attempt
    assert attempt.profile is not None
    assert attempt.cycle is not None
    nominated = case.core.nominator.ahead_of(case.pod, case.cluster.table)
    if nominated is None:
        return
    crowded = np.flatnonzero(nominated.are_on(nodes.index))
    if not len(crowded):
        return
    some = Rows(case.cluster, nodes.index[crowded])
    again = filter_crowded(attempt.profile, attempt.cycle.state, case.pod, some, nominated)
    for position, status in zip(crowded.tolist(), again, strict=True):
        known = status.plugin in verdicts.refused and verdicts.refused[status.plugin][position]
        if not status.ok and not known:
            mask = np.zeros(len(nodes), np.bool_)
            mask[position] = True
            _refuse(verdicts, status.plugin, mask, status)


def _refuse(verdicts: Verdicts, plugin: str, where: Mask, status: Status) -> None:
    """Add refusals of a filter."""
    before = verdicts.statuses.get(plugin) or Column.uniform(SUCCESS, len(where))
    count = int(np.count_nonzero(where))
    verdicts.statuses[plugin] = before.patched(where, Column.uniform(status, count))
    verdicts.refused[plugin] = verdicts.refused.get(plugin, np.zeros(len(where), np.bool_)) | where
