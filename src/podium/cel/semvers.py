"""Semantic versions as values of CEL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from podium.cel import types
from podium.cel.environment import Library, function, library, overload
from podium.cel.types import Type
from podium.cel.values import MAX_UINT, quoted
from podium.errors import EvaluationError

SEMVER: Final = types.struct("kubernetes.Semver")
_DIGITS: Final = re.compile("[0-9]+")
_WORD: Final = re.compile("[0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Semver:
    """A semantic version; what follows ``+`` plays no part in any comparison."""

    numbers: tuple[int, int, int]
    prerelease: tuple[tuple[bool, int, str], ...] = ()
    cel_type: ClassVar[Type] = SEMVER
    go_name: ClassVar[str] = "cel.Semver"
    equals_only_itself: ClassVar[bool] = True

    def compare(self, other: Semver) -> int:
        # A version is greater than its own prereleases.
        mine = (self.numbers, not self.prerelease, self.prerelease)
        theirs = (other.numbers, not other.prerelease, other.prerelease)
        return (mine > theirs) - (mine < theirs)


def parse_semver(text: str) -> Semver:
    """Read a version; raise ``EvaluationError`` with the words of upstream's library."""
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major = _number("major", parts[0])
    minor = _number("minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    numbers = (major, minor, _number("patch", patch))
    found = tuple(map(_prerelease, prerelease.split("."))) if dash else ()
    for part in build.split(".") if plus else ():
        if not part:
            raise EvaluationError("Build meta data is empty")
        if not _WORD.fullmatch(part):
            raise EvaluationError(f"Invalid character(s) found in build meta data {quoted(part)}")
    return Semver(numbers, found)


def _number(name: str, text: str) -> int:
    if text and not _DIGITS.fullmatch(text):
        raise EvaluationError(f"Invalid character(s) found in {name} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        wrong = f"{name.title()} number must not contain leading zeroes {quoted(text)}"
        raise EvaluationError(wrong)
    return _unsigned(text)


def _unsigned(text: str) -> int:
    reason = "invalid syntax" if not text else "value out of range"
    if not text or len(text) > 20 or int(text) > MAX_UINT:
        raise EvaluationError(f"strconv.ParseUint: parsing {quoted(text)}: {reason}")
    return int(text)


def _prerelease(text: str) -> tuple[bool, int, str]:
    if not text:
        raise EvaluationError("Prerelease is empty")
    if _DIGITS.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise EvaluationError(
                f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}"
            )
        return False, _unsigned(text), ""
    if not _WORD.fullmatch(text):
        raise EvaluationError(f"Invalid character(s) found in prerelease {quoted(text)}")
    return True, 0, text


def normalize(text: str) -> str:
    """Complete a short version such as ``v1.02`` to ``1.2.0``."""
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            bare = part.lstrip("0")
            parts[index] = bare if bare[:1].isdigit() else f"0{bare}"
    if len(parts) < 3:
        if set(parts[-1]) & set("+-"):
            raise EvaluationError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def to_semver(text: str, normalizes: bool = False) -> Semver:
    return parse_semver(normalize(text) if normalizes else text)


def is_semver(text: str, normalizes: bool = False) -> bool:
    try:
        to_semver(text, normalizes)
    except EvaluationError:
        return False
    return True


_PAIR: Final = "kubernetes.Semver.(kubernetes.Semver)"
SEMVERS: Final[Library] = library(
    function(
        "semver",
        overload("string_to_semver", "(string) -> kubernetes.Semver", to_semver),
        overload("string_bool_to_semver", "(string, bool) -> kubernetes.Semver", to_semver),
    ),
    function(
        "isSemver",
        overload("is_semver_string", "(string) -> bool", is_semver),
        overload("is_semver_string_bool", "(string, bool) -> bool", is_semver),
    ),
    function(
        "isGreaterThan",
        overload(
            "semver_is_greater_than",
            f"{_PAIR} -> bool",
            lambda left, right: left.compare(right) > 0,
        ),
    ),
    function(
        "isLessThan",
        overload(
            "semver_is_less_than", f"{_PAIR} -> bool", lambda left, right: left.compare(right) < 0
        ),
    ),
    function("compareTo", overload("semver_compare_to", f"{_PAIR} -> int", Semver.compare)),
    *(
        function(
            name,
            overload(
                f"semver_{name}",
                "kubernetes.Semver.() -> int",
                lambda value, index=index: value.numbers[index],
            ),
        )
        for index, name in enumerate(("major", "minor", "patch"))
    ),
)
