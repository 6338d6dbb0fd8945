"""``podium bench`` on a cluster: one scheduler or several in turns, and the processes it starts."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from podium.bench.compare import Comparison, Turns
from podium.bench.live.bind_loop import bind_all
from podium.bench.live.generators import generate
from podium.bench.live.programs import PODIUM, parse_programs
from podium.bench.live.run import LiveOptions, connect, run
from podium.bench.live.server import serve
from podium.bench.load import Workload
from podium.bench.plot import comparison_chart, draw
from podium.bench.result import LiveResult, median_of
from podium.cli.messages import FAILED, prefixed, print_error
from podium.cli.progress import RunsBar
from podium.clock import LoopClock
from podium.errors import PodiumError
from podium.live import event_loop

T = TypeVar("T")


def live_options(args: argparse.Namespace) -> LiveOptions:
    return LiveOptions(
        kubeconfig=args.kubeconfig,
        program=None if args.scheduler == "external" else PODIUM,
        scheduler_pid=args.scheduler_pid,
        timeout=args.timeout,
        is_drain=args.drain,
        generators=args.generators,
    )


def median_run(workload: Workload, options: LiveOptions, runs: int, bar: RunsBar) -> LiveResult:
    """Return the median of several runs of a workload."""
    results = []
    for number in range(runs):
        bar.step(f"{workload.name} run {number + 1}")
        results.append(_run_once(workload, options, bar))
    return median_of(results)


def _run_once(workload: Workload, options: LiveOptions, bar: RunsBar) -> LiveResult:
    def tell(what: str) -> None:
        bar.show(f"{workload.name}: {what}")

    return _on_a_loop(run(workload, options, tell))


class Comparing:
    """Compares schedulers with one workload after the other; keeps what it found."""

    def __init__(self, options: LiveOptions, others: Sequence[str], rounds: int) -> None:
        programs = [PODIUM, *parse_programs(others)]
        self._load = _load_text(options)
        self._options = {one.name: replace(options, program=one) for one in programs}
        self._rounds = rounds
        self.schedulers = list(self._options)
        self.found: list[Comparison] = []

    @property
    def has_failures(self) -> bool:
        return any(comparison.failures for comparison in self.found)

    def compare(self, workload: Workload, bar: RunsBar) -> Comparison:
        """Run all schedulers; print the errors of those that fail."""

        def measure(scheduler: str) -> LiveResult:
            bar.step(f"{workload.name} with {scheduler}")
            return _run_once(workload, self._options[scheduler], bar)

        comparison = Turns(self.schedulers, measure).run(workload.name, self._rounds)
        self.found.append(comparison)
        for failure in comparison.failures:
            bar.print(prefixed(failure), sys.stderr)
        return comparison

    def plot(self) -> str:
        """Return a chart of everything that was compared, as SVG."""
        runs = "one run" if self._rounds == 1 else f"medians of {self._rounds} runs"
        title = f"Pods per second and CPU seconds: {runs} of each scheduler, in turns"
        return draw(comparison_chart(self.found, title, f"{_sizes(self.found)}, {self._load}"))


def _load_text(options: LiveOptions) -> str:
    """Say how the measured pods come, as the end of a sentence about them."""
    if options.is_drain:
        return "which all exist before the scheduler starts"
    if options.generators > 1:
        return f"which {options.generators} processes create meanwhile"
    return "which one process creates meanwhile"


def _sizes(comparisons: Sequence[Comparison]) -> str:
    """Return how many nodes and measured pods there were, such as ``500 to 5,000 nodes``."""
    medians = [one.median for each in comparisons for one in each.schedulers if one.median]
    nodes = _span([median.nodes for median in medians])
    return f"{nodes} nodes, {_span([median.pods for median in medians])} measured pods"


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers, default=0), max(numbers, default=0)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _on_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run it so that SIGTERM ends it as Ctrl-C does, with all cleanup."""

    async def until_signal() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return event_loop.run(until_signal())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


# --- what runs in other processes -----------------------------------------------------------------


def run_child(args: argparse.Namespace) -> int:
    """Be the API server, a load generator, or the loop that only binds."""
    try:
        event_loop.run(_child(args))
    except PodiumError as error:
        print_error(error)
        return FAILED
    return 0


async def _child(args: argparse.Namespace) -> None:
    clock = LoopClock()
    if args.serve:
        await serve(args.kubernetes_version)
    elif args.bind_loop:
        await bind_all(args.bind_loop, clock)
    else:
        async with connect(args.kubeconfig, clock) as connection:
            await generate(args.generate, connection)
