"""Reads single keys from a terminal, and leaves the terminal as it was."""

from __future__ import annotations

import os
import re
import termios
import tty
from collections.abc import Iterator
from typing import Any, Final

UP, DOWN, LEFT, RIGHT = "up", "down", "left", "right"
PAGE_UP, PAGE_DOWN, HOME, END = "page up", "page down", "home", "end"
ENTER, ESCAPE, TAB, BACKSPACE = "enter", "escape", "tab", "backspace"

_NAMES: Final = {
    "\x1b[A": UP, "\x1b[B": DOWN, "\x1b[C": RIGHT, "\x1b[D": LEFT,
    "\x1bOA": UP, "\x1bOB": DOWN, "\x1bOC": RIGHT, "\x1bOD": LEFT,
    "\x1b[5~": PAGE_UP, "\x1b[6~": PAGE_DOWN, "\x1b[H": HOME, "\x1b[F": END,
    "\x1b[1~": HOME, "\x1b[4~": END, "\x1bOH": HOME, "\x1bOF": END,
    "\r": ENTER, "\n": ENTER, "\x1b": ESCAPE, "\t": TAB, "\x7f": BACKSPACE, "\b": BACKSPACE,
}  # fmt: skip
# A sequence of a special key, or any other character. Unknown sequences are one key without effect.
_KEY: Final = re.compile(r"\x1b\[[0-9;?]*[@-~]|\x1bO.|\x1b|.", re.DOTALL)
_MOST_BYTES: Final = 1024


def keys_of(typed: str) -> Iterator[str]:
    """Yield the keys by name; letters and other characters are their own names."""
    for sequence in _KEY.findall(typed):
        yield _NAMES.get(sequence, sequence)


class Keyboard:
    """``with Keyboard(fd) as keyboard:`` delivers keys at once and does not show them."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._before: list[Any] = []

    def __enter__(self) -> Keyboard:
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def take(self) -> None:
        self._before = termios.tcgetattr(self.fd)
        tty.setcbreak(self.fd, termios.TCSADRAIN)  # keys typed meanwhile are kept

    def release(self) -> None:
        termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)

    def read(self) -> list[str] | None:
        """Return the keys that were typed; ``None`` when the terminal is gone."""
        try:
            typed = os.read(self.fd, _MOST_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return list(keys_of(typed.decode(errors="replace"))) if typed else None
