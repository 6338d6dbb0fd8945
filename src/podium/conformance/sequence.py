"""Replays many attempts in a row on one core, so that what it keeps between pods is tested too."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw

from podium.api.objects import Namespace, Node, Pod, Service
from podium.conformance.absence import Absence
from podium.conformance.cases import SequenceCase, Step, StepResult
from podium.conformance.core import Core, Workshop, check_profile, feed, parse
from podium.conformance.outcome import Comparison
from podium.conformance.ranking import compare_totals
from podium.conformance.trial import without
from podium.cycle.cycle import Cycle
from podium.cycle.verdicts import UNTRACKED
from podium.errors import InvalidRecording
from podium.framework.answers import AttemptFailed
from podium.framework.plugin import Point
from podium.framework.queued_pod import QueuedPod


def replay_sequence(case: SequenceCase, workshop: Workshop, compare: Comparison) -> None:
    sequence = Sequence(workshop.filled(case.config, case.cluster), case)
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
        if step.expect is not None:  # the reader leaves no other step with it
            self._schedule(parse(Pod, step.pod), step.expect, compare)
        elif step.op in self._changes:
            self._changes[step.op](step)
        else:
            raise InvalidRecording(self._case.source, f"no known kind of step: {step.op}")

    # --- one attempt -----------------------------------------------------------------------------

    def _schedule(self, pod: Pod, expect: StepResult, compare: Comparison) -> None:
        check_profile(self._core, pod)
        queued = QueuedPod.of(pod)
        error: str | None = None
        try:
            self._compare(self._core.cycle(queued), expect, compare)
        except AttemptFailed as failure:
            error = str(failure)
        if (error is None) != (expect.error is None):  # the words may differ
            compare.differ("error", expect.error, error)
        if expect.chosen:
            self._place(queued, expect.chosen)

    def _compare(self, cycle: Cycle, expect: StepResult, compare: Comparison) -> None:
        found = cycle.find_feasible()
        absence = Absence(self._core, cycle.pod)
        doubtful = self._doubtful(absence, expect)
        nodes = without(found.feasible, doubtful)
        whose = frozenset[str]().union(*doubtful.values())
        if whose:
            compare.wait_for(["feasible"], whose)
        if not compare.equal("feasible", list(expect.feasible), sorted(nodes.names)):
            return
        if len(nodes) > 1:
            scored = cycle.score(nodes, found.version if nodes is found.feasible else UNTRACKED)
            if missing := absence.at(Point.SCORE):
                compare.wait_for(("total", "best"), missing)
            else:
                compare_totals(compare, expect.total, expect.best, scored)
        elif len(nodes) == 1:
            compare.equal("best", list(expect.best or ()), nodes.names)
        elif whose:
            compare.wait_for(["fitError"], whose)
        else:
            compare.equal("fitError", expect.fit_error, cycle.diagnose(found).base_message)

    def _doubtful(self, absence: Absence, expect: StepResult) -> dict[str, frozenset[str]]:
        """Infeasible nodes that plugins that are not built yet may have refused, with whose."""
        whose = absence.at(Point.FILTER)
        if not whose:
            return {}
        feasible = frozenset(expect.feasible)
        return {name: whose for name in self._core.cluster.rows().names if name not in feasible}

    def _place(self, queued: QueuedPod, node: str) -> None:
        """Count the pod on its node, then see it there, as a scheduler does."""
        cluster, pod = self._core.cluster, queued.pod
        row = cluster.table.live_row(node)
        if row is None:
            raise InvalidRecording(self._case.source, f"{pod.key} goes to {node}, which is no node")
        cluster.assume(queued.info, row)
        bound = pod.bound_to(node)
        cluster.add_pod(bound)
        self._placed[pod.key] = bound

    # --- everything else -------------------------------------------------------------------------

    def _delete(self, step: Step) -> None:
        key = self._name(step.pod)
        if key not in self._placed:
            raise InvalidRecording(self._case.source, f"{key} is deleted, and no such pod is there")
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
            raise InvalidRecording(self._case.source, f"no name of an object: {error}") from error
