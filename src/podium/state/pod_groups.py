"""Pods counted by namespace and labels, so that a selector is tried on groups, not on pods.

Labels are projected on the keys that selectors use: labels that make every pod unique do not make
every pod a group. A query's counts per row are kept while it is used, up to a bound in bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from podium.api.selector_text import parse_selector
from podium.api.selectors import Selector
from podium.state.column import grown
from podium.state.domain_sums import DomainSums
from podium.state.label_columns import LabelColumn
from podium.state.pod_info import PodInfo
from podium.state.row_counts import RowCounts

VIEW_BYTES = 64 << 20
_FEW_KEYS = 16  # so many are kept without asking whether they are still in use


@dataclass(frozen=True, slots=True)
class Clause:
    """Pods in these namespaces (``None``: in all) whose labels the selector matches."""

    namespaces: frozenset[str] | None
    selector: Selector

    def matches(self, namespace: str, labels: dict[str, str]) -> bool:
        inside = self.namespaces is None or namespace in self.namespaces
        return inside and self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class PodQuery:
    """Pods that match every clause; terminating ones only where asked for."""

    clauses: tuple[Clause, ...]
    terminating: bool = True

    def matches(self, namespace: str, labels: dict[str, str], is_terminating: bool) -> bool:
        if is_terminating and not self.terminating:
            return False
        return all(clause.matches(namespace, labels) for clause in self.clauses)

    def matches_pod(self, info: PodInfo) -> bool:
        pod = info.pod
        return self.matches(pod.namespace, pod.labels, pod.is_terminating)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset().union(*(clause.selector.keys for clause in self.clauses))


@lru_cache(maxsize=1024)
def pods_matching(selector: str, namespace: str | None = None) -> PodQuery:
    """Return a query for pods by their labels, written as for ``kubectl get -l``.

    ``pods_matching("app=web,tier!=db")``, in all namespaces unless one is given.
    """
    namespaces = None if namespace is None else frozenset((namespace,))
    return PodQuery((Clause(namespaces, parse_selector(selector)),))


def as_query(pods: PodQuery | str, namespace: str | None) -> PodQuery:
    """Return the query itself, or the one that a selector's text stands for."""
    if isinstance(pods, str):
        return pods_matching(pods, namespace)
    if namespace is not None:
        raise TypeError("a query names its namespaces itself: leave out namespace")
    return pods


@dataclass(slots=True, eq=False)
class Group:
    """Pods that no selector in use can tell apart."""

    namespace: str
    labels: dict[str, str]
    is_terminating: bool
    rows: RowCounts = field(default_factory=RowCounts)
    views: list[View] = field(default_factory=list)

    @property
    def key(self) -> GroupKey:
        return self.namespace, tuple(self.labels.items()), self.is_terminating


@dataclass(slots=True, eq=False)
class View:
    """A query's count on each row, kept up to date."""

    query: PodQuery
    counts: NDArray[np.int64]
    domains: dict[str, DomainSums] = field(default_factory=dict)  # by label

    def wants(self, group: Group) -> bool:
        return self.query.matches(group.namespace, group.labels, group.is_terminating)


GroupKey = tuple[str, tuple[tuple[str, str], ...], bool]
"""Namespace, the labels that selectors use in order of their keys, whether terminating."""


class PodGroups:
    """The groups and the queries in use over them."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}  # the labels that selectors use, in order
        self._most_keys = _FEW_KEYS
        self._groups: dict[GroupKey, Group] = {}
        self._views: dict[PodQuery, View] = {}  # in order of use, oldest first
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for view in self._views.values():
            view.counts = grown(view.counts, capacity, 0)

    def add(self, info: PodInfo, row: int) -> None:
        group = info.group = self._group_of(info)
        self._count(group, row, 1)

    def remove(self, info: PodInfo, row: int) -> None:
        group = info.group
        if group is None:
            raise AssertionError(f"{info.key} has no group")
        self._count(group, row, -1)
        if not group.rows.total:
            del self._groups[self._key(info)]
        info.group = None

    def counts(self, query: PodQuery, pods: Iterable[PodInfo]) -> NDArray[np.int64]:
        """The query's count on each row; ``pods`` are all placed ones, read when keys are new."""
        return self._view(query, pods).counts

    def domain_counts(
        self, query: PodQuery, pods: Iterable[PodInfo], label: LabelColumn, size: int
    ) -> NDArray[np.int64]:
        """The query's count in each domain of a label, the last for the rows without it."""
        view = self._view(query, pods)
        kept = view.domains.get(label.key)
        if kept is None or not kept.stands_for(label, size):
            kept = view.domains[label.key] = DomainSums(label, view.counts[:size])
        return kept.sums

    def _view(self, query: PodQuery, pods: Iterable[PodInfo]) -> View:
        view = self._views.pop(query, None)
        if view is None:
            if not query.keys <= self._keys.keys():
                self._project_on(query.keys, pods)
            view = self._new_view(query)
        self._views[query] = view
        return view

    def check(self, pods: Iterable[PodInfo]) -> None:
        """Raise ``AssertionError`` when groups or kept counts do not sum to the pods."""
        placed = list(pods)
        members: dict[int, int] = {}
        for info in placed:
            assert info.group is self._groups.get(self._key(info)), f"{info.key} is in no group"
            members[id(info.group)] = members.get(id(info.group), 0) + 1
        for group in self._groups.values():
            assert members.get(id(group)) == group.rows.total, "a group does not sum to its pods"
        for query, view in self._views.items():
            expected = np.zeros_like(view.counts)
            for info in placed:
                expected[info.row] += query.matches_pod(info)
            assert np.array_equal(expected, view.counts), f"counts of {query} are off"
            for sums in view.domains.values():
                size = len(sums.places)
                held = np.bincount(sums.places, view.counts[:size], len(sums.sums))
                assert np.array_equal(held, sums.sums), f"sums of {query} are off"

    def _new_view(self, query: PodQuery) -> View:
        view = View(query, np.zeros(self._capacity, np.int64))
        for group in self._groups.values():
            if view.wants(group):
                group.views.append(view)
                group.rows.add_to(view.counts)
        most = max(1, VIEW_BYTES // max(1, view.counts.nbytes))
        while len(self._views) >= most:
            self._drop_view(next(iter(self._views)))
        return view

    def _drop_view(self, query: PodQuery) -> None:
        view = self._views.pop(query)
        for group in self._groups.values():
            if view in group.views:
                group.views.remove(view)

    def _count(self, group: Group, row: int, amount: int) -> None:
        group.rows.add(row, amount)
        for view in group.views:
            view.counts[row] += amount
            for sums in view.domains.values():
                sums.add(row, amount)

    def _key(self, info: PodInfo) -> GroupKey:
        pod = info.pod
        labels, keys = pod.labels, self._keys
        if len(labels) < len(keys):  # a pod has few labels; selectors may use a thousand
            named = tuple([(key, labels[key]) for key in sorted(labels) if key in keys])
        else:
            named = tuple([(key, labels[key]) for key in keys if key in labels])
        return (pod.namespace, named, pod.is_terminating)

    def _group_of(self, info: PodInfo) -> Group:
        key = self._key(info)
        group = self._groups.get(key)
        if group is None:
            namespace, named, is_terminating = key
            group = self._groups[key] = Group(namespace, dict(named), is_terminating)
            group.views = [view for view in self._views.values() if view.wants(group)]
        return group

    def _project_on(self, keys: frozenset[str], pods: Iterable[PodInfo]) -> None:
        """Tell pods apart by these keys too. Counts of the queries in use stay as they are.

        Only pods with such a label move: a thousand new keys that no pod has cost little.
        """
        new = keys - self._keys.keys()
        placed = list(pods)
        moving = [info for info in placed if not new.isdisjoint(info.pod.labels)]
        # To move a pod costs about four times as much as to place it anew.
        if len(self._keys) + len(new) > self._most_keys or 4 * len(moving) > len(placed):
            self._start_over(keys, placed)
            return
        self._keys = dict.fromkeys(sorted({*self._keys, *new}))
        for info in moving:
            self._move(info)

    def _start_over(self, keys: frozenset[str], pods: Iterable[PodInfo]) -> None:
        """Forget the keys that no query in use names any more."""
        in_use: frozenset[str] = frozenset().union(*(query.keys for query in self._views))
        self._keys = dict.fromkeys(sorted(keys | in_use))
        self._most_keys = max(_FEW_KEYS, 2 * len(self._keys))
        self._groups = {}
        for info in pods:
            group = info.group = self._group_of(info)
            group.rows.add(info.row, 1)

    def _move(self, info: PodInfo) -> None:
        old = info.group
        if old is None:
            raise AssertionError(f"{info.key} has no group")
        group = info.group = self._group_of(info)
        group.rows.add(info.row, 1)
        old.rows.add(info.row, -1)
        if not old.rows.total:
            del self._groups[old.key]
