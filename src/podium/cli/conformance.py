"""``podium conformance``: replay recorded cases of kube-scheduler and print each difference."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence

from rich.progress import track

from podium import app
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import print_error
from podium.cli.terminal import console
from podium.config.feature_gates import FeatureGates
from podium.conformance import CoreBuilder, Outcome, Report, read, replay_all, select
from podium.conformance.cases import AnyCase
from podium.errors import InvalidRecording
from podium.release import LATEST, Release

DIFFERENT = 1


def run(args: argparse.Namespace) -> int:
    # Failing plugins are part of the report; their tracebacks would only hide it.
    logging.getLogger("podium").addHandler(logging.NullHandler())
    try:
        cases = _chosen(args.files, args.family, args.name)
        report = Report.of(
            _with_progress(replay_all(cases, builder(args.kubernetes_version)), len(cases))
        )
    except InvalidRecording as error:
        print_error(error)
        return BAD_INPUT
    print(report.json() if args.output == "json" else report.text())
    return 0 if report.ok else DIFFERENT


def builder(release: Release = LATEST) -> CoreBuilder:
    """Build cores with the plugins that come with podium, as they are in this release."""
    registry = app.in_tree(FeatureGates(release))
    return CoreBuilder(registry, lambda configuration: app.build(configuration, registry=registry))


def _chosen(files: Sequence[str], families: Sequence[str], names: Sequence[str]) -> list[AnyCase]:
    cases = read(files)
    chosen = select(cases, families, names)
    if not chosen:
        known = ", ".join(sorted({case.family for case in cases}))
        raise InvalidRecording(", ".join(files), f"no case is selected; families: {known}")
    return chosen


def _with_progress(outcomes: Iterable[Outcome], total: int) -> Iterator[Outcome]:
    """Yield the same outcomes, and count them on stderr if that is a terminal."""
    progress = console(stderr=True)
    yield from track(
        outcomes,
        "Replaying",
        total,
        console=progress,
        transient=True,
        disable=not progress.is_terminal,
    )
