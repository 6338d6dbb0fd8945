"""Notices files that were saved: plugins for `podium up --watch`, the file of `--watch-config`.

Files are looked at, not subscribed to: that also works for a ConfigMap, which the kubelet replaces
by swapping a symbolic link, and for network file systems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from podium.clock import Clock, sleep
from podium.errors import PodiumError
from podium.framework.status import text_of
from podium.logs import get_logger

log = get_logger(__name__)

# What saving a file or changing its permissions changes; None for a file that does not exist.
Stamp = tuple[int, int, int] | None
# Called with the names of the saved files, and with what is wrong with them, if anything.
Report = Callable[[list[str], str | None], None]

POLL_SECONDS: Final = 0.5


class FileWatch:
    """Calls ``reload`` when a file was saved, then ``report``.

    A file that is being written may be readable and yet incomplete, so a change counts once the
    file looks the same at two looks in a row. A reload that fails is not repeated before the next
    save.
    """

    def __init__(self, files: Iterable[Path], reload: Callable[[], None], report: Report) -> None:
        self._files = tuple(files)
        self._reload = reload
        self._report = report
        self._loaded = self._last = self._stamps()

    async def run(self, clock: Clock) -> None:
        while True:
            await sleep(clock, POLL_SECONDS)
            self.look()

    def look(self) -> None:
        """Reload if a file has changed and is not being written any more."""
        stamps = self._stamps()
        is_complete, self._last = stamps == self._last, stamps
        changed = [file.name for file in self._files if stamps[file] != self._loaded[file]]
        if not changed or not is_complete:
            return
        self._loaded = stamps
        try:
            self._reload()
        except PodiumError as error:
            self._report(changed, str(error))
        # A plugin's code may raise anything, and a later save must be loaded all the same.
        except (Exception, SystemExit) as fault:
            log.error("files were not reloaded", files=changed)
            why = f"{type(fault).__name__}: {text_of(fault)}"
            self._report(changed, f"{', '.join(changed)}: cannot be loaded: {why}")
        else:
            self._report(changed, None)

    def _stamps(self) -> dict[Path, Stamp]:
        return {file: _stamp(file) for file in self._files}


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ctime_ns, found.st_size, found.st_ino
