"""Record `podium demo` in a terminal and draw it as films: demo-light.svg and demo-dark.svg.

    python docs/pictures/demo.py

The demo really runs, in a terminal of 96 columns, with a kubeconfig and a state file of its own.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pyte
from terminal_film import DARK, LIGHT, Cell, Frame, Row, Screen, film

HERE = Path(__file__).resolve().parent
COLUMNS, LINES = 96, 32
LAST_LINE = b"leaves nothing behind"
LEAST_SECONDS = 0.4  # between two frames
PROMPT = "$ make demo"
# Each link works once; the one of the recording is over with it.
TOKEN = re.compile(rb"(\?token=\S{6})\S+")


def record() -> list[Frame]:
    """Run the demo in a pseudo-terminal and return what it showed."""
    with tempfile.TemporaryDirectory() as folder:
        reader, demo = started(Path(folder))
        screen = pyte.Screen(COLUMNS, LINES)
        stream = pyte.ByteStream(screen)
        frames: list[Frame] = []
        printed, start = b"", 0.0
        while LAST_LINE not in printed:
            piece = os.read(reader, 65536)
            printed += piece
            start = start or time.monotonic()  # not before the first line
            stream.feed(prepared(piece))
            frames = taken(frames, time.monotonic() - start, shot(screen))
        demo.send_signal(signal.SIGINT)
        demo.wait()
        os.close(reader)
    return frames


def started(folder: Path) -> tuple[int, subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "podium", "demo"]
    names = {**os.environ, "TERM": "xterm-256color"}
    names |= {"KUBECONFIG": f"{folder}/config", "XDG_STATE_HOME": str(folder)}
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    demo = subprocess.Popen(command, stdin=writer, stdout=writer, stderr=writer, env=names)
    os.close(writer)
    return reader, demo


def prepared(piece: bytes) -> bytes:
    """Shorten the link, and draw dim text in grey, which pyte knows."""
    shortened = TOKEN.sub(lambda found: found[1] + "…".encode(), piece)
    return shortened.replace(b"\x1b[2m", b"\x1b[90m")


def taken(frames: list[Frame], at: float, screen: Screen) -> list[Frame]:
    """Add a frame; of screens that follow one another fast, only the last one counts."""
    if frames and screen == frames[-1].screen:
        return frames
    if len(frames) > 1 and at - frames[-2].at < LEAST_SECONDS:
        return [*frames[:-1], Frame(frames[-1].at, screen)]
    return [*frames, Frame(at, screen)]


def shot(screen: pyte.Screen) -> Screen:
    prompt = tuple(Cell(each, "", True) for each in PROMPT.ljust(COLUMNS))
    rows = [row_of(screen.buffer[number]) for number in range(LINES)]
    return (prompt, *rows)


def row_of(line: dict[int, pyte.screens.Char]) -> Row:
    cells = (line[column] for column in range(COLUMNS))
    return tuple(Cell(c.data, "" if c.fg == "default" else c.fg, c.bold) for c in cells)


if __name__ == "__main__":
    shown = record()
    for name, theme in {"light": LIGHT, "dark": DARK}.items():
        (HERE / f"demo-{name}.svg").write_text(film(shown, "podium demo", theme))
