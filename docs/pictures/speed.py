"""Draw speed-light.svg and speed-dark.svg, the plot in the README, from speed.json.

    python docs/pictures/speed.py

The figures are those of docs/benchmarks.md, "Compared with kube-scheduler": copy them after a new
run.
"""

import json
from pathlib import Path

from podium.bench.plot import Chart, Panel, draw
from podium.pictures import DARK, LIGHT

HERE = Path(__file__).resolve().parent
SCHEDULERS = ("podium", "kube-scheduler")


def chart(figures: dict) -> Chart:
    rows = figures["workloads"]
    values = [[row[name] for name in SCHEDULERS] for row in rows]
    return Chart(
        figures["title"],
        figures["conditions"],
        SCHEDULERS,
        [row["name"] for row in rows],
        [Panel("pods per second", values)],
    )


if __name__ == "__main__":
    measured = chart(json.loads((HERE / "speed.json").read_text()))
    for name, theme in {"light": LIGHT, "dark": DARK}.items():
        (HERE / f"speed-{name}.svg").write_text(draw(measured, theme))
