"""Filters that only compare resources: a dry run works them out for many nodes at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.framework.calls import FAULTS
from podium.framework.cycle_state import CycleState
from podium.framework.dependencies import as_dependencies
from podium.framework.nominator import Nominator
from podium.framework.plugin import FilterPlugin
from podium.framework.profile import Profile, refusals
from podium.state.aspects import Aspect
from podium.state.cluster import ClusterState
from podium.state.rows import Rows

# What may change on a node when a pod comes to it or leaves it.
_OF_PODS: Final = (
    Aspect.RESOURCES
    | Aspect.PODS
    | Aspect.AFFINITY
    | Aspect.PORTS
    | Aspect.VOLUMES
    | Aspect.POD_OBJECTS
)


class ResourceFilterPlugin(FilterPlugin):
    """A Filter that looks at nothing but what is free on a node.

    Preemption asks such a filter for the pod's needs, and compares them with thousands of nodes at
    once as victims come and go. A subclass that overrides ``filter`` or ``filter_all`` without
    ``needs`` is asked about each change instead, as any other filter.
    """

    @abstractmethod
    def needs(self, state: CycleState, pod: Pod) -> Iterable[tuple[str, int]] | None:
        """Return the resources and amounts that must be free on a node, such as ``("cpu", 500)``.

        Filter must reject exactly those nodes that have less of one of them. Return ``None`` if
        that is not so for this pod: then the filter is asked like any other one.
        """


class FilterRule:
    """The decision of a profile's filters about one pod, as other pods come to nodes and leave.

    ``needs`` must be free on a node in any case. ``others`` are the filters without needs. If
    ``decided_by_needs``, none of the others depends on pods: then the answers change only with
    what is free.
    """

    def __init__(self, profile: Profile, state: CycleState, pod: Pod) -> None:
        self.needs: list[tuple[str, int]] = []
        self.others: list[FilterPlugin] = []
        self.decided_by_needs = not profile.follows_pods(state)
        for plugin in profile.filters:
            if plugin.name not in state.skip_filter:
                self._take(plugin, state, pod)

    def _take(self, plugin: FilterPlugin, state: CycleState, pod: Pod) -> None:
        try:
            if isinstance(plugin, ResourceFilterPlugin) and _filters_by_needs(type(plugin)):
                needs = plugin.needs(state, pod)
                if needs is not None:
                    self.needs += needs
                    return
            self.others.append(plugin)
            read = as_dependencies(plugin.depends_on(pod))
            if not (read.node | read.cluster) & _OF_PODS:
                return
        except FAULTS:
            pass  # the plugin is asked as any other, and its fault is reported then
        self.decided_by_needs = False


@lru_cache(maxsize=64)
def _filters_by_needs(kind: type[ResourceFilterPlugin]) -> bool:
    """Return whether no subclass has changed the filter without changing the needs."""
    depth = {
        name: next(depth for depth, base in enumerate(kind.__mro__) if name in vars(base))
        for name in ("needs", "filter", "filter_all")
    }
    return depth["needs"] <= min(depth["filter"], depth["filter_all"])


class Room:
    """The room for a pod on each row, without the pods of lower priority.

    ``free`` has one line for each resource that the pod needs, and these lines again with the
    nominated pods on their nodes, if there are any. ``needed`` and ``resources`` have what the pod
    needs and the index of the resource, by line. ``decides`` tells whether a node on which enough
    is free can be refused only by filters that ``accepts`` asks.
    """

    def __init__(
        self,
        profile: Profile,
        cluster: ClusterState,
        state: CycleState,
        pod: Pod,
        nominator: Nominator,
    ) -> None:
        self._profile = profile
        self._cluster = cluster
        self._state = state
        self._pod = pod
        self._rule = FilterRule(profile, state, pod)
        self.decides = self._rule.decided_by_needs
        table, needs = cluster.table, self._rule.needs
        self.resources = [table.resource_index(name) for name, _ in needs]
        self.needed: NDArray[np.int64] = np.array([[amount] for _, amount in needs], np.int64)
        self.needed = self.needed.reshape(len(needs), 1)
        columns, rows = table.resources, slice(table.size)
        self.free: NDArray[np.int64] = columns.allocatable[self.resources, rows]
        self.free -= columns.requested[self.resources, rows]
        below = columns.requested_below(pod.priority)
        self.free += below[self.resources, rows]
        # Asked after the resources, of which this pod may be the first to request one.
        nominated = nominator.ahead_of(pod, table)
        if nominated is not None:
            crowded = self.free - nominated.requested_of(self.resources, table.size)
            self.free = np.vstack((self.free, crowded))
            self.needed = np.vstack((self.needed, self.needed))
            self.resources *= 2

    def is_enough(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the rows with enough free; filters refuse all others."""
        enough: NDArray[np.bool_] = np.all(self.free >= self.needed, axis=0)
        return enough.take(rows)

    def accepts(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the rows that pass the filters without needs; only if ``decides``."""
        passed = np.ones(len(rows), np.bool_)
        nodes = Rows(self._cluster, rows)
        for plugin in self._rule.others:
            refused = refusals(self._profile.filter_all(plugin, self._state, self._pod, nodes))
            passed &= ~refused
        return passed
