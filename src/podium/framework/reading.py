"""What the plugins of a profile read for a kind of pod, each and together.

Most kinds of pods differ in other things: a profile makes one of these and hands it out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podium.framework.dependencies import Dependencies
from podium.framework.plugin import Plugin


class Reading:
    """Sums of ``Aspect`` bits, as ``Dependencies`` has; ``far_filters`` are indices of filters."""

    __slots__ = ("by_name", "far_filters", "filters", "pre_filters", "pre_scores")

    def __init__(
        self,
        by_name: Mapping[str, Dependencies],
        pre_filters: Iterable[Plugin],
        filters: Iterable[Plugin],
        pre_scores: Iterable[Plugin],
    ) -> None:
        self.by_name = by_name
        self.pre_filters = 0  # changes of these outdate the answer of some PreFilter
        for plugin in pre_filters:
            self.pre_filters |= by_name[plugin.name].cluster
        self.filters = 0  # and these all answers of some Filter
        self.far_filters: dict[int, Plugin] = {}
        for place, plugin in enumerate(filters):
            if by_name[plugin.name].cluster:
                self.filters |= by_name[plugin.name].cluster
                self.far_filters[place] = plugin
        self.pre_scores = 0
        for plugin in pre_scores:
            self.pre_scores |= by_name[plugin.name].for_scores
