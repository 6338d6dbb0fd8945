"""Where the CPU time of a running scheduler goes: a table of stages per pod, and a flame graph.

    python -m benchmarks.flame_graph [--workload NAME] [--runs N] [--output SVG] [FILE]

Runs a workload as `podium bench --embedded` does, and samples the scheduler's process with py-spy
while pods are measured. Each run is followed by one without py-spy, from which the CPU time is
taken: sampling itself costs the process some. py-spy must be allowed to trace processes of the same
user: on Linux with kernel.yama.ptrace_scope=0, or as root.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

from benchmarks.flame_picture import draw
from benchmarks.flame_stages import STAGES, stacks_of, stages_of
from podium.bench.live.run import LiveOptions, run
from podium.bench.load import load_file

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "docs" / "pictures" / "flame.svg"
PER_SECOND = 400
SPY = Path(sys.executable).with_name("py-spy")


class Sampler:
    """Samples the scheduler from the last operation that creates pods until it ends."""

    def __init__(self, workload, output):
        self._left = sum(creates_pods(op.opcode) for op in workload.ops)
        self._output = output
        self._spy = None

    def on_progress(self, what):
        """Hear what the benchmark does next."""
        if creates_pods(what):
            self._left -= 1
            if not self._left:
                self._begin()

    def _begin(self):
        command = [SPY, "record", "--format", "speedscope", "--native", "--nolineno"]
        command += ["--rate", str(PER_SECOND)]
        command += ["--duration", "unlimited", "--output", self._output, "--pid", scheduler_pid()]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        self._spy = subprocess.Popen(command, text=True, **quiet)

    def stacks(self):
        """Return how often each stack was seen."""
        _, problem = self._spy.communicate()
        if not self._output.exists():
            sys.exit(problem)
        return stacks_of(json.loads(self._output.read_bytes()))


def creates_pods(what):
    return what.startswith("create") and "Pod" in what


def scheduler_pid():
    """Return the child of this process that is `podium scheduler`."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if parent == os.getpid() and b"scheduler" in arguments:
            return folder.name
    sys.exit("the benchmark runs no scheduler")


def record(workload, runs):
    """Return the sampled stacks, and the microseconds of CPU per pod without sampling."""
    stacks, microseconds = Counter(), []
    with tempfile.TemporaryDirectory(prefix="podium-flame-") as folder:
        for number in range(runs):
            sampler = Sampler(workload, Path(folder) / f"{number}.json")
            asyncio.run(run(workload, LiveOptions(), sampler.on_progress))
            stacks += sampler.stacks()
            result = asyncio.run(run(workload, LiveOptions(), lambda what: None))
            microseconds.append(result.scheduler_cpu_seconds * 1e6 / result.pods)
    return stacks, median(microseconds)


def table(stages, scale):
    """Return the rows of docs/performance.md: a stage, its modules, its microseconds per pod."""
    rows = ["| stage | module | µs per pod |", "|---|---|---|"]
    for name, stage in stages.items():
        module = STAGES[name][0]
        rows.append(f"| {name} | `{module}` | {stage.samples * scale:.0f} |")
    total = sum(stage.samples for stage in stages.values()) * scale
    return "\n".join([*rows, f"| **sum** | | **{total:.0f}** |"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, default=HERE / "live.yaml")
    parser.add_argument("--workload", default="LivePlain/5000Nodes")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, default=PICTURE)
    args = parser.parse_args()
    workload = next((one for one in load_file(args.file) if one.name == args.workload), None)
    if workload is None:
        sys.exit(f"{args.file} has no workload {args.workload}")
    stacks, microseconds = record(workload, args.runs)
    stages = stages_of(stacks)
    scale = microseconds / sum(stage.samples for stage in stages.values())
    title = f"podium scheduler, {args.workload}: CPU time per pod"
    args.output.write_text(draw(title, stages, scale))
    print(table(stages, scale))


if __name__ == "__main__":
    main()
