"""Compares what PreFilter and Filter found."""

from __future__ import annotations

from podium.conformance import verdicts
from podium.conformance.cases import Verdict
from podium.conformance.trial import Trial
from podium.cycle.found import Found
from podium.framework.plugin import Point
from podium.framework.status import Code, Status


def agrees(trial: Trial, found: Found) -> bool:
    """False when nothing that comes later can be compared."""
    return _pre_filter_agrees(trial, found) and _filter_agrees(trial, found)


def _pre_filter_agrees(trial: Trial, found: Found) -> bool:
    expected, status = trial.expect.pre_filter, found.pre_filtered.status
    if expected is None:
        trial.compare.differ("preFilter", None, verdicts.ours(status))
        return False
    narrowing = trial.absence.at(Point.PRE_FILTER)
    if expected.plugin in trial.absence:
        _compare_earlier(trial, expected, status)
        trial.compare.wait_for(("preFilter", "fitError", "preemption"), [expected.plugin])
        return False
    if narrowing and expected.code != verdicts.SUCCESS and not expected.plugin:
        trial.compare.wait_for(("preFilter", "fitError", "preemption"), narrowing)
        return False
    _compare_names(trial, found, narrowing)
    return trial.compare.equal("preFilter", verdicts.recorded(expected), verdicts.ours(status))


def _compare_earlier(trial: Trial, expected: Verdict, status: Status) -> None:
    """Beside a recorded refusal of an absent plugin: what ran before it let the pod pass."""
    if (
        status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE  # no other refusal ends PreFilter
        and status.plugin
        and trial.absence.runs_before(Point.PRE_FILTER, status.plugin, expected.plugin)
    ):
        trial.compare.differ("preFilter", verdicts.recorded(expected), verdicts.ours(status))


def _compare_names(trial: Trial, found: Found, narrowing: frozenset[str]) -> None:
    theirs = trial.expect.pre_filter.node_names if trial.expect.pre_filter else None
    ours = found.pre_filtered.node_names
    if theirs is not None and narrowing:
        trial.compare.wait_for(["preFilter.nodeNames"], narrowing)
        return
    trial.compare.equal(
        "preFilter.nodeNames",
        None if theirs is None else sorted(theirs),
        None if ours is None else sorted(ours),
    )


def _filter_agrees(trial: Trial, found: Found) -> bool:
    expected, compare = trial.expect.filter, trial.compare
    if expected is None:
        return not found.pre_filtered.status.ok
    if not compare.equal("filter", sorted(expected), sorted(trial.core.cluster.rows().names)):
        return False
    given = trial.given()
    for name, verdict in expected.items():
        status = found.status_of(name)
        if name not in given:
            theirs, ours = verdicts.recorded(verdict), verdicts.ours(status)
            compare.equal("filter", theirs, ours, node=name)
        elif _refused_too_early(trial, name, verdict, status):
            compare.differ("filter", verdicts.recorded(verdict), verdicts.ours(status), node=name)
    if given:
        compare.wait_for(["filter"], _behind(trial, given))
    return compare.equal(
        "feasible", list(trial.expect.feasible), sorted(trial.feasible(found).names)
    )


def _refused_too_early(trial: Trial, name: str, verdict: Verdict, status: Status) -> bool:
    """Whether we refuse by a filter that let the node pass before the recorded, absent one."""
    if status.ok or not status.plugin or not verdict.plugin:
        return False
    if trial.core.nominator.on(name):  # judged twice then, so the order tells nothing
        return False
    return trial.absence.runs_before(Point.FILTER, status.plugin, verdict.plugin)


def _behind(trial: Trial, given: dict[str, Verdict]) -> frozenset[str]:
    """The absent plugins behind these verdicts."""
    named = frozenset(verdict.plugin for verdict in given.values())
    unnamed = trial.absence.at(Point.PRE_FILTER) if "" in named else frozenset()
    return named - {""} | unnamed
