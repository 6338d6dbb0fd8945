"""Every exception podium raises on purpose.

PodiumError
├── InvalidObject       an API object that cannot be used: which, where in it, why
├── InvalidQuantity     a text such as "1Kb" that is no resource quantity
├── InvalidSelector     a label or node selector that cannot be evaluated
├── InvalidTime         a text that is no RFC 3339 time
├── NotFound            the API has no such object
├── Conflict            the API has a newer version of the object; nothing was written
├── ApiError            a request that failed; whether it was carried out is not known
├── CacheError          a write that contradicts what the state knows; nothing was changed
├── StaleRow            a reference to a node that is gone
├── StateNotFound       a plugin read what it (or its earlier point) has not put this cycle
├── PluginError         a plugin that cannot be registered or built
├── ConfigError         a configuration that cannot be used: all that is wrong with it
├── InvalidRecording    a file of recorded cases that cannot be replayed: which, where, why
└── WorkloadFailed      a benchmark that did not come to its end
"""

from collections.abc import Sequence
from typing import NamedTuple


class PodiumError(Exception):
    """The root: catch this to catch all that podium raises itself."""


class Problem(NamedTuple):
    """One thing wrong with an object: the path of the field, and the reason."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class InvalidObject(PodiumError):
    """An API object that cannot be used; ``problems`` lists all that is wrong with it."""

    def __init__(self, kind: str, key: str, problems: Sequence[Problem]) -> None:
        self.kind = kind
        self.key = key
        self.problems = tuple(problems)
        super().__init__(self._message())

    def _message(self) -> str:
        what = f"{self.kind} {self.key}" if self.key else self.kind
        if len(self.problems) == 1:
            return f"{what}: {self.problems[0]}"
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        return f"{what} has {len(self.problems)} problems{lines}"


class InvalidQuantity(PodiumError):
    """A text that is no resource quantity; the message is the API server's."""


class InvalidSelector(PodiumError):
    """A selector that cannot be evaluated; the message names the field inside it."""


class InvalidTime(PodiumError):
    """A text that is no RFC 3339 time."""


class NotFound(PodiumError):
    """The API has no such object."""


class Conflict(PodiumError):
    """The API has a newer version of the object than the one to be changed; nothing was written."""


class ApiError(PodiumError):
    """The API refused a request or did not answer it; it may have been carried out."""


class CacheError(PodiumError):
    """A write that contradicts what the state knows; the message is upstream's."""


class StaleRow(PodiumError):
    """A reference to a node that is gone."""

    def __init__(self, name: str) -> None:
        super().__init__(f"node {name} is gone")


class StateNotFound(PodiumError):
    """A value that was not put into this cycle's state."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        super().__init__("not found")


class PluginError(PodiumError):
    """A plugin that cannot be registered or built; the message names it."""


class ConfigProblem(NamedTuple):
    """One thing wrong with a configuration: where, by path and by line, and what."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        where = " ".join(filter(None, (self.path, f"({line})" if self.path and line else line)))
        return f"{where}: {self.message}" if where else self.message


class ConfigError(PodiumError):
    """A configuration that cannot be used; ``problems`` lists all that is wrong with it."""

    def __init__(self, source: str, problems: Sequence[ConfigProblem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        super().__init__(f"podium: {source} has {count}{lines}")


class InvalidRecording(PodiumError):
    """A file of recorded cases that cannot be replayed; ``source`` is the file and the line."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}")


class WorkloadFailed(PodiumError):
    """A benchmark that did not come to its end, most likely for a pod that found no node."""
