"""Runs a workload several times, each time in a new process.

Peak memory is per process, and a run must not inherit the heap or the caches of another.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

import msgspec

from podium.bench.result import Result, median_of
from podium.errors import WorkloadFailed

RUN_ONCE = "--run-once"
_PREFIX = "podium: "  # of the error messages of the command


def repeat(what: Sequence[str], runs: int, on_run: Callable[[str], None]) -> Result:
    """Return the median of several runs of a workload; ``on_run`` is called before each.

    ``what`` are the arguments of a run: the name of the workload, its file, and other options.
    """
    argv = [sys.executable, "-m", "podium", "bench", RUN_ONCE, *what]
    results = []
    for number in range(runs):
        on_run(f"{what[0]} run {number + 1}")
        results.append(_once(argv))
    return median_of(results)


def _once(argv: Sequence[str]) -> Result:
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix(_PREFIX)
        raise WorkloadFailed(said or f"the run ended with status {done.returncode}")
    return msgspec.json.decode(done.stdout, type=Result)
