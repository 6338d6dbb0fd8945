"""What is wrong, told under the program's name, and the exit status after it; for every command."""

from __future__ import annotations

import sys
from typing import Final

from podium.errors import PodiumError

FAILED: Final = 1
BAD_INPUT: Final = 2  # as argparse ends

_NAME: Final = "podium: "


def complain(what: PodiumError | str) -> None:
    """Print it. Parts that programs use as a library need not say who speaks; a command does."""
    print(f"{_NAME}{str(what).removeprefix(_NAME)}", file=sys.stderr)
