"""The plugins of one profile, by the extension point at which they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

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
from podium.framework.points import Point


class PluginsByPoint:
    """The plugins in order: by ``Point``, and for each point as what they implement there."""

    def __init__(self, plugins: Mapping[Point, Sequence[Plugin]]) -> None:
        self.plugins = {point: tuple(plugins.get(point, ())) for point in Point}
        self.pre_enqueues = cast("tuple[PreEnqueuePlugin, ...]", self.plugins[Point.PRE_ENQUEUE])
        self.pre_filters = cast("tuple[PreFilterPlugin, ...]", self.plugins[Point.PRE_FILTER])
        self.filters = cast("tuple[FilterPlugin, ...]", self.plugins[Point.FILTER])
        self.post_filters = cast("tuple[PostFilterPlugin, ...]", self.plugins[Point.POST_FILTER])
        self.pod_group_post_filters = cast(
            "tuple[PodGroupPostFilterPlugin, ...]", self.plugins[Point.POD_GROUP_POST_FILTER]
        )
        self.placement_generators = cast(
            "tuple[PlacementGeneratePlugin, ...]", self.plugins[Point.PLACEMENT_GENERATE]
        )
        self.placement_scores = cast(
            "tuple[PlacementScorePlugin, ...]", self.plugins[Point.PLACEMENT_SCORE]
        )
        self.pre_scores = cast("tuple[PreScorePlugin, ...]", self.plugins[Point.PRE_SCORE])
        self.scores = cast("tuple[ScorePlugin, ...]", self.plugins[Point.SCORE])
        self.reserves = cast("tuple[ReservePlugin, ...]", self.plugins[Point.RESERVE])
        self.permits = cast("tuple[PermitPlugin, ...]", self.plugins[Point.PERMIT])
        self.pre_binds = cast("tuple[PreBindPlugin, ...]", self.plugins[Point.PRE_BIND])
        self.binds = cast("tuple[BindPlugin, ...]", self.plugins[Point.BIND])
        self.post_binds = cast("tuple[PostBindPlugin, ...]", self.plugins[Point.POST_BIND])

    @property
    def queue_sort(self) -> QueueSortPlugin:
        return cast(QueueSortPlugin, self.plugins[Point.QUEUE_SORT][0])
