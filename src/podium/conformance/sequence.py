"""Replays many attempts in a row on one core, which also tests what it keeps between pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw

from podium.api.objects import Namespace, Node, Pod, Service
from podium.conformance.cases import SequenceCase, Step, StepResult
from podium.conformance.core import Core, CoreBuilder, check_profile, feed, parse
from podium.conformance.outcome import Comparison
from podium.conformance.ranking import compare_totals
from podium.conformance.trial import AbsentPlugins, without
from podium.cycle.cycle import Cycle
from podium.cycle.verdicts import UNTRACKED
from podium.errors import InvalidRecording
from podium.framework.answers import AttemptFailed
from podium.framework.points import Point
from podium.framework.queued_pod import QueuedPod


def replay_sequence(case: SequenceCase, builder: CoreBuilder, compare: Comparison) -> None:
    sequence = Sequence(builder.filled(case.config, case.cluster), case)
    for number, step in enumerate(case.steps):
        sequence.take(step, compare.at(f"step {number}"))


class Sequence:
    """The cluster of a sequence, changed step by step."""

    def __init__(self, core: Core, case: SequenceCase) -> None:
        self._core = core
        self._case = case
        self._placed = {info.key: info.pod for info in core.cluster.pods.values()}
        self._changes: Mapping[str, Callable[[Step], None]] = {
            "delete": self._delete,
            "addPod": self._add_pod,
            "updatePod": self._update_pod,
            "addNode": lambda step: feed(core, parse(Node, step.node)),
            "updateNode": lambda step: feed(core, parse(Node, step.node)),
            "removeNode": lambda step: core.cluster.remove_node(self._name(step.node)),
            "addService": lambda step: feed(core, parse(Service, step.service)),
            "removeService": self._remove_service,
            "updateNamespace": lambda step: feed(core, parse(Namespace, step.namespace)),
        }

    def take(self, step: Step, compare: Comparison) -> None:
        if step.expect is not None:  # the reader made sure that it is a `schedule` step
            self._schedule(parse(Pod, step.pod), step.expect, compare)
        elif step.op in self._changes:
            self._changes[step.op](step)
        else:
            raise InvalidRecording(self._case.source, f"unknown kind of step: {step.op}")

    # --- one attempt ------------------------------------------------------------------------------

    def _schedule(self, pod: Pod, expect: StepResult, compare: Comparison) -> None:
        check_profile(self._core, pod)
        queued = QueuedPod.of(pod)
        error: str | None = None
        try:
            self._compare(self._core.cycle(queued), expect, compare)
        except AttemptFailed as failure:
            error = str(failure)
        if (error is None) != (expect.error is None):  # the messages may differ
            compare.differ("error", expect.error, error)
        if expect.chosen:
            self._place(queued, expect.chosen)

    def _compare(self, cycle: Cycle, expect: StepResult, compare: Comparison) -> None:
        found = cycle.find_feasible()
        absent = AbsentPlugins(self._core, cycle.pod)
        doubtful = self._doubtful(absent, expect)
        nodes = without(found.feasible, doubtful)
        refusing = absent.at(Point.FILTER) if doubtful else frozenset()
        if refusing:
            compare.needs(["feasible"], refusing)
        if not compare.equal("feasible", list(expect.feasible), sorted(nodes.names)):
            return
        if len(nodes) > 1:
            scored = cycle.score(nodes, found.version if nodes is found.feasible else UNTRACKED)
            if missing := absent.at(Point.SCORE):
                compare.needs(("total", "best"), missing)
            else:
                compare_totals(compare, expect.total, expect.best, scored)
        elif len(nodes) == 1:
            compare.equal("best", list(expect.best or ()), nodes.names)
        elif refusing:
            compare.needs(["fitError"], refusing)
        else:
            compare.equal("fitError", expect.fit_error, cycle.diagnose(found).base_message)

    def _doubtful(self, absent: AbsentPlugins, expect: StepResult) -> set[str]:
        """Return the infeasible nodes, if absent plugins may have refused them."""
        if not absent.at(Point.FILTER):
            return set()
        return set(self._core.cluster.rows().names).difference(expect.feasible)

    def _place(self, queued: QueuedPod, node: str) -> None:
        """Assume the pod on its node, then confirm it, as a scheduler does."""
        cluster, pod = self._core.cluster, queued.pod
        row = cluster.table.live_row(node)
        if row is None:
            raise InvalidRecording(
                self._case.source, f"{pod.key} goes to {node}, which is not a node"
            )
        cluster.assume(queued.info, row)
        bound = pod.bound_to(node)
        cluster.add_pod(bound)
        self._placed[pod.key] = bound

    # --- changes of the cluster -------------------------------------------------------------------

    def _delete(self, step: Step) -> None:
        key = self._name(step.pod)
        if key not in self._placed:
            raise InvalidRecording(self._case.source, f"{key} is deleted, but there is no such pod")
        self._core.cluster.remove_pod(self._placed.pop(key))

    def _add_pod(self, step: Step) -> None:
        pod = parse(Pod, step.pod)
        self._core.cluster.add_pod(pod)
        self._placed[pod.key] = pod

    def _update_pod(self, step: Step) -> None:
        pod = parse(Pod, step.pod)
        self._core.cluster.update_pod(pod)
        self._placed[pod.key] = pod

    def _remove_service(self, step: Step) -> None:
        self._core.cluster.remove_object(Service, self._name(step.service))

    def _name(self, raw: Raw) -> str:
        try:
            return msgspec.json.decode(raw, type=str)
        except msgspec.MsgspecError as error:
            raise InvalidRecording(
                self._case.source, f"not the name of an object: {error}"
            ) from error
