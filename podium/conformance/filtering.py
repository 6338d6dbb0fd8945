"""Compares what PreFilter and Filter found."""

from __future__ import annotations

from podium.conformance import verdicts
from podium.conformance.trial import Trial
from podium.cycle.cycle import Found


def agrees(trial: Trial, found: Found) -> bool:
    """False when nothing that comes later can be compared."""
    return _pre_filter_agrees(trial, found) and _filter_agrees(trial, found)


def _pre_filter_agrees(trial: Trial, found: Found) -> bool:
    expected, compare = trial.expect.pre_filter, trial.compare
    ours = verdicts.ours(found.pre_filtered.status)
    if expected is None:
        compare.differ("preFilter", None, ours)
        return False
    theirs, names = expected.node_names, found.pre_filtered.node_names
    compare.equal(
        "preFilter.nodeNames",
        None if theirs is None else sorted(theirs),
        None if names is None else sorted(names),
    )
    return compare.equal("preFilter", verdicts.recorded(expected), ours)


def _filter_agrees(trial: Trial, found: Found) -> bool:
    expected, compare = trial.expect.filter, trial.compare
    if expected is None:
        return not found.pre_filtered.status.ok
    if not compare.equal("filter", sorted(expected), sorted(trial.core.cluster.rows().names)):
        return False
    for name, verdict in expected.items():
        ours = verdicts.ours(found.status_of(name))
        compare.equal("filter", verdicts.recorded(verdict), ours, node=name)
    return compare.equal("feasible", list(trial.expect.feasible), sorted(found.feasible.names))
