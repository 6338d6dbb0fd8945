"""What is wrong, told under the program's name, and the exit status after it; for every command."""

from __future__ import annotations

import sys
from typing import Final

from podium.errors import PodiumError

FAILED: Final = 1
BAD_INPUT: Final = 2  # as argparse ends

# Of the library's errors none has it: their words stand in tracebacks and logs, too.
_NAME: Final = "podium: "


def complain(what: PodiumError | str) -> None:
    print(signed(what), file=sys.stderr)


def signed(what: PodiumError | str) -> str:
    """With who says it, as every line to people from a command has."""
    return f"{_NAME}{what}"
