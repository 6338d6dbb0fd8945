"""The funnel: how many nodes each filter leaves, in the profile's order."""

from __future__ import annotations

import numpy as np

from podium.explain.case import Case, Verdicts
from podium.explain.reasons import passing, reason_of
from podium.explain.values import Reason, Step


def funnel(case: Case) -> tuple[Step, ...]:
    """Return the filters that refuse nodes which the ones before accept."""
    refusal, verdicts = case.attempt.refusal, case.verdicts
    total = len(case.cluster.table.live_rows())
    if refusal is not None:
        reason = reason_of(refusal, "PreFilter", total)
        return (Step(refusal.plugin, reason.code, passing(refusal.plugin), total, 0, (reason,)),)
    return () if verdicts is None else tuple(_steps(verdicts))


def _steps(verdicts: Verdicts) -> list[Step]:
    standing = np.ones(len(verdicts.rows), np.bool_)
    steps = []
    for plugin, refused in verdicts.refused.items():
        lost = standing & refused
        before = int(np.count_nonzero(standing))
        if lost.any():
            standing = standing & ~refused
            reasons = _reasons(verdicts, plugin, lost)
            after = int(np.count_nonzero(standing))
            steps.append(Step(plugin, reasons[0].code, passing(plugin), before, after, reasons))
    return steps


def _reasons(
    verdicts: Verdicts, plugin: str, lost: np.typing.NDArray[np.bool_]
) -> tuple[Reason, ...]:
    """Return the reasons of a filter for these nodes, the most frequent first."""
    column = verdicts.statuses[plugin]
    sizes = np.bincount(column.index[lost], minlength=len(column.values)).tolist()
    found: dict[tuple[str, str], Reason] = {}
    for status, size in zip(column.values, sizes, strict=True):
        if size:
            reason = reason_of(status, "Filter")
            known = found.get((reason.code, reason.message))
            count = size + (0 if known is None else known.nodes)
            found[reason.code, reason.message] = reason_of(status, "Filter", count)
    return tuple(sorted(found.values(), key=lambda each: (-each.nodes, each.message)))
