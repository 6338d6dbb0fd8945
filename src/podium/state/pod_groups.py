"""Groups of pods with equal namespace and labels, so that selectors are tried on groups, not pods.

Only label keys that selectors use count for the grouping, since labels that are unique to each pod
would make each pod a group. Pods with all labels in common are a label set: when a selector uses
new keys, label sets change groups, and no pod is looked at. Counts by row are kept per query, up to
a limit in bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.api.selector_text import parse_selector
from podium.api.selectors import Selector
from podium.state.column import grown
from podium.state.label_columns import DomainSums, LabelColumn
from podium.state.pod_info import PodInfo
from podium.state.row_counts import RowCounts

VIEW_BYTES = 64 << 20
_FEW_KEYS = 16  # up to this many keys are kept even when no query uses them any more


@dataclass(frozen=True, slots=True)
class Clause:
    """The pods in these namespaces (``None``: in all) whose labels match the selector."""

    namespaces: frozenset[str] | None
    selector: Selector

    def matches(self, namespace: str, labels: dict[str, str]) -> bool:
        inside = self.namespaces is None or namespace in self.namespaces
        return inside and self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class PodQuery:
    """The pods that match every clause. ``terminating=False`` leaves out terminating pods."""

    clauses: tuple[Clause, ...]
    terminating: bool = True

    def matches(self, namespace: str, labels: dict[str, str], is_terminating: bool) -> bool:
        if is_terminating and not self.terminating:
            return False
        for clause in self.clauses:  # noqa: SIM110  # tried with every group: a loop takes half
            if not clause.matches(namespace, labels):
                return False
        return True

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
    """Return ``pods`` if it is a query, else the query of the selector text."""
    if isinstance(pods, str):
        return pods_matching(pods, namespace)
    if namespace is not None:
        raise TypeError("a PodQuery has its own namespaces: leave out namespace")
    return pods


@dataclass(slots=True, eq=False)
class Group:
    """The pods that no selector in use distinguishes, counted by row.

    ``labels`` has only the keys that selectors use; ``views`` are the queries that match the group.
    """

    namespace: str
    labels: dict[str, str]
    is_terminating: bool
    rows: RowCounts = field(default_factory=RowCounts)
    views: list[View] = field(default_factory=list)

    @property
    def key(self) -> GroupKey:
        return self.namespace, tuple(self.labels.items()), self.is_terminating


@dataclass(slots=True, eq=False)
class LabelSet:
    """The pods that have everything in common that a query can ask for, counted by row."""

    key: tuple[str | bool, ...]
    namespace: str
    labels: dict[str, str]
    is_terminating: bool
    group: Group
    rows: RowCounts = field(default_factory=RowCounts)


@dataclass(slots=True, eq=False)
class View:
    """The number of pods that match a query on each row, kept up to date."""

    query: PodQuery
    counts: NDArray[np.int64]
    domains: dict[str, DomainSums] = field(default_factory=dict)  # by label key

    def matches(self, group: Group) -> bool:
        return self.query.matches(group.namespace, group.labels, group.is_terminating)


GroupKey = tuple[str, tuple[tuple[str, str], ...], bool]
"""Namespace, labels that selectors use (sorted by key), and whether the pods are terminating."""


class PodGroups:
    """All groups, and the views of the queries in use.

    Invariants:

    - ``_keys`` contains the keys of every query in ``_views``. ``info.label_set`` is the label set
      of a placed pod, and its group is the one under the group key of its labels.
    - ``rows`` of a label set and of a group count their pods by row; without pods it is removed.
    - ``group.views`` are exactly the views in ``_views`` whose query matches the group.
    - ``view.counts`` is the sum of ``rows`` over the groups that match, and each of
      ``view.domains`` is ``view.counts`` summed by domain (unless node labels have changed since).

    ``_count`` changes all counts together. When a query needs new keys, ``_project_on`` moves label
    sets to other groups; the views stay valid, as that moves no pod to another row.
    """

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}  # the label keys that selectors use, sorted
        self._max_keys = _FEW_KEYS
        self._label_sets: dict[tuple[str | bool, ...], LabelSet] = {}
        self._groups: dict[GroupKey, Group] = {}
        self._views: dict[PodQuery, View] = {}  # in order of use, oldest first
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for view in self._views.values():
            view.counts = grown(view.counts, capacity, 0)

    def add(self, info: PodInfo, row: int) -> None:
        label_set = info.label_set = self._label_set_of(info.pod)
        self._count(label_set, row, 1)

    def remove(self, info: PodInfo, row: int) -> None:
        label_set = info.label_set
        if label_set is None:
            raise AssertionError(f"{info.key} has no label set")
        self._count(label_set, row, -1)
        if not label_set.rows.total:
            del self._label_sets[label_set.key]
            self._remove_if_empty(label_set.group)
        info.label_set = None

    def counts(self, query: PodQuery) -> NDArray[np.int64]:
        """Return how many pods match on each row."""
        return self._view(query).counts

    def domain_counts(self, query: PodQuery, label: LabelColumn, size: int) -> NDArray[np.int64]:
        """Return how many pods match in each domain of a label; the last is for rows without it."""
        view = self._view(query)
        kept = view.domains.get(label.key)
        if kept is None or not kept.is_current(label, size):
            kept = view.domains[label.key] = DomainSums(label, view.counts[:size])
        return kept.sums

    def _view(self, query: PodQuery) -> View:
        view = self._views.pop(query, None)
        if view is None:
            if not query.keys <= self._keys.keys():
                self._project_on(query.keys)
            view = self._new_view(query)
        self._views[query] = view
        return view

    def check(self, pods: Iterable[PodInfo]) -> None:
        """Raise ``AssertionError`` when groups or views differ from the pods."""
        placed = list(pods)
        found: dict[int, Counter[int]] = defaultdict(Counter)
        for info in placed:
            label_set, pod = info.label_set, info.pod
            assert label_set is not None, f"{info.key} has no label set"
            assert label_set is self._label_sets.get(label_set.key), f"{info.key}: unknown set"
            assert _distinction(label_set) == _distinction(pod), f"{info.key}: wrong label set"
            assert info.group is self._groups.get(self._group_key(pod)), f"{info.key}: wrong group"
            found[id(label_set)][info.row] += 1
            found[id(label_set.group)][info.row] += 1
        counted: list[LabelSet | Group] = [*self._label_sets.values(), *self._groups.values()]
        for each in counted:
            assert found[id(each)] == each.rows.items(), "a group does not sum to its pods"
        for group in self._groups.values():
            matching = {id(view) for view in self._views.values() if view.matches(group)}
            assert {id(view) for view in group.views} == matching, "a group has other views"
        for query, view in self._views.items():
            expected = np.zeros_like(view.counts)
            for info in placed:
                expected[info.row] += query.matches_pod(info)
            assert np.array_equal(expected, view.counts), f"counts of {query} are wrong"
            for sums in view.domains.values():
                size = len(sums.domain_ids)
                held = np.bincount(sums.domain_ids, view.counts[:size], len(sums.sums))
                assert np.array_equal(held, sums.sums), f"sums of {query} are wrong"

    def _new_view(self, query: PodQuery) -> View:
        view = View(query, np.zeros(self._capacity, np.int64))
        for group in self._groups.values():
            if view.matches(group):
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

    def _count(self, label_set: LabelSet, row: int, amount: int) -> None:
        label_set.rows.add(row, amount)
        group = label_set.group
        group.rows.add(row, amount)
        for view in group.views:
            view.counts[row] += amount
            for sums in view.domains.values():
                sums.add(row, amount)

    def _label_set_of(self, pod: Pod) -> LabelSet:
        key = _label_set_key(pod)
        found = self._label_sets.get(key)
        if found is None:
            group = self._group_of(pod, None)
            found = LabelSet(key, pod.namespace, pod.labels, pod.is_terminating, group)
            self._label_sets[key] = found
        return found

    def _group_key(self, subject: Pod | LabelSet) -> GroupKey:
        labels, keys = subject.labels, self._keys
        if len(labels) < len(keys):  # a pod has few labels; selectors may use a thousand
            named = tuple([(key, labels[key]) for key in sorted(labels) if key in keys])
        else:
            named = tuple([(key, labels[key]) for key in keys if key in labels])
        return (subject.namespace, named, subject.is_terminating)

    def _group_of(self, subject: Pod | LabelSet, split: Group | None) -> Group:
        """Return its group; a new one that is split off another one has the same views."""
        key = self._group_key(subject)
        group = self._groups.get(key)
        if group is None:
            namespace, named, is_terminating = key
            group = self._groups[key] = Group(namespace, dict(named), is_terminating)
            if split is None:
                group.views = [view for view in self._views.values() if view.matches(group)]
            else:
                group.views = split.views.copy()
        return group

    def _project_on(self, keys: frozenset[str]) -> None:
        """Group pods by these keys too. The views in use stay valid.

        Only pods that have such a label change groups, so that keys that no pod has cost little.
        """
        new = keys - self._keys.keys()
        label_sets = self._label_sets.values()
        moving = [each for each in label_sets if not new.isdisjoint(each.labels)]
        # Moving a label set costs about four times as much as grouping it from scratch.
        if len(self._keys) + len(new) > self._max_keys or 4 * len(moving) > len(label_sets):
            self._regroup(keys)
            return
        self._keys = dict.fromkeys(sorted({*self._keys, *new}))
        for each in moving:
            self._move(each)

    def _regroup(self, keys: frozenset[str]) -> None:
        """Group all pods from scratch, without the keys that no query in use needs any more."""
        in_use: frozenset[str] = frozenset().union(*(query.keys for query in self._views))
        self._keys = dict.fromkeys(sorted(keys | in_use))
        self._max_keys = max(_FEW_KEYS, 2 * len(self._keys))
        self._groups = {}
        for each in self._label_sets.values():
            each.group = self._group_of(each, each.group)
            each.group.rows.add_all(each.rows, 1)

    def _move(self, label_set: LabelSet) -> None:
        old = label_set.group
        label_set.group = self._group_of(label_set, old)
        label_set.group.rows.add_all(label_set.rows, 1)
        old.rows.add_all(label_set.rows, -1)
        self._remove_if_empty(old)

    def _remove_if_empty(self, group: Group) -> None:
        if not group.rows.total:
            del self._groups[group.key]


def _distinction(subject: Pod | LabelSet) -> object:
    return subject.namespace, subject.labels, subject.is_terminating


def _label_set_key(pod: Pod) -> tuple[str | bool, ...]:
    """Return what distinguishes label sets, without the cost of pairs of keys and values."""
    meta = pod.metadata
    labels = meta.labels
    return (meta.namespace, bool(meta.deletion_timestamp), *labels, *labels.values())
