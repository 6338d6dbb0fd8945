"""The command ``podium``, and ``python -m podium``."""

import atexit
import os
import sys

INTERRUPTED = 130


def main(program: str = "podium") -> int:
    try:
        from podium.cli import main as command  # Ctrl-C may come while it is loaded
    except KeyboardInterrupt:
        return INTERRUPTED
    return command(program=program)


def start(program: str = "podium") -> int:
    """Run a command as all that this process does.

    Python would free every object as it ends, one by one: 0.1 s and more on large snapshots. That
    is left to the operating system. Threads are joined and exit handlers run as always: what is
    registered first runs last.
    """
    statuses: list[int] = []
    atexit.register(_leave, statuses)
    status = main(program)
    statuses.append(status)
    return status


def _leave(statuses: list[int]) -> None:
    """End the process if its command has returned. Failures are left for Python to report."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    for status in statuses:
        os._exit(status)


def kubectl_start() -> int:
    """Run as a plugin of kubectl, which finds programs named ``kubectl-podium``."""
    return start("kubectl podium")


if __name__ == "__main__":
    sys.exit(start())
