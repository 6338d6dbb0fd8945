"""What stands in for standard streams that the shell has closed, as in ``podium version >&-``."""

from __future__ import annotations

import errno
import io
import os
import sys


class ClosedOutput(OSError):
    """Something was printed, but standard output is closed."""


class ClosedStream(io.TextIOBase):
    """Takes the place of a closed standard output: whoever prints gets an error.

    So a command fails only if it has something to print, as other programs do.
    """

    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise ClosedOutput(errno.EBADF, os.strerror(errno.EBADF))


def replace_closed_streams() -> None:
    """Replace what Python has set to ``None``. Without standard error, messages go nowhere.

    Descriptors 1 and 2 are taken, or the next file that is opened would get their number.
    """
    if sys.stdout is None:
        _take(1)
        sys.stdout = ClosedStream()
    if sys.stderr is None:
        _take(2)
        sys.stderr = os.fdopen(2, "w", closefd=False)


def _take(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
