"""Draw speed-light.svg and speed-dark.svg, the plot in the README, from speed.json.

    python docs/pictures/speed.py

The figures are those of docs/benchmarks.md, "Beside kube-scheduler": copy them after a new run.
"""

import json
import textwrap
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, LEFT, RIGHT = 820, 180, 90
BAR, GAP, TOP = 20, 22, 84
SCHEDULERS = ("podium", "kube-scheduler")


@dataclass(frozen=True)
class Theme:
    text: str
    faint: str
    colours: dict[str, str]


THEMES = {
    "light": Theme("#1f2328", "#59636e", {"podium": "#2563c9", "kube-scheduler": "#a8b1bc"}),
    "dark": Theme("#f0f6fc", "#9198a1", {"podium": "#5a9bf8", "kube-scheduler": "#5d6773"}),
}


def draw(figures: dict, theme: Theme) -> str:
    """Return the plot as SVG: two bars for each workload, the conditions below."""
    longest = max(max(row[name] for name in SCHEDULERS) for row in figures["workloads"])
    scale = (WIDTH - LEFT - RIGHT) / longest
    parts = [text(16, 28, figures["title"], theme.text, "font-size='17' font-weight='600'")]
    parts += legend(theme)
    y = TOP
    for row in figures["workloads"]:
        parts += bars(row, y, scale, theme)
        y += 2 * BAR + GAP
    for number, line in enumerate(textwrap.wrap(figures["conditions"], 118)):
        parts.append(text(16, y + 14 + 18 * number, line, theme.faint, "font-size='13'"))
    height = y + 14 + 18 * len(textwrap.wrap(figures["conditions"], 118))
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img'"
        " font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'>"
        f"<title>{escape(summary(figures))}</title>{''.join(parts)}</svg>\n"
    )


def bars(row: dict, y: int, scale: float, theme: Theme) -> list[str]:
    parts = [
        text(LEFT - 12, y + BAR + 5, row["name"], theme.text, "text-anchor='end' font-size='15'")
    ]
    for number, name in enumerate(SCHEDULERS):
        top, length = y + number * BAR, row[name] * scale
        parts.append(
            f"<rect x='{LEFT}' y='{top}' width='{length:.1f}' height='{BAR - 2}' rx='2'"
            f" fill='{theme.colours[name]}'/>"
        )
        parts.append(
            text(LEFT + length + 8, top + 14, label(row, name), theme.text, "font-size='14'")
        )
    return parts


def label(row: dict, name: str) -> str:
    if name == "podium":
        return f"{row[name]} ({row[name] / row['kube-scheduler']:.1f}x)"
    return str(row[name])


def legend(theme: Theme) -> list[str]:
    parts, x = [], LEFT
    for name in SCHEDULERS:
        parts.append(
            f"<rect x='{x}' y='50' width='14' height='14' rx='2' fill='{theme.colours[name]}'/>"
        )
        parts.append(text(x + 22, 62, name, theme.text, "font-size='14'"))
        x += 100
    return parts


def summary(figures: dict) -> str:
    rows = (
        f"{row['name']} {row['podium']} against {row['kube-scheduler']}"
        for row in figures["workloads"]
    )
    return f"{figures['title']}, podium against kube-scheduler: {', '.join(rows)}"


def text(x: float, y: float, content: str, colour: str, attributes: str) -> str:
    return f"<text x='{x:.1f}' y='{y}' fill='{colour}' {attributes}>{escape(content)}</text>"


if __name__ == "__main__":
    measured = json.loads((HERE / "speed.json").read_text())
    for name, theme in THEMES.items():
        (HERE / f"speed-{name}.svg").write_text(draw(measured, theme))
