"""The curves of the scale benchmark as SVG: log-log, readable on light and dark backgrounds."""

from html import escape
from math import ceil, floor, log10

from podium.pictures import DARK, LIGHT

WIDTH, HEIGHT = 820, 700
PANEL_WIDTH, PANEL_HEIGHT = 320, 210
PHASES = {
    "list_pause_ms": "first list",
    "steady_pause_ms": "scheduling",
    "nodes_pause_ms": "all nodes change",
    "relist_pause_ms": "relist while scheduling",
}
GOAL_MS = 50


def draw(found):
    """Return the SVG; the pauses are those of the label that was measured last."""
    by_label = {}
    for figures in found:
        by_label.setdefault(figures["label"], []).append(figures)
    last = list(by_label.values())[-1]
    phases = {name: curve(last, figure) for figure, name in PHASES.items()}

    def labelled(figure, unit=1):
        return {label: curve(rungs, figure, unit) for label, rungs in by_label.items()}

    panels = [
        panel((60, 70), "CPU seconds to the first decision", labelled("first_cpu_seconds")),
        panel((470, 70), "memory of the process, MB", labelled("memory_bytes", 1e6)),
        panel((60, 400), "CPU µs per scheduled pod", labelled("pod_cpu_us")),
        panel((470, 400), f"longest pause of the loop, ms of CPU ({list(by_label)[-1]})", phases),
    ]
    title = heading(found)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img'"
        " font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'"
        " font-size='12'>"
        f"<title>{title}</title><style>{style()}</style>"
        "<rect class='background' width='100%' height='100%'/>"
        f"{text(16, 30, title, 'text title')}"
        f"{''.join(panels)}</svg>\n"
    )


def heading(found):
    """Return the title, with the number of pods per node if it is the same for all sizes."""
    ratios = {figures["pods"] / figures["nodes"] for figures in found}
    pods = f", with {ratios.pop():g} pods each" if len(ratios) == 1 else ""
    return f"One scheduler process by number of nodes{pods}"


def curve(rungs, figure, unit=1):
    return [(each["nodes"], max(each[figure], 1e-9) / unit) for each in rungs]


def style():
    return f"{css(LIGHT)}@media(prefers-color-scheme:dark){{{css(DARK)}}}"


def css(theme):
    lines = [
        f".line{number}{{stroke:{colour};fill:none;stroke-width:2}}"
        for number, colour in enumerate(theme.series)
    ]
    title = ".title{font-size:17px;font-weight:600}"
    grid = f".goal{{stroke:{theme.text}}}.grid{{stroke:{theme.faint};stroke-opacity:.3}}"
    return f"{theme.css()}{title}{grid}{''.join(lines)}"


class Scale:
    """From values to places in a panel, along one axis, by powers of ten."""

    def __init__(self, values, begin, length):
        self.low = floor(log10(min(values)))
        self.high = max(ceil(log10(max(values))), self.low + 1)
        self._begin, self._length = begin, length

    def __call__(self, value):
        return self._begin + self._length * (log10(value) - self.low) / (self.high - self.low)

    @property
    def decades(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def panel(at, title, curves):
    x, y = at
    points = [point for curve in curves.values() for point in curve]
    is_pause = "pause" in title
    values = [value for _, value in points] + ([GOAL_MS, 1] if is_pause else [])
    across = Scale([nodes for nodes, _ in points], x, PANEL_WIDTH)
    up = Scale(values, y + PANEL_HEIGHT, -PANEL_HEIGHT)
    parts = [text(x, y - 12, title)]
    for value in up.decades:
        parts.append(line((x, up(value)), (x + PANEL_WIDTH, up(value)), "grid"))
        parts.append(text(x - 6, up(value) + 4, f"{value:,g}", "faint", anchor="end"))
    for value in across.decades:
        parts.append(line((across(value), y), (across(value), y + PANEL_HEIGHT), "grid"))
        parts.append(text(across(value), y + PANEL_HEIGHT + 17, f"{value:,g}", "faint", "middle"))
    if is_pause:
        parts.append(line((x, up(GOAL_MS)), (x + PANEL_WIDTH, up(GOAL_MS)), "goal"))
        parts.append(text(x + 6, up(GOAL_MS) - 5, f"goal: {GOAL_MS} ms"))
    for number, (name, curve) in enumerate(curves.items()):
        colour = (number + 1) % len(curves)  # the last one has the first colour
        parts += drawn([(across(nodes), up(value)) for nodes, value in curve], colour)
        place = (x + number % 2 * 165, y + PANEL_HEIGHT + 36 + number // 2 * 19)
        parts.append(legend(place, colour, name))
    return "".join(parts)


def drawn(places, number):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f"<polyline points='{path}' class='line{number}'/>"
    for x, y in places:
        yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' class='series{number}'/>"


def legend(at, number, name):
    x, y = at
    swatch = f"<rect x='{x}' y='{y - 10}' width='12' height='12' rx='2' class='series{number}'/>"
    return swatch + text(x + 18, y, name)


def line(begin, end, sort):
    dash = " stroke-dasharray='5 4'" if sort == "goal" else ""
    (x1, y1), (x2, y2) = begin, end
    places = f"x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'"
    return f"<line {places} class='{sort}'{dash}/>"


def text(x, y, content, sort="text", anchor="start"):
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' class='{sort}' text-anchor='{anchor}'>"
        f"{escape(content)}</text>"
    )
