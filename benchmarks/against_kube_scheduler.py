"""kube-scheduler and podium side by side: the same workloads, in turn, on one real control plane.

    python -m benchmarks.against_kube_scheduler [--runs N] [--workload GLOB] [FILE]

Needs the programs that `make test-cluster` needs, and kube-scheduler beside them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

from podium.bench.load import load_file
from tests.support.control_plane.plane import ControlPlane, find_binaries
from tests.support.control_plane.processes import Program, free_port

LIVE = Path(__file__).with_name("live.yaml")
# Saves a request per node: without it nodes are made without a taint to take off again.
FLAGS = ("--disable-admission-plugins=TaintNodesByCondition",)
FIGURES = (
    "pods_per_second",
    "steady_pods_per_second",
    "bind_p50_ms",
    "bind_p99_ms",
    "scheduler_cpu_seconds",
    "watch_breaks",
)


def kube_scheduler(binaries, plane, folder):
    """As it is out of the box, but for the limit on its requests."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(plane.admin), "qps": 5000, "burst": 5000},
        "leaderElection": {"leaderElect": False},
    }
    path = folder / "kube-scheduler.json"
    path.write_text(json.dumps(config))
    arguments = [
        binaries["kube-scheduler"],
        f"--config={path}",
        "--bind-address=127.0.0.1",
        f"--secure-port={free_port()}",
        "--authentication-skip-lookup",
    ]
    return Program(arguments, folder / "kube-scheduler.log")


def bench(plane, file, workload, *arguments):
    """What one run says."""
    command = [sys.executable, "-m", "podium", "bench", "--kubeconfig", str(plane.admin)]
    command += ["-o", "json", "--workload", workload, *arguments, str(file)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def once(binaries, file, workload, who):
    """On a control plane of its own: an old one is slower than a new one."""
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(binaries, FLAGS))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        if who == "podium":
            return bench(plane, file, workload)
        program = stack.enter_context(kube_scheduler(binaries, plane, folder))
        pid = ("--scheduler-pid", str(program.pid))
        return bench(plane, file, workload, "--scheduler", "external", *pid)


def show(workload, who, results):
    told = []
    for figure in FIGURES:
        values = [result[figure] for result in results]
        told.append(f"{figure} {median(values):g} ({min(values):g} to {max(values):g})")
    memory = median(result["peak_memory_bytes"] for result in results) / 1e6
    print(f"{workload} {who}: {', '.join(told)}, {memory:.0f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, default=LIVE)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workload", default="*/5000Nodes")
    parser.add_argument("--only", choices=("podium", "kube-scheduler"))
    args = parser.parse_args()
    binaries = find_binaries()[0]
    sides = (args.only,) if args.only else ("kube-scheduler", "podium")
    for workload in load_file(args.file):
        if not fnmatchcase(workload.name, args.workload):
            continue
        found = {who: [] for who in sides}
        for _ in range(args.runs):
            for who in sides:
                found[who].append(once(binaries, args.file, workload.name, who))
        for who, results in found.items():
            show(workload.name, who, results)
        if len(sides) == 2:
            rates = [median(one["pods_per_second"] for one in found[who]) for who in sides]
            print(f"{workload.name} podium / kube-scheduler: {rates[1] / rates[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
