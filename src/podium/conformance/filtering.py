"""Compares the results of PreFilter and Filter."""

from __future__ import annotations

from podium.conformance.cases import Verdict
from podium.conformance.trial import SUCCESS, Trial, ours, recorded
from podium.cycle.found import Found
from podium.framework.points import Point
from podium.framework.status import Code, Status


def agrees(trial: Trial, found: Found) -> bool:
    """Whether the later stages can be compared as well."""
    return _pre_filter_agrees(trial, found) and _filter_agrees(trial, found)


def _pre_filter_agrees(trial: Trial, found: Found) -> bool:
    expected, status = trial.expect.pre_filter, found.pre_filtered.status
    if expected is None:
        trial.compare.differ("preFilter", None, ours(status))
        return False
    narrowing = trial.absent.at(Point.PRE_FILTER)
    if expected.plugin in trial.absent:
        _compare_earlier(trial, expected, status)
        trial.compare.needs(("preFilter", "fitError", "preemption"), [expected.plugin])
        return False
    if narrowing and expected.code != SUCCESS and not expected.plugin:
        trial.compare.needs(("preFilter", "fitError", "preemption"), narrowing)
        return False
    _compare_names(trial, found, narrowing)
    return trial.compare.equal("preFilter", recorded(expected), ours(status))


def _compare_earlier(trial: Trial, expected: Verdict, status: Status) -> None:
    """Compare what ran before an absent plugin that refused: it let the pod pass."""
    if (
        status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE  # no other refusal ends PreFilter
        and status.plugin
        and trial.absent.runs_before(Point.PRE_FILTER, status.plugin, expected.plugin)
    ):
        trial.compare.differ("preFilter", recorded(expected), ours(status))


def _compare_names(trial: Trial, found: Found, narrowing: frozenset[str]) -> None:
    theirs = trial.expect.pre_filter.node_names if trial.expect.pre_filter else None
    mine = found.pre_filtered.node_names
    if theirs is not None and narrowing:
        trial.compare.needs(["preFilter.nodeNames"], narrowing)
        return
    trial.compare.equal(
        "preFilter.nodeNames",
        None if theirs is None else sorted(theirs),
        sorted(mine) if mine else None,  # the status tells that no node is left
    )


def _filter_agrees(trial: Trial, found: Found) -> bool:
    expected, compare = trial.expect.filter, trial.compare
    if expected is None:
        return not found.pre_filtered.status.ok
    if not compare.equal("filter", sorted(expected), sorted(trial.core.cluster.rows().names)):
        return False
    trusted = trial.trusted()
    for name, verdict in expected.items():
        status = found.status_of(name)
        if name not in trusted:
            compare.equal("filter", recorded(verdict), ours(status), node=name)
        elif _refused_too_early(trial, name, verdict, status):
            compare.differ("filter", recorded(verdict), ours(status), node=name)
    if trusted:
        compare.needs(["filter"], _plugins_of(trial, trusted))
    return compare.equal(
        "feasible", list(trial.expect.feasible), sorted(trial.feasible(found).names)
    )


def _refused_too_early(trial: Trial, name: str, verdict: Verdict, status: Status) -> bool:
    """Whether podium refuses by a filter that comes before the recorded, absent one."""
    if status.ok or not status.plugin or not verdict.plugin:
        return False
    if trial.core.nominator.on(name):  # judged twice then, so the order says nothing
        return False
    return trial.absent.runs_before(Point.FILTER, status.plugin, verdict.plugin)


def _plugins_of(trial: Trial, trusted: dict[str, Verdict]) -> frozenset[str]:
    """Return the absent plugins that these verdicts come from."""
    named = frozenset(verdict.plugin for verdict in trusted.values())
    unnamed = trial.absent.at(Point.PRE_FILTER) if "" in named else frozenset()
    return named - {""} | unnamed
