"""Files of plugins, watched: `podium up --watch` loads them again when they are saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from podium.app.plugin_loading import OPTION, Source
from podium.clock import Clock, sleep
from podium.errors import PluginError, PodiumError

POLL_SECONDS: Final = 0.5

Stamp = tuple[int, int, int] | None  # what a save changes; None for a file that is not there


class PluginWatch:
    """``reload`` raises when the files cannot be used; ``say`` tells a person what happened."""

    def __init__(
        self, files: Iterable[Path], reload: Callable[[], None], say: Callable[[str], None]
    ) -> None:
        self._files = tuple(files)
        self._reload = reload
        self._say = say
        self._seen = self._stamps()

    async def run(self, clock: Clock) -> None:
        while True:
            await sleep(clock, POLL_SECONDS)
            self.look()

    def look(self) -> None:
        """Load again if a file has changed; one that cannot be used leaves the old code running."""
        stamps = self._stamps()
        changed = [file.name for file in self._files if stamps[file] != self._seen[file]]
        if not changed:
            return
        self._seen = stamps
        try:
            self._reload()
        except PodiumError as error:
            self._say(f"{error}\nThe old code goes on.")
        else:
            self._say(f"loaded {', '.join(changed)} again")

    def _stamps(self) -> dict[Path, Stamp]:
        return {file: _stamp(file) for file in self._files}


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def files_of(sources: Iterable[str]) -> list[Path]:
    """The files behind ``--plugin``; a module cannot be watched."""
    files = [(text, Source.parse(text).file) for text in sources]
    modules = [text for text, file in files if file is None]
    if modules or not files:
        what = f"{OPTION} {modules[0]} names a module" if modules else f"there is no {OPTION}"
        raise PluginError(f"--watch watches files, but {what}: give a path such as ./my.py")
    return [file for _, file in files if file is not None]
