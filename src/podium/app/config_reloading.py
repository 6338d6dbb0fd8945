"""A changed configuration file for a running scheduler: ``podium scheduler --watch-config``.

A file that cannot be used changes nothing. Some settings are read at the start only: if they have
changed, the rest of the file is used, and they are reported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from podium.config.model import Configuration
from podium.errors import ConfigError, Problem
from podium.framework.args import camel_case
from podium.framework.handle import EventNote
from podium.framework.registry import Registry
from podium.logs import get_logger
from podium.metrics import Metrics

log = get_logger(__name__)

SUCCESS: Final = "success"
FAILURE: Final = "failure"
RESTART_NEEDED: Final = "restart_needed"

# A field that is not named here is read at the start only.
CHANGEABLE: Final = {
    "profiles",
    "percentage_of_nodes_to_score",
    "pod_initial_backoff_seconds",
    "pod_max_backoff_seconds",
    "run_all_filters",
    "warnings",
}
# An event's length is limited, and the log has the whole message.
_MOST_CHARACTERS: Final = 1000


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration as it was read from a file; ``shown`` returns what ``/configz`` shows."""

    configuration: Configuration
    registry: Registry
    digest: str  # the SHA-256 of the file
    shown: Callable[[Configuration], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that is watched; ``read`` raises ``ConfigError`` if it cannot be used."""

    path: Path
    loaded: Loaded
    read: Callable[[], Loaded]


class ConfigReloading:
    """Takes a saved file into use, and reports the result by log, event and metric.

    ``configz`` is what ``/configz`` shows: the configuration in use, and the hash of the file that
    it came from.
    """

    def __init__(
        self,
        file: ConfigFile,
        exchange: Callable[[Configuration, Registry], None],
        metrics: Metrics,
        record: Callable[[EventNote], None],
    ) -> None:
        self._file = file
        self._exchange = exchange
        self._reloads = metrics.config_reloads
        self._record = record
        self._in_use = file.loaded
        self._ignored: list[str] = []
        for result in (SUCCESS, FAILURE, RESTART_NEEDED):
            self._reloads.inc(result, by=0)

    @property
    def configz(self) -> Mapping[str, Any]:
        return self._in_use.shown(self._in_use.configuration)

    def reload(self) -> None:
        """Use the file as it is now; if this raises, nothing has changed."""
        found = self._file.read()
        if found.digest == self._in_use.digest:  # saved, but no different from what is in use
            return
        usable = with_fixed(self._in_use.configuration, found.configuration)
        self._exchange(usable, found.registry)
        self._ignored = unchangeable(usable, found.configuration)
        self._in_use = dataclasses.replace(found, configuration=usable)

    def report(self, files: list[str], problem: str | None) -> None:
        """Report the last reload."""
        file, digest = str(self._file.path), self._in_use.digest
        if problem is not None:
            self._reloads.inc(FAILURE)
            kept = f"the configuration {digest} stays in use"
            log.problem(f"configuration not reloaded: {problem}; {kept}", file=file)
            text = f"{problem[:_MOST_CHARACTERS]}; {kept}"
            self._record(EventNote("Warning", "ConfigReloadFailed", "Reloading", text))
            return
        for warning in self._in_use.configuration.warnings:
            log.warning("configuration", file=file, what=str(warning))
        log.info("configuration reloaded", file=file, hash=digest)
        severity, text = "Normal", f"{file} ({digest}) is in use"
        if self._ignored:
            left = f"changed, but used only after a restart: {', '.join(self._ignored)}"
            log.warning(left, file=file)
            severity, text = "Warning", f"{text}; {left}"
        self._reloads.inc(RESTART_NEEDED if self._ignored else SUCCESS)
        self._record(EventNote(severity, "ConfigReloaded", "Reloading", text))


def unchangeable(used: Any, read: Any) -> list[str]:
    """Return the fields that differ, as a file names them: those of a section after a dot."""
    found = []
    for field in dataclasses.fields(used):
        before, now = getattr(used, field.name), getattr(read, field.name)
        name = camel_case(field.name)
        if field.name in CHANGEABLE or before == now:
            continue
        is_section = dataclasses.is_dataclass(before)
        found += (
            [f"{name}.{inner}" for inner in unchangeable(before, now)] if is_section else [name]
        )
    return found


def with_fixed(used: Configuration, read: Configuration) -> Configuration:
    """Return what was read, with the fields that cannot change as they are used."""
    fixed = {
        field.name: getattr(used, field.name)
        for field in dataclasses.fields(Configuration)
        if field.name not in CHANGEABLE
    }
    return dataclasses.replace(read, **fixed)


def require_file(path: Path) -> None:
    """Refuse pipes and devices, on which a read might wait for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ConfigError(str(path), [Problem("", "cannot be read: not a regular file")])
