"""Collect every problem in a configuration, with its path, its line and upstream's message."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from podium.errors import ConfigError, Problem
from podium.errors import did_you_mean as did_you_mean

_LONGEST_VALUE = 120


class Problems:
    """The problems found so far, without duplicates, in the order in which they were found.

    ``lines`` maps paths of the file to line numbers. ``moved`` maps paths of v1 to paths of the
    file, for versions that have a field elsewhere. ``_around`` holds the path of every problem
    and of everything that contains it, so that ``below`` needs no search.
    """

    def __init__(
        self, lines: Mapping[str, int] | None = None, moved: dict[str, str] | None = None
    ) -> None:
        self.lines = {} if lines is None else lines
        self.moved = {} if moved is None else moved
        self._found: dict[Problem, None] = {}
        self._around: set[str] = set()

    def __len__(self) -> int:
        return len(self._found)

    @property
    def found(self) -> list[Problem]:
        return list(self._found)

    def add(self, path: str, message: str) -> None:
        written = self.written(path)
        self.add_at(written, self.line(written), message)

    def written(self, path: str) -> str:
        """Return the path of the file for a path of v1."""
        around = path
        while around and around not in self.moved:
            around = _parent(around)
        if around not in self.moved:
            return path
        return f"{self.moved[around]}{path[len(around) :]}".lstrip(".")

    def add_at(self, path: str, line: int | None, message: str) -> None:
        self._found[Problem(path, message, line)] = None
        while path not in self._around:
            self._around.add(path)
            path = _parent(path)

    def invalid(self, path: str, value: Any, detail: str) -> None:
        self.add(path, f"Invalid value: {show(value)}: {detail}")

    def required(self, path: str, detail: str = "") -> None:
        """Report a missing value, unless it is there and was reported as unreadable."""
        if not self.below(path):
            self.add(path, f"Required value: {detail}" if detail else "Required value")

    def below(self, path: str) -> bool:
        """Whether anything at this path or inside it is wrong."""
        return self.written(path) in self._around

    def line(self, path: str) -> int | None:
        """Return the line of a path, or of the innermost object around it that the file has."""
        while path and path not in self.lines:
            path = _parent(path)
        return self.lines.get(path)

    def raise_if_any(self, source: str) -> None:
        if self.found:
            raise ConfigError(source, in_file_order(self.found))


def _parent(path: str) -> str:
    return path[: max(path.rfind("."), path.rfind("["), 0)]


def in_file_order(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: (problem.line is None, problem.line or 0))


def child(path: str, name: str) -> str:
    shown = name if name.isprintable() else json.dumps(name)[1:-1]
    return f"{path}.{shown}" if path else shown


def whole_text(text: str) -> str:
    """Join surrogate pairs that JSON escapes leave in two halves; replace a lone half."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def show(value: Any) -> str:
    """Format a value as upstream prints it: strings quoted, numbers bare, the rest as JSON."""
    if isinstance(value, float):
        return _number(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
    return f"{value:.15g}"
