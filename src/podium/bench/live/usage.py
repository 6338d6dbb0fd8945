"""The CPU time and the peak memory of a process."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class Usage(NamedTuple):
    """Totals since the process began."""

    cpu_seconds: float
    peak_memory_bytes: int


def usage_of(pid: int, proc: Path = _PROC) -> Usage | None:
    """Return the usage of a process; ``None`` if the system does not report it."""
    try:
        stat = (proc / str(pid) / "stat").read_text()
        status = (proc / str(pid) / "status").read_text()
    except OSError:
        return None
    # The name of the program, in parentheses, may contain anything. User and system time are
    # fields 14 and 15.
    user, system = stat.rpartition(")")[2].split()[11:13]
    ticks = int(user) + int(system)
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), _peak_memory_bytes(status))


def _peak_memory_bytes(status: str) -> int:
    for line in status.splitlines():
        name, _, amount = line.partition(":")
        if name == "VmHWM":
            return int(amount.split()[0]) * 1024
    return 0


def usage_of_children() -> Usage:
    """Return the usage of all ended children, with the memory of the largest."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss * unit)
