"""Shortens a failing script: steps are left out as long as the same invariant still breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from podium.chaos.report import Report
from podium.chaos.script import Script

MOST_TRIALS: Final = 400

# Runs a script.
Run = Callable[[Script], Report]


def broken(report: Report) -> str:
    """Return the first invariant that did not hold; empty if all did."""
    return report.violations[0].invariant if report.violations else ""


def shrink(script: Script, run: Run, *, most_trials: int = MOST_TRIALS) -> Script:
    """Return a shorter script that breaks the invariant that this one breaks first.

    Halves of the steps are left out, then quarters, down to single steps, and again from the
    beginning while that helps. The result is the shortest one that was found in ``most_trials``.
    """
    wanted = broken(run(script))
    left = most_trials

    def still_fails(shorter: Script) -> bool:
        nonlocal left
        left -= 1
        return wanted in [each.invariant for each in run(shorter).violations]

    size = max(1, len(script.steps) // 2)
    while wanted and left > 0:
        before = len(script.steps)
        script = _leave_out(script, size, still_fails, lambda: left > 0)
        if size == 1 and len(script.steps) == before:
            break
        size = max(1, min(size // 2, len(script.steps) // 2))
    return script


def _leave_out(
    script: Script, size: int, still_fails: Callable[[Script], bool], may_go_on: Callable[[], bool]
) -> Script:
    """Leave out each run of ``size`` steps that is not needed, from the last to the first."""
    start = len(script.steps) - size
    while start > -size and may_go_on():
        shorter = script.without(range(max(0, start), start + size))
        if still_fails(shorter):
            script = shorter
        start -= size
    return script
