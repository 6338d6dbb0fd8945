"""Makes traces from published tables: each module of this package knows one kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from podium.replay.convert.alibaba import from_alibaba
from podium.replay.convert.draft import Draft, write
from podium.replay.convert.google import from_google
from podium.replay.convert.simkube import from_simkube

FORMATS: Final[Mapping[str, Callable[[Sequence[Path]], Draft]]] = {
    "alibaba-gpu-2023": from_alibaba,
    "google-2019": from_google,
    "simkube": from_simkube,
}


class Converted(NamedTuple):
    """The trace that was written, and notes about what it cannot express."""

    arrivals: int
    notes: Sequence[str]


def convert(source: str, files: Sequence[Path], output: Path) -> Converted:
    """Convert files of a format into a trace. If something is wrong, nothing is written."""
    draft = FORMATS[source](files)
    write(draft, output)
    return Converted(draft.arrivals, draft.notes)
