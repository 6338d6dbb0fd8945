"""The extension points that a profile configures, and which of them a plugin implements."""

from __future__ import annotations

from enum import Enum

from podium.framework.plugin import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    Plugin,
    PodGroupPostFilterPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)


class Point(Enum):
    """The extension points that a profile configures, valued with their keys in the file."""

    PRE_ENQUEUE = "preEnqueue"
    QUEUE_SORT = "queueSort"
    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    POD_GROUP_POST_FILTER = "podGroupPostFilter"
    PLACEMENT_GENERATE = "placementGenerate"
    PLACEMENT_SCORE = "placementScore"
    PRE_SCORE = "preScore"
    SCORE = "score"
    RESERVE = "reserve"
    PERMIT = "permit"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"

    @property
    def interface(self) -> type[Plugin]:
        return _INTERFACES[self]


_INTERFACES: dict[Point, type[Plugin]] = {
    Point.PRE_ENQUEUE: PreEnqueuePlugin,
    Point.QUEUE_SORT: QueueSortPlugin,
    Point.PRE_FILTER: PreFilterPlugin,
    Point.FILTER: FilterPlugin,
    Point.POST_FILTER: PostFilterPlugin,
    Point.POD_GROUP_POST_FILTER: PodGroupPostFilterPlugin,
    Point.PLACEMENT_GENERATE: PlacementGeneratePlugin,
    Point.PLACEMENT_SCORE: PlacementScorePlugin,
    Point.PRE_SCORE: PreScorePlugin,
    Point.SCORE: ScorePlugin,
    Point.RESERVE: ReservePlugin,
    Point.PERMIT: PermitPlugin,
    Point.PRE_BIND: PreBindPlugin,
    Point.BIND: BindPlugin,
    Point.POST_BIND: PostBindPlugin,
}


def points_of(plugin: type[Plugin]) -> frozenset[Point]:
    """Return the extension points that a plugin class implements."""
    return frozenset(point for point in Point if issubclass(plugin, point.interface))
