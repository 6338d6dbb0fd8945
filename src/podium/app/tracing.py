"""Opens and closes what `--tracing-config` asks for; without it nothing of it is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from podium.config.tracing import load_tracing
from podium.errors import ConfigError, Problem
from podium.live.attempt import Tracer
from podium.live.leader_election import new_identity


@contextmanager
def traced(path: str | None) -> Iterator[Tracer | None]:
    """Record spans as this file says until the block ends; without a file, record nothing.

    Raises ``ConfigError`` for a file that is wrong, and if the library is not installed.
    """
    if not path:
        yield None
        return
    configuration = load_tracing(path)
    try:
        from podium.live.tracing import open_tracing
    except ImportError as error:
        what = f"needs the extra \"tracing\": pip install 'podium[tracing]' ({error})"
        raise ConfigError("the command line", [Problem("--tracing-config", what)]) from error
    tracing = open_tracing(configuration, new_identity())
    try:
        yield tracing
    finally:
        tracing.close()
