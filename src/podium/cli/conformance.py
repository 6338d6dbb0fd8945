"""``podium conformance``: replay recorded cases of kube-scheduler and print each difference."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.progress import track

from podium import app
from podium.cli.complaint import BAD_INPUT, complain
from podium.cli.parser import Subparsers
from podium.conformance import Outcome, Report, Workshop, read, replay_all, select
from podium.conformance.cases import AnyCase
from podium.errors import InvalidRecording

DIFFERENT = 1
_EXAMPLES = """examples:
  podium conformance tests/data/golden                                    everything recorded
  podium conformance tests/data/golden/*.gz --family preemption           one family
  podium conformance tests/data/golden/*.gz --name '*/reprieve-*' -o json
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "conformance",
        help="replay recorded decisions of kube-scheduler",
        description="Replay recorded attempts, sequences, queueing hints and update events through "
        "podium's own core and print each difference. The exit status is 0 when nothing differs "
        "and something was compared in full, 1 when not, 2 when the input cannot be used.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recorded cases, plain or .gz; or a folder of them"
    )
    parser.add_argument(
        "--family",
        action="append",
        default=[],
        metavar="NAME",
        help="only cases of this family; may be repeated",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="GLOB",
        help="only cases with such a name; may be repeated",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    # A plugin that fails is in the report, or should fail: its traceback would only hide that.
    logging.getLogger("podium").addHandler(logging.NullHandler())
    try:
        cases = _chosen(args.files, args.family, args.name)
        report = Report.of(_with_progress(replay_all(cases, workshop()), len(cases)))
    except InvalidRecording as error:
        complain(error)
        return BAD_INPUT
    print(report.json() if args.output == "json" else report.text())
    return 0 if report.ok else DIFFERENT


def workshop() -> Workshop:
    """Cores with the plugins that come with podium."""
    registry = app.in_tree()
    return Workshop(registry, lambda configuration: app.build(configuration, registry=registry))


def _chosen(files: Sequence[str], families: Sequence[str], names: Sequence[str]) -> list[AnyCase]:
    cases = read(files)
    chosen = select(cases, families, names)
    if not chosen:
        known = ", ".join(sorted({case.family for case in cases}))
        raise InvalidRecording(", ".join(files), f"no case is selected; families: {known}")
    return chosen


def _with_progress(outcomes: Iterable[Outcome], total: int) -> Iterator[Outcome]:
    """The same outcomes, counted on stderr while somebody watches."""
    console = Console(stderr=True)
    yield from track(
        outcomes,
        "Replaying",
        total,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
