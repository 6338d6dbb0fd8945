"""``podium chaos``: runs seeds or a script, prints what happened, shortens what fails."""

from __future__ import annotations

import argparse
import logging
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from podium.chaos import gangs, trial
from podium.chaos import script as scripts
from podium.chaos.group_trial import GroupTrial
from podium.chaos.report import Report
from podium.chaos.script import Script
from podium.chaos.shrinking import shrink
from podium.cli import terminal
from podium.cli.arguments.faults import DEFAULT_MINUTES
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import FAILED, print_error
from podium.errors import PodiumError


def run(args: argparse.Namespace) -> int:
    """Run every script; return whether an invariant broke."""
    # What the schedulers log about injected faults is not shown.
    logging.getLogger("podium").addHandler(logging.NullHandler())
    logging.getLogger("podium").propagate = False
    out = terminal.console()
    total = _Total()
    try:
        for script in _scripts(args):
            report, seconds = _timed(script)
            total.add(report)
            out.print(_line(report, seconds))
            for violation in report.violations[:10]:
                out.print(Text(f"  {violation}", terminal.BAD))
            if report.violations and not args.script:
                _save(script, args.save)
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    if total.trials > 1:
        out.print(total.line())
    return FAILED if total.failed else 0


def _scripts(args: argparse.Namespace) -> Iterator[Script]:
    if args.script:
        given = {
            "--seed": args.seed,
            "--seeds": args.seeds,
            "--minutes": args.minutes,
            "--groups": args.groups or None,
        }
        for option in [option for option, value in given.items() if value is not None]:
            raise PodiumError(f"--script has its own steps: leave out {option}")
        yield scripts.read(args.script)
        return
    if not args.save.is_dir():
        raise PodiumError(f"--save {args.save}: there is no such directory")
    first = 1 if args.seed is None else args.seed
    draw = gangs.draw if args.groups else scripts.draw
    for seed in range(first, first + (args.seeds or 1)):
        yield draw(seed, args.minutes or DEFAULT_MINUTES)


def _run(script: Script) -> Report:
    return trial.run(script, GroupTrial if script.groups else None)


def _timed(script: Script) -> tuple[Report, float]:
    begun = time.monotonic()
    report = _run(script)
    return report, time.monotonic() - begun


def _line(report: Report, seconds: float) -> Text:
    is_good = not report.violations
    outcome = "ok" if is_good else f"{len(report.violations)} violations"
    figures = (
        f"  {report.faults} faults, {report.bindings} pods bound, {report.leaders} leaders, "
        f"{report.recoveries} recoveries, the longest {report.longest_recovery:.0f} s, "
        f"longest wait {report.longest_wait:.0f} s; "
        f"{report.script.seconds / 60:g} min in {seconds:.1f} s"
    )
    style = terminal.GOOD if is_good else terminal.BAD
    return Text.assemble(f"seed {report.script.seed}  ", (outcome, style), figures)


def _save(script: Script, directory: Path) -> None:
    shorter = shrink(script, _run)
    path = directory / f"chaos-{script.seed}.json"
    try:
        path.write_text(scripts.text_of(shorter), encoding="utf-8")
    except OSError as error:
        raise PodiumError(f"{path}: cannot be written: {error.strerror or error}") from error
    print(f"  {len(shorter.steps)} of {len(script.steps)} steps: podium chaos --script {path}")


class _Total:
    """The sum of all trials of one command."""

    def __init__(self) -> None:
        self.trials = self.failed = self.bindings = self.recoveries = self.excused = 0
        self.struck: Counter[str] = Counter()
        self.longest = 0.0

    def add(self, report: Report) -> None:
        self.trials += 1
        self.failed += bool(report.violations)
        self.bindings += report.bindings
        self.recoveries += report.recoveries
        self.excused += report.excused
        self.struck += report.struck
        self.longest = max(self.longest, report.longest_recovery)

    def line(self) -> str:
        kinds = ", ".join(f"{what} {count}" for what, count in self.struck.most_common())
        return (
            f"{self.trials} trials, {self.failed} failed: {self.struck.total()} faults "
            f"({kinds}), {self.bindings} pods bound, {self.recoveries} recoveries, "
            f"the longest {self.longest:.0f} s; {self.excused} over-commitments after lost events"
        )
