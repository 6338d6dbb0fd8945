"""How one scheduler process grows with the cluster: time to start, memory, cost of a pod, pauses.

    python -m benchmarks.scale [--sizes 500/3000,5000/30000] [-o json] [--plot FILE.svg]

Every rung of the ladder has a scheduler of its own, the real `podium scheduler`. Its API server is
a process that only makes up objects; with `--server embedded` it is podium's own.
"""

import argparse
import json
import signal
import sys
from pathlib import Path

from benchmarks.scale.plot import draw
from benchmarks.scale.rung import SERVERS, Failed, climb

LADDER = "500/3000,1500/9000,5000/30000,15000/90000,50000/300000"
# The title of a column, its figure, what the figure is divided by, and its digits.
COLUMNS = (
    ("nodes", "nodes", 1, 0),
    ("pods", "pods", 1, 0),
    ("first s", "first_seconds", 1, 1),
    ("CPU s", "first_cpu_seconds", 1, 1),
    ("MB", "memory_bytes", 1e6, 0),
    ("KB/node", "node_bytes", 1e3, 1),
    ("KB/pod", "pod_bytes", 1e3, 1),
    ("µs/pod", "pod_cpu_us", 1, 0),
    ("list ms", "list_pause_ms", 1, 0),
    ("steady", "steady_pause_ms", 1, 0),
    ("nodes", "nodes_pause_ms", 1, 0),
    ("relist", "relist_pause_ms", 1, 0),
    ("gc ms", "gc_ms", 1, 0),
    ("wall ms", "pause_ms", 1, 0),
)


def main():
    args = parse()
    is_text = args.output == "text"
    if is_text:
        print(" ".join(f"{title:>8}" for title, *_ in COLUMNS), flush=True)
    found = []
    for figures in read(args.read) if args.read else measure(args):
        found.append(figures)
        print(row(figures) if is_text else json.dumps(figures), flush=True)
    if args.plot:
        args.plot.write_text(draw(found))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=LADDER, type=sizes, help="NODES/PODS,...")
    parser.add_argument("--scheduled", default=2000, type=int, help="pods scheduled in a phase")
    parser.add_argument("--server", default="synthetic", choices=SERVERS)
    parser.add_argument("--label", help="name of the curves in the plot; default: the server")
    parser.add_argument("--read", nargs="+", type=Path, help="earlier output, instead of measuring")
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    parser.add_argument("--plot", type=Path, help="write the curves to this file, as SVG")
    return parser.parse_args()


def sizes(text):
    found = [tuple(map(int, one.split("/"))) for one in text.split(",")]
    if any(len(one) != 2 or min(one) < 1 for one in found):
        raise ValueError(text)
    return found


def measure(args):
    label = args.label or f"{args.server} server"
    for size in args.sizes:
        yield {"label": label, **climb(args.server, size, args.scheduled, say)}
        say("")


def read(files):
    for file in files:
        yield from map(json.loads, file.read_text().splitlines())


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def row(figures):
    cells = (f"{figures[name] / unit:,.{digits}f}" for _, name, unit, digits in COLUMNS)
    return " ".join(f"{cell:>8}" for cell in cells)


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)  # children and folders are removed as by Ctrl-C
    try:
        main()
    except Failed as failure:
        sys.exit(f"{failure}")
    except KeyboardInterrupt:
        sys.exit(130)
