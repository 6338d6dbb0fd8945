"""The state files of running clusters: one per name, locked for as long as the cluster runs.

The lock tells a running cluster from one that crashed; the process id alone could not, because the
system uses process ids again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

import msgspec

from podium.cli.arguments.options import DEFAULT_NAME
from podium.errors import AlreadyRunning, PodiumError

_MOST = 64 * 1024  # characters; a state file has some 200


class RunningCluster(msgspec.Struct, frozen=True):
    """The content of a state file."""

    pid: int
    url: str
    kubeconfig: str
    nodes: int = 0
    scheduler: str = ""  # where its scheduler serves metrics; "" if it has none
    name: str = DEFAULT_NAME
    key: str = ""  # makes links to the dashboard; the file is for its owner alone


def default_path(name: str = DEFAULT_NAME, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the state file of the cluster with this name."""
    base = environment.get("XDG_STATE_HOME")
    directory = Path(base) if base else Path.home() / ".local" / "state"
    suffix = "" if name == DEFAULT_NAME else f"-{name}"
    return directory / "podium" / f"cluster{suffix}.json"


def running_clusters() -> Iterator[RunningCluster]:
    """Yield the clusters that run now, sorted by name; those with a --state-file are not found."""
    files = default_path().parent.glob("cluster*.json")
    found = [running for file in files if (running := find_running(file))]
    yield from sorted(found, key=lambda running: running.name)


def usual_cluster() -> RunningCluster | None:
    """Return the cluster that a command means without a name: the one without ``--name`` first."""
    return min(running_clusters(), key=lambda running: running.name != DEFAULT_NAME, default=None)


def none_runs() -> str:
    """Say that no cluster runs under a name, and which ones run."""
    others = ", ".join(running.name for running in running_clusters())
    return f"no cluster runs under this name{f'; there are: {others}' if others else ''}"


def already_running(running: RunningCluster | None) -> AlreadyRunning:
    """Return the error to raise; ``None`` if the other cluster has not written its state yet."""
    where = f" (process {running.pid}, {running.url})" if running else ""
    is_named = running is not None and running.name != DEFAULT_NAME
    stop = f"podium down --name {running.name}" if running and is_named else "podium down"
    hint = f"stop it with: {stop}, or start another with --name"
    return AlreadyRunning(f"a cluster is running already{where}; {hint}")


class StateFile:
    """``with StateFile(path) as file: file.write(…)``: locked until the end, then removed."""

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
        os.fchmod(file.fileno(), 0o600)
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
    """Return the cluster that runs now; a file without a lock was left by a crash."""
    found, held = look(path)
    return found if held else None


def look(path: Path) -> tuple[RunningCluster | None, bool]:
    """Return the file's content, and whether its cluster still runs."""
    try:
        with path.open("r", errors="replace") as file:
            held = not _lock(file, fcntl.LOCK_SH)
            return _parse(file.read(_MOST)), held
    except FileNotFoundError:
        return None, False
    except (OSError, ValueError) as error:
        raise PodiumError(f"{path}: cannot be read: {error}") from error


def check_ours(path: Path) -> None:
    """Refuse to overwrite a file that is not a state file; an empty one may be used."""
    try:
        text = path.read_bytes()[:_MOST].decode(errors="replace") if path.exists() else ""
    except (OSError, ValueError) as error:
        raise PodiumError(f"{path}: cannot be read: {error}") from error
    if text.strip() and _parse(text) is None:
        hint = "delete it if nothing else needs it, or give another with --state-file"
        raise PodiumError(f"{path}: is not a state file of podium; {hint}")


def _parse(text: str) -> RunningCluster | None:
    try:
        found = msgspec.json.decode(text, type=RunningCluster)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None  # not written yet, or not a state file
    return found if found.pid > 0 else None  # a signal to 0 or below would reach many processes


def _lock(file: TextIO, how: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
