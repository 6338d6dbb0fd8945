"""Record `podium demo` in a terminal and draw it as demo-light.svg and demo-dark.svg.

    python docs/pictures/demo.py

The demo really runs, in a terminal of 100 columns, with a kubeconfig and a state file of its own.
"""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).resolve().parent
COLUMNS = 100
LAST_LINE = b"The cluster keeps running"

_ANSI_LIGHT = [(31, 35, 40), (200, 30, 40), (20, 120, 60), (150, 100, 0), (30, 95, 200),
               (130, 60, 180), (20, 120, 140), (90, 100, 110)]  # fmt: skip
_ANSI_DARK = [(72, 79, 88), (255, 123, 114), (86, 211, 100), (227, 179, 65), (121, 192, 255),
              (210, 168, 255), (86, 212, 221), (201, 209, 217)]  # fmt: skip
THEMES = {
    "light": TerminalTheme((246, 248, 250), (31, 35, 40), _ANSI_LIGHT),
    "dark": TerminalTheme((13, 17, 23), (230, 237, 243), _ANSI_DARK),
}

# rich's own template loads a font from the network; this one uses the reader's monospace font.
TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: system-ui, Helvetica, Arial, sans-serif; font-size: 18px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def record() -> str:
    """Run the demo in a pseudo-terminal and return all that it printed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "podium", "demo"]
        command += [f"--kubeconfig={folder}/kubeconfig", f"--state-file={folder}/state"]
        reader, writer = pty.openpty()
        environment = {
            **os.environ,
            "COLUMNS": str(COLUMNS),
            "LINES": "50",
            "TERM": "xterm-256color",
        }
        demo = subprocess.Popen(command, stdout=writer, stderr=writer, env=environment)
        os.close(writer)
        printed = b""
        while LAST_LINE not in printed:
            printed += os.read(reader, 65536)
        demo.send_signal(signal.SIGINT)
        demo.wait()
        os.close(reader)
    return printed.decode()


def last_screen(printed: str) -> list[str]:
    """Return the lines as the terminal shows them at the end, colours included."""
    lines, row = [""], 0
    for piece in re.findall(
        r"\x1b\[2K|\x1b\[1A|\x1b\[\?25[lh]|\r|\n|(?:(?!\x1b\[(?:2K|1A|\?25[lh]))[^\r\n])+", printed
    ):
        if piece == "\x1b[2K":
            lines[row] = ""
        elif piece == "\x1b[1A":
            row -= 1
        elif piece == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif piece != "\r" and "?25" not in piece:
            lines[row] += piece
    return lines


def picture(lines: list[str], theme: TerminalTheme) -> str:
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print("[bold]$ make demo[/bold]")
    for line in lines:
        console.print(Text.from_ansi(line), soft_wrap=False)
    return console.export_svg(
        title="podium demo", theme=theme, code_format=TEMPLATE, unique_id="demo"
    )


def story(lines: list[str]) -> list[str]:
    """Leave out the hints about what to type next, and what comes after the last decision."""
    heading = next(number for number, line in enumerate(lines) if "pods are created" in line)
    end = next(number for number, line in enumerate(lines) if LAST_LINE.decode() in line)
    return [lines[0], "", *lines[heading : end - 1]]


if __name__ == "__main__":
    shown = story(last_screen(record()))
    for name, theme in THEMES.items():
        (HERE / f"demo-{name}.svg").write_text(picture(shown, theme))
