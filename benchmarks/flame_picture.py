"""Draws a flame graph as SVG, readable without a pointer: one column per stage, callers on top."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

from benchmarks.flame_stages import Frame

WIDTH, MARGIN, ROW, HEAD = 1200, 10, 18, 90
PER_LINE = 7  # names of stages in a line of the legend
LETTER = 6.1  # pixels of one letter at the size below
NARROWEST = 2.0  # pixels; a narrower frame would be a line without a name
DEEPEST = 26
COLOURS = (
    "#f4b183", "#ffd966", "#c5e0b4", "#9dc3e6", "#d0cece", "#8faadc", "#f8a5a5",
    "#ffe699", "#b4c7e7", "#f7caac", "#d9c3e8", "#a9d18e", "#e2e2e2",
)  # fmt: skip


class Box(NamedTuple):
    """A frame where it is drawn; ``depth`` 0 is the row of stages."""

    frame: Frame
    left: float
    width: float
    depth: int
    colour: str


def draw(title: str, stages: Mapping[str, Frame], scale: float) -> str:
    """Return the picture; ``scale`` is microseconds per pod and sample."""
    total = sum(stage.samples for stage in stages.values())
    pixels = (WIDTH - 2 * MARGIN) / max(total, 1)
    boxes: list[Box] = []
    left = float(MARGIN)
    for (_, stage), colour in zip(stages.items(), COLOURS, strict=True):
        boxes += _boxes(stage, left, pixels, 0, colour)
        left += stage.samples * pixels
    height = HEAD + ROW * (max((box.depth for box in boxes), default=0) + 1) + MARGIN
    parts = [_box(box, scale, total) for box in boxes]
    heading = f"{title}, {total * scale:.0f} µs"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img'"
        f" font-family='system-ui, Helvetica, Arial, sans-serif' font-size='11'>\n"
        f"<title>{escape(heading)}</title>\n<rect width='100%' height='100%' fill='#ffffff'/>\n"
        f"<text x='{MARGIN}' y='22' font-size='15' font-weight='600'>{escape(heading)}</text>\n"
        + "\n".join([*_legend(stages, scale), *parts])
        + "\n</svg>\n"
    )


def _legend(stages: Mapping[str, Frame], scale: float) -> Iterator[str]:
    """Name all stages with their time: most columns are too narrow for that."""
    for number, ((name, stage), colour) in enumerate(zip(stages.items(), COLOURS, strict=True)):
        line, column = divmod(number, PER_LINE)
        left, top = MARGIN + column * (WIDTH - 2 * MARGIN) / PER_LINE, 38 + ROW * line
        text = escape(f"{name} {stage.samples * scale:.0f} µs")
        yield f"<rect x='{left:.1f}' y='{top}' width='12' height='12' fill='{colour}'/>"
        yield f"<text x='{left + 18:.1f}' y='{top + 10}' font-size='12'>{text}</text>"


def _boxes(frame: Frame, left: float, pixels: float, depth: int, colour: str) -> Iterator[Box]:
    width = frame.samples * pixels
    if width < NARROWEST or depth > DEEPEST:
        return
    yield Box(frame, left, width, depth, colour)
    for callee in sorted(frame.callees.values(), key=lambda one: -one.samples):
        yield from _boxes(callee, left, pixels, depth + 1, colour)
        left += callee.samples * pixels


def _box(box: Box, scale: float, total: int) -> str:
    frame, top = box.frame, HEAD + ROW * box.depth
    where = f" ({frame.file})" if frame.file else ""
    share = 100 * frame.samples / total
    about = f"{frame.name}{where}: {frame.samples * scale:.1f} µs, {share:.1f} %"
    weight = " font-weight='600'" if not box.depth else ""
    label = _label(frame.name, box.width)
    text = f"<text x='{box.left + 3:.1f}' y='{top + 13}'{weight}>{escape(label)}</text>"
    return (
        f"<g><title>{escape(about)}</title><rect x='{box.left:.1f}' y='{top}'"
        f" width='{box.width - 0.5:.1f}' height='{ROW - 1}' fill='{box.colour}'/>"
        f"{text if label else ''}</g>"
    )


def _label(name: str, width: float) -> str:
    """Return as much of the name as fits; of a method the end says more than its class."""
    room = int((width - 4) / LETTER)
    short = name if len(name) <= room else name.rpartition(".")[2]
    if len(short) <= room:
        return short
    return short[: room - 1] + "…" if room >= 4 else ""
