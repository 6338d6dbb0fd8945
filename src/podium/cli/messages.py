"""Messages of commands to people: errors and notices start with the program's name."""

from __future__ import annotations

import sys
from typing import Final

from podium.errors import PodiumError

FAILED: Final = 1  # the exit status when something went wrong; bad input ends with BAD_INPUT

INTERRUPTED: Final = 130  # the exit status after Ctrl-C

# Only commands add this: the library's own errors also appear in tracebacks and logs.
_NAME: Final = "podium: "


# Names and messages come from files and clusters, and may hold control characters, which a terminal
# would obey. Each is replaced by a visible sign, also those that reverse the direction of text.
_SIGNS: Final = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(
        (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD
    ),
}


def print_error(what: PodiumError | str) -> None:
    print(prefixed(what), file=sys.stderr)


def prefixed(what: PodiumError | str) -> str:
    """Put the program's name in front, and make control characters visible."""
    return f"{_NAME}{visible(str(what))}"


def visible(text: str) -> str:
    """Return the text with control characters as visible signs, except line breaks and tabs."""
    return text.translate(_SIGNS)
