"""Messages of commands to people: errors and notices start with the program's name."""

from __future__ import annotations

import sys
from typing import Final

from podium.errors import PodiumError

FAILED: Final = 1  # the exit status when something went wrong; bad input ends with BAD_INPUT

# Only commands add this: the library's own errors also appear in tracebacks and logs.
_NAME: Final = "podium: "


def print_error(what: PodiumError | str) -> None:
    print(prefixed(what), file=sys.stderr)


def prefixed(what: PodiumError | str) -> str:
    """Put the program's name in front."""
    return f"{_NAME}{what}"
