"""What the plugins with a signature read for one class of pods, each and together.

Most classes of pods read the same: a profile makes one of these and hands it out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podium.framework.dependencies import NOTHING, Dependencies
from podium.framework.plugin import Plugin, PreFilterPlugin


class Reading:
    """Sums of ``Aspect`` bits, as ``Dependencies`` has.

    ``far_filters`` are, by index, the filters whose answer about a row may change through another
    row: those with dependencies on the cluster. ``far_pre_filters`` are the PreFilters with such
    dependencies, in order; the answers of the others never change.
    """

    __slots__ = (
        "by_name",
        "far_filters",
        "far_pre_filters",
        "filters",
        "pre_filters",
        "pre_scores",
    )

    def __init__(
        self,
        by_name: Mapping[str, Dependencies],
        pre_filters: Iterable[PreFilterPlugin],
        filters: Iterable[Plugin],
        pre_scores: Iterable[Plugin],
    ) -> None:
        self.by_name = by_name
        self.pre_filters = 0  # changes of these outdate the answer of some PreFilter
        self.far_pre_filters: list[tuple[PreFilterPlugin, int]] = []
        for pre_filter in pre_filters:
            cluster = by_name.get(pre_filter.name, NOTHING).cluster
            if cluster:
                self.pre_filters |= cluster
                self.far_pre_filters.append((pre_filter, cluster))
        self.filters = 0  # and these all answers of some Filter
        self.far_filters: dict[int, Plugin] = {}
        for filter_index, plugin in enumerate(filters):
            cluster = by_name.get(plugin.name, NOTHING).cluster
            if cluster:
                self.filters |= cluster
                self.far_filters[filter_index] = plugin
        self.pre_scores = 0
        for plugin in pre_scores:
            self.pre_scores |= by_name.get(plugin.name, NOTHING).for_scores
