"""NodeAffinityArgs: the node affinity that a profile adds to all its pods."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api import objects
from podium.api.selectors import node_selector, preferred_problems
from podium.framework.args import Args, Problem

NO_AFFINITY = objects.NodeAffinity()


class AffinityArgs(Args, frozen=True, rename="camel"):
    added_affinity: objects.NodeAffinity | None = None

    def validate(self) -> Iterator[Problem]:
        added = self.added_affinity or NO_AFFINITY
        if added.required is not None:
            for error in node_selector(added.required).errors:
                yield _problem(f"{_PATH.format('required')}.{error}")
        for error in preferred_problems(added.preferred):
            yield _problem(f"{_PATH.format('preferred')}{error}")


_PATH = "addedAffinity.{}DuringSchedulingIgnoredDuringExecution"


def _problem(error: str) -> Problem:
    path, _, message = error.partition(": ")
    return Problem(path, message)
