"""The state file of a running cluster: who runs it and where, locked for as long as it runs.

The lock tells a running cluster from one that died: a number of a process can be used again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import msgspec

from podium.errors import AlreadyRunning, PodiumError

_MOST = 64 * 1024  # characters; a state file has some 200


class RunningCluster(msgspec.Struct, frozen=True):
    """What the file says."""

    pid: int
    url: str
    kubeconfig: str
    nodes: int = 0
    scheduler: str = ""  # where its scheduler serves metrics; nowhere if it has none


def default_path(environment: Mapping[str, str] = os.environ) -> Path:
    base = environment.get("XDG_STATE_HOME")
    directory = Path(base) if base else Path.home() / ".local" / "state"
    return directory / "podium" / "cluster.json"


def already_running(running: RunningCluster | None) -> AlreadyRunning:
    """What to raise; ``None`` when the other cluster has not said yet where it is."""
    where = f" (process {running.pid}, {running.url})" if running else ""
    return AlreadyRunning(f"a cluster is running already{where}; end it with: podium down")


class StateFile:
    """``with StateFile(path) as file: file.write(…)``: held until the end, then removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> StateFile:
        check_ours(self._path)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a+", errors="replace")
        except (OSError, ValueError) as error:
            hint = "give another with --state-file"
            raise PodiumError(f"{self._path}: cannot be written: {error}; {hint}") from error
        if not _lock(file):
            file.close()
            raise already_running(find_running(self._path))
        self._file = file
        return self

    def write(self, running: RunningCluster) -> None:
        assert self._file is not None
        self._file.truncate(0)
        self._file.write(msgspec.json.encode(running).decode() + "\n")
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()


def find_running(path: Path) -> RunningCluster | None:
    """The cluster that runs now; a file that nobody holds is of one that died."""
    found, held = look(path)
    return found if held else None


def look(path: Path) -> tuple[RunningCluster | None, bool]:
    """What the file says, and whether its cluster still runs."""
    try:
        with path.open("r", errors="replace") as file:
            held = not _lock(file, fcntl.LOCK_SH)
            return _parse(file.read(_MOST)), held
    except FileNotFoundError:
        return None, False
    except (OSError, ValueError) as error:
        raise PodiumError(f"{path}: cannot be read: {error}") from error


def check_ours(path: Path) -> None:
    """Refuse a file of somebody else, which would be lost; an empty one may be used."""
    try:
        text = path.read_bytes()[:_MOST].decode(errors="replace") if path.exists() else ""
    except (OSError, ValueError) as error:
        raise PodiumError(f"{path}: cannot be read: {error}") from error
    if text.strip() and _parse(text) is None:
        hint = "give another with --state-file"
        raise PodiumError(f"{path}: is no state file of podium; {hint}")


def _parse(text: str) -> RunningCluster | None:
    try:
        found = msgspec.json.decode(text, type=RunningCluster)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None  # not written yet, or by somebody else
    return found if found.pid > 0 else None  # a signal to others would go to many


def _lock(file: TextIO, how: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
