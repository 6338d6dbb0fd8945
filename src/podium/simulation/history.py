"""The versions of a simulated cluster: a tree of changes, so that a fork copies nothing.

One core serves a simulation and all its forks. It stands at one version; going to another one
undoes the changes up to the common ancestor, and makes those on the way down. A version keeps its
ancestors in memory, so what follows a cluster for days begins a new tree now and then.
"""

from __future__ import annotations

from typing import NamedTuple

from podium.api.meta import ApiObject


class Change(NamedTuple):
    """One object before and after a change; ``None`` if there is none.

    ``turns`` are those of a placed pod, before and after.
    """

    kind: str
    key: str
    old: ApiObject | None
    new: ApiObject | None
    turns: tuple[int, int] = (0, 0)

    @property
    def undone(self) -> Change:
        before, after = self.turns
        return Change(self.kind, self.key, self.new, self.old, (after, before))


class Version:
    """A state of the cluster: that of its parent, and the changes since. It never changes."""

    __slots__ = ("changes", "depth", "parent", "root")

    def __init__(self, parent: Version | None = None, changes: tuple[Change, ...] = ()) -> None:
        self.parent = parent
        self.changes = changes
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.root: Version = self if parent is None else parent.root

    def then(self, changes: tuple[Change, ...]) -> Version:
        """Return the version after these changes: this one if there are none."""
        return Version(self, changes) if changes else self


def path(start: Version, end: Version) -> list[Change]:
    """Return the changes that lead from one version to another, which has the same root."""
    undo: list[Change] = []
    redo: list[Version] = []
    while start is not end:
        if start.depth >= end.depth:
            assert start.parent is not None, "versions of different clusters"
            undo += (change.undone for change in reversed(start.changes))
            start = start.parent
        else:
            assert end.parent is not None, "versions of different clusters"
            redo.append(end)
            end = end.parent
    return undo + [change for version in reversed(redo) for change in version.changes]
