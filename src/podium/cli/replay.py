"""``podium replay``: replay a trace with one or several configurations, or make one."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from podium import snapshot
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import FAILED, INTERRUPTED, prefixed, print_error
from podium.cli.progress import LinesBar
from podium.cli.replay_text import print_side_by_side
from podium.config.load import text_of
from podium.errors import PodiumError, ReplayError
from podium.pictures import check_picture, write_picture
from podium.replay.lines import Json, Trace
from podium.replay.plot import draw
from podium.replay.reader import read
from podium.replay.result import Result, row
from podium.replay.running import Outcome, run_here, run_in_processes
from podium.replay.variants import Variant, check

# Runs variants of a trace; the last argument is called with the number of replayed lines.
_RunAll = Callable[[Trace, Sequence[Variant], Callable[[int], None]], Iterator[Outcome]]


def run(args: argparse.Namespace) -> int:
    try:
        if args.action == "convert":
            return _convert(args)
        if args.plot is not None:
            check_picture(args.plot)
        trace = read(args.trace, _load_objects)
        variants = _variants(args)
        for variant in {each.name: each for each in variants}.values():
            check(trace, variant)
        run_all = _runner(args, len(variants))
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    return _replay(trace, variants, args, run_all)


def _load_objects(path: Path) -> list[Json]:
    found = snapshot.load(path)
    return [msgspec.json.decode(each) for objects in found.objects.values() for each in objects]


def _variants(args: argparse.Namespace) -> list[Variant]:
    """Return every configuration with every seed."""
    texts = {str(path): text_of(path) for path in args.config} or {"default": ""}
    return [
        Variant(
            name,
            text,
            seed,
            plugins=tuple(args.plugin),
            release=str(args.kubernetes_version),
            attempt_seconds=args.attempt_time,
        )
        for name, text in texts.items()
        for seed in args.seed
    ]


def _replay(
    trace: Trace, variants: list[Variant], args: argparse.Namespace, run_all: _RunAll
) -> int:
    begin = time.monotonic()
    results: dict[int, Result] = {}
    printer = _Printer(args.output)
    status = 0
    with LinesBar(len(trace.lines) * len(variants), len(variants)) as bar:
        try:
            for number, result in run_all(trace, variants, bar.show_lines):
                bar.count_variant()
                if isinstance(result, Result):
                    results[number] = result
                else:
                    status = FAILED
                    bar.print(prefixed(f"{variants[number]}: {result}"), sys.stderr)
                printer.take(number, result, bar.print)
        except (
            ReplayError
        ) as error:  # the remaining variants cannot run; print those that have finished
            bar.print(prefixed(error), sys.stderr)
            status = FAILED
        except KeyboardInterrupt:
            status = INTERRUPTED
        printer.finish(bar.print)
    found = [results[number] for number in sorted(results)]
    if args.output == "text" and found:
        print_side_by_side(found)
    if args.plot is not None and found:
        status = _plot(found, args.plot) or status
    _report_speed(trace, len(found), time.monotonic() - begin)
    return status


def _runner(args: argparse.Namespace, variants: int) -> _RunAll:
    """Return what runs the variants; raise ``ReplayError`` if there is no such Dask cluster."""
    if args.dask:
        from podium.replay.dask_cluster import DaskCluster  # needs the extra "dask"

        return DaskCluster(args.dask).run
    jobs = min(args.jobs or os.cpu_count() or 1, variants)
    return run_here if jobs == 1 else partial(run_in_processes, jobs)


class _Printer:
    """Prints results as JSON or CSV in the order of the variants, each as soon as possible."""

    def __init__(self, output: str) -> None:
        self._output = output
        self._next = 0
        self._waiting: dict[int, Result | None] = {}
        self._has_header = False

    def take(self, number: int, result: Result | ReplayError, say: Callable[[str], None]) -> None:
        self._waiting[number] = result if isinstance(result, Result) else None
        while self._next in self._waiting:
            self._print(self._waiting.pop(self._next), say)
            self._next += 1

    def finish(self, say: Callable[[str], None]) -> None:
        """Print what still waits for a variant that does not come."""
        for number in sorted(self._waiting):
            self._print(self._waiting[number], say)

    def _print(self, result: Result | None, say: Callable[[str], None]) -> None:
        if result is None or self._output == "text":
            return
        if self._output == "json":
            say(msgspec.json.encode(result).decode())
            return
        cells = row(result)
        if not self._has_header:
            say(_csv_line(cells.keys()))
            self._has_header = True
        say(_csv_line(cells.values()))


def _csv_line(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _report_speed(trace: Trace, variants: int, seconds: float) -> None:
    arrivals = trace.arrivals * variants
    if sys.stderr.isatty() and arrivals:
        what = f"replayed {arrivals:,} arrivals in {seconds:,.1f} s"
        print(f"{what}: {arrivals / seconds:,.0f} a second", file=sys.stderr)


def _plot(results: list[Result], path: Path) -> int:
    try:
        write_picture(path, draw(results, for_png=path.suffix == ".png"))
    except PodiumError as error:
        print_error(f"--plot: {error}")
        return FAILED
    return 0


# --- convert -------------------------------------------------------------------------------------


def _convert(args: argparse.Namespace) -> int:
    from podium.replay.convert import convert  # only loaded for this subcommand

    if not args.output.parent.is_dir():
        raise PodiumError(f"-o: there is no folder {args.output.parent}")
    converted = convert(args.source, args.files, args.output)
    for note in converted.notes:
        print_error(f"note: {note}")
    print(f"wrote {converted.arrivals:,} arrivals to {args.output}")
    return 0
