"""What the plugins with a signature read for one class of pods, each and together.

Most classes of pods read the same: ``Readings`` makes a ``Reading`` once and hands it out again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from podium.api.objects import Pod
from podium.framework.calls import FAULTS, fault_of
from podium.framework.dependencies import EVERYTHING, NOTHING, Dependencies, as_dependencies
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


class Readings:
    """Asks the judging plugins of a profile what they read for a pod."""

    def __init__(
        self,
        judges: Sequence[Plugin],
        pre_filters: Sequence[PreFilterPlugin],
        filters: Sequence[Plugin],
        pre_scores: Sequence[Plugin],
    ) -> None:
        self._judges = {plugin.name: plugin for plugin in judges}
        self._pre_filters = pre_filters
        self._filters = filters
        self._pre_scores = pre_scores
        self._latest: Reading | None = None

    def of(self, pod: Pod, unsigned: frozenset[str] = frozenset()) -> Reading:
        """Return what the plugins read for this pod, without those that are ``unsigned``."""
        found = {
            name: _dependencies(plugin, pod)
            for name, plugin in self._judges.items()
            if name not in unsigned
        }
        return self._reading_of(found)

    def like(self, known: Reading, pod: Pod, differing: Collection[str]) -> Reading:
        """Return what the plugins read for a pod that is much like a known one.

        ``known`` is what they read for that one. ``differing`` are the plugins that can tell the
        two apart: only these are asked again.
        """
        by_name = known.by_name
        found = {name: _dependencies(self._judges[name], pod) for name in differing}
        if all(by_name[name] == dependencies for name, dependencies in found.items()):
            return known
        return self._reading_of({**by_name, **found})

    def _reading_of(self, by_name: dict[str, Dependencies]) -> Reading:
        if self._latest is None or by_name != self._latest.by_name:
            self._latest = Reading(by_name, self._pre_filters, self._filters, self._pre_scores)
        return self._latest


def _dependencies(plugin: Plugin, pod: Pod) -> Dependencies:
    """Return what of the cluster a plugin depends on: everything if it fails to tell."""
    try:
        return as_dependencies(plugin.depends_on(pod))
    except FAULTS as fault:
        fault_of(plugin, "DependsOn", pod, fault)
        return EVERYTHING
