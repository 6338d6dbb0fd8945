"""The Kubernetes releases that podium can behave as.

A release is chosen once, when a scheduler or an embedded cluster is built. docs/versions.md lists
what differs between them and where that is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, order=True, slots=True)
class Release:
    """A minor release of Kubernetes, such as 1.37."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def previous(self) -> Release:
        return Release(self.major, self.minor - 1)


V1_36: Final = Release(1, 36)
V1_37: Final = Release(1, 37)

RELEASES: Final = (V1_36, V1_37)
LATEST: Final = RELEASES[-1]


def release_named(name: object) -> Release:
    """Return the release with this name; raise ``ValueError`` if podium cannot behave as it."""
    for release in RELEASES:
        if str(name).removeprefix("v") == str(release):
            return release
    known = " and ".join(map(str, RELEASES))
    raise ValueError(f"podium behaves as Kubernetes {known}, not as {name!r}")
