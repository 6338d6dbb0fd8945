"""Several runs of a workload, each in a process of its own.

Peak memory belongs to a process, and a run must not inherit another's heap or warmed-up caches.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

import msgspec

from podium.bench.result import Result, median_of
from podium.errors import WorkloadFailed

RUN_ONCE = "--run-once"
_SIGNED = "podium: "  # how a command begins what it tells of


def repeat(name: str, path: str, runs: int, on_run: Callable[[str], None]) -> Result:
    """The median of so many runs of a file's workload; ``on_run`` is told of each beforehand."""
    argv = [sys.executable, "-m", "podium", "bench", RUN_ONCE, name, path]
    results = []
    for number in range(runs):
        on_run(f"{name} run {number + 1}")
        results.append(_once(argv))
    return median_of(results)


def _once(argv: Sequence[str]) -> Result:
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix(_SIGNED)
        raise WorkloadFailed(said or f"the run ended with status {done.returncode}")
    return msgspec.json.decode(done.stdout, type=Result)
