"""How one scheduler process grows with the cluster: time to start, memory, cost of a pod, pauses.

    python -m benchmarks.scale [--sizes 500/3000,5000/30000] [-o json] [--plot FILE.svg]

Every rung of the ladder has a scheduler of its own. Its API server is synthetic, in a process of
its own; with `--embedded` it is podium's own.
"""

import argparse
import json
import sys

from benchmarks.scale.rung import FIGURES, climb

LADDER = "500/3000,5000/30000,15000/90000,50000/300000"
TITLES = {
    "nodes": "nodes",
    "pods": "pods",
    "first_s": "first s",
    "node_kb": "KB/node",
    "pod_kb": "KB/pod",
    "memory_mb": "MB",
    "pod_us": "µs/pod",
    "list_pause_ms": "list",
    "steady_pause_ms": "steady",
    "nodes_pause_ms": "nodes",
    "relist_pause_ms": "relist",
    "gc_ms": "gc",
    "relist_s": "relist s",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=LADDER, type=sizes, help="NODES/PODS,...")
    parser.add_argument("--scheduled", default=2000, type=int, help="pods scheduled per phase")
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    args = parser.parse_args()
    show = print_json if args.output == "json" else print_row
    if args.output == "text":
        print(" ".join(f"{title:>8}" for title in TITLES.values()), flush=True)
    for nodes, pods in args.sizes:
        show(climb(nodes, pods, args.scheduled, say))


def sizes(text):
    return [tuple(map(int, one.split("/"))) for one in text.split(",")]


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="" if text else "\r", file=sys.stderr, flush=True)


def print_row(figures):
    print(" ".join(f"{_shown(figures[name]):>8}" for name in TITLES), flush=True)


def _shown(number):
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def print_json(figures):
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    assert set(TITLES) <= set(FIGURES)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
