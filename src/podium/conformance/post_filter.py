"""Compares the messages and the preemption of an attempt for which no node fits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podium.conformance.cases import Preemption
from podium.conformance.outcome import Comparison
from podium.conformance.trial import ERROR, Trial, status_of
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.framework.diagnosis import Diagnosis, NodeStatuses
from podium.framework.points import Point
from podium.framework.preemption import Candidates
from podium.framework.status import Code, Nominate
from podium.plugins.preemption import DefaultPreemption
from podium.state.column import Column


def compare(trial: Trial, cycle: Cycle, found: Found) -> None:
    expect = trial.expect
    if trial.pod.nominated_node_name:
        found = (
            cycle.find_feasible()
        )  # tries the nominated node first, which may change the message
    diagnosis = _diagnosis(trial, cycle, found)
    base = expect.fit_error if expect.fit_error_base is None else expect.fit_error_base
    trial.compare.equal("fitErrorBase", base, diagnosis.base_message)
    if missing := _absent_plugins_asked(trial, diagnosis.statuses):
        trial.compare.needs(("fitError", "preemption"), missing)
        return
    nominate = _compare_preemption(trial, cycle, diagnosis)
    expected = naming(nominate, expect.fit_error, expect.preemption)
    trial.compare.equal("fitError", expected, diagnosis.message)


def naming(
    nominate: Nominate | None, text: str | None, preemption: Preemption | None
) -> str | None:
    """Return a recorded message with the node that podium chose, if several are equally good."""
    if text is None or nominate is None or preemption is None:
        return text
    if nominate.node not in preemption.tied_nodes:
        return text
    return text.replace(f" on node {preemption.tied_nodes[0]},", f" on node {nominate.node},")


def _diagnosis(trial: Trial, cycle: Cycle, found: Found) -> Diagnosis:
    """Return podium's diagnosis, with the recorded refusals of absent plugins."""
    trusted = trial.trusted()
    if not trusted:
        return cycle.diagnose(found)
    nodes = trial.core.cluster.rows()
    statuses = [
        status_of(trusted[name]) if name in trusted else found.status_of(name)
        for name in nodes.names
    ]
    return Diagnosis(len(nodes), NodeStatuses(nodes, Column.of(statuses)))


def _absent_plugins_asked(trial: Trial, statuses: NodeStatuses) -> frozenset[str]:
    """Return the absent plugins that PostFilter may have asked about a node."""
    missing = trial.absent.at(Point.POST_FILTER)
    if len(statuses.rows_with(Code.UNSCHEDULABLE)):
        missing |= trial.absent.at(Point.FILTER)
    return missing


def _compare_preemption(trial: Trial, cycle: Cycle, diagnosis: Diagnosis) -> Nominate | None:
    """Run PostFilter and compare; return what podium nominates."""
    expected, compare = trial.expect.preemption, trial.compare
    plugins = trial.profile.plugins[Point.POST_FILTER]
    if expected is None or not plugins:
        ran = [plugin.name for plugin in plugins]
        compare.equal("preemption", [] if expected is None else expected.message, ran)
        return None
    for plugin in plugins:
        if isinstance(plugin, DefaultPreemption) and expected.code != ERROR:
            found = plugin.evaluator.evaluate(cycle.state, trial.pod, diagnosis.statuses).candidates
            _compare_candidates(compare, expected, found, plugin.evaluator.best(found))
    nominate, status = trial.profile.run_post_filters(cycle.state, trial.pod, diagnosis.statuses)
    diagnosis.post_filter_message = status.message
    compare.equal("preemption.code", expected.code, status.code.value)
    message = naming(nominate, expected.message, expected)
    compare.equal("preemption.message", message, status.message)
    node = nominate.node if nominate is not None else ""
    wanted = _wanted(expected)
    if node not in (wanted or [""]):
        compare.differ("preemption.nominatedNode", wanted, node)
    return nominate


def _compare_candidates(
    compare: Comparison, expected: Preemption, found: Candidates, best: Candidates
) -> None:
    ours = {candidate.node: candidate for candidate in found}
    for node in {**expected.candidates, **ours}:
        theirs, mine = expected.candidates.get(node), ours.get(node)
        compare.equal(
            "preemption.candidates",
            theirs and _form(theirs.victims, theirs.pdb_violations),
            _form([info.key for info in mine.victims], mine.violations) if mine else None,
            node=node,
        )
    chosen = [candidate.node for candidate in best]
    compare.equal("preemption.chosen", sorted(_wanted(expected)), sorted(chosen))
    if expected.nominated_node in ours:
        victims = [info.key for info in ours[expected.nominated_node].victims]
        compare.equal("preemption.victims", list(expected.victims), victims)


def _wanted(expected: Preemption) -> list[str]:
    """Return the nodes that preemption may choose."""
    return list(expected.tied_nodes) or [name for name in [expected.nominated_node] if name]


def _form(victims: Iterable[str], violations: int) -> dict[str, Any]:
    return {"victims": list(victims), "pdbViolations": violations}
