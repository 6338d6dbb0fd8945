"""What plugins that are not built yet may have decided in a recording.

An absent plugin is taken to look at every pod and node of its points: what is left out never
depends on how a comparison ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from podium.api.objects import Pod
from podium.conformance.core import Core, profile_config
from podium.framework.plugin import Point


class Absence:
    """The plugins that a pod's profile should have and podium does not."""

    def __init__(self, core: Core, pod: Pod) -> None:
        wanted = profile_config(core, pod)
        self._absent = wanted.absent
        self._order = wanted.order_with_absent

    def __contains__(self, plugin: str) -> bool:
        return plugin in self._absent

    def __iter__(self) -> Iterator[str]:
        return iter(self._absent)

    def at(self, point: Point) -> frozenset[str]:
        return frozenset(name for name, points in self._absent.items() if point in points)

    def runs_before(self, point: Point, first: str, second: str) -> bool:
        order = self._order[point]
        return order.index(first) < order.index(second)
