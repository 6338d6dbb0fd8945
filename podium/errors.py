"""Every exception podium raises on purpose.

PodiumError
├── InvalidObject       an API object that cannot be used: which, where in it, why
├── InvalidQuantity     a text such as "1Kb" that is no resource quantity
├── InvalidSelector     a label or node selector that cannot be evaluated
└── InvalidTime         a text that is no RFC 3339 time
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
