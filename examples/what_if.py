"""Ask why a pod waits and what would change if another one were gone: nothing is written anywhere.

python examples/what_if.py                               the cluster of examples/cluster.json
python examples/what_if.py dump.json default/web team/db a dump of kubectl get, or a snapshot
"""

import sys
from pathlib import Path

import podium

SAMPLE = (str(Path(__file__).parent / "cluster.json"), "default/training", "default/batch")


def main(path: str, waiting: str, in_the_way: str) -> None:
    cluster = podium.Simulation.from_snapshot(path)
    print(cluster.explain(waiting).sentence)
    trial = cluster.fork()
    trial.remove(in_the_way)
    for placement in trial.schedule().placed:
        print(f"without {in_the_way}: {placement.pod} goes to {placement.node}")


if __name__ == "__main__":
    main(*sys.argv[1:] or SAMPLE)
