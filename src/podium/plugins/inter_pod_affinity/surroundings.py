"""Filter's rule: for each row, how many pods in its domains matter to the incoming pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.affinity_terms import Terms
from podium.api.objects import Pod
from podium.plugins.inter_pod_affinity.domains import (
    Counts,
    DomainCounts,
    Indexes,
    Tally,
    has_label,
    on_rows,
    pod_counts,
    term_counts,
)
from podium.plugins.inter_pod_affinity.terms import Companions, TermQuery

Pick = Callable[[DomainCounts], Counts]

# Verdicts are indexes into VERDICTS.
FITS, FAR, CROWDED, OPPOSED = range(4)
VERDICTS = [
    fwk.SUCCESS,
    fwk.Status.unresolvable("node(s) didn't match pod affinity rules"),
    fwk.Status.unschedulable("node(s) didn't match pod anti-affinity rules"),
    fwk.Status.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"),
]


@dataclass(frozen=True, slots=True)
class Near:
    """How many pods that match all affinity terms are in the domains of each row.

    ``fewest`` is the count in that domain of the row which has the fewest; negative where the row
    lacks a topology key. ``anywhere`` is the count over all domains of all keys: one number, or one
    per row once a dry run has changed it.
    """

    wanted: Companions
    fewest: DomainCounts
    anywhere: int | DomainCounts

    @classmethod
    def around(cls, cluster: fwk.ClusterView, wanted: Companions) -> Near:
        each = [pod_counts(cluster, wanted.query, key, missing=_NO_LABEL) for key in wanted.keys]
        total = sum(_pods_in_domains(cluster, wanted.query, key) for key in wanted.keys)
        fewest = each[0]
        for other in each[1:]:
            fewest = DomainCounts(np.minimum(fewest.by_row(), other.by_row()))
        return cls(wanted, fewest, total)

    def suffices(self, pick: Pick) -> NDArray[np.bool_]:
        """Return where every domain has such a pod, or the incoming pod may be the first one."""
        fewest = pick(self.fewest)
        fits: NDArray[np.bool_] = fewest > 0
        if not self.wanted.include_itself:
            return fits
        if isinstance(self.anywhere, DomainCounts):
            fits |= (fewest == 0) & (pick(self.anywhere) == 0)
        elif not self.anywhere:
            fits |= fewest == 0
        return fits

    def with_pods(self, others: fwk.PodsOnRows, sign: int) -> Near:
        size = others.cluster.size
        found = matches(others.cluster, self.wanted.query, others.infos)
        change = on_rows(size, others.rows, found) * sign
        before = self.fewest.by_row()
        fewest = DomainCounts(np.where(before < 0, before, before + change))
        anywhere = self.anywhere
        if not isinstance(anywhere, DomainCounts):
            anywhere = DomainCounts(np.full(size, anywhere))
        return Near(
            self.wanted, fewest, anywhere.plus(DomainCounts(change * len(self.wanted.keys)))
        )


_NO_LABEL = -1


def _pods_in_domains(cluster: fwk.ClusterView, query: fwk.PodQuery, key: str) -> int:
    """Return how many matching pods are on nodes with this label."""
    label = cluster.label_column(key)
    counts = cluster.pod_counts(query)
    if label.labelled == len(counts):
        return int(counts.sum())
    return int(counts.sum(where=label.numbers[: len(counts)] >= 0))


@dataclass(frozen=True, slots=True)
class Apart:
    """How many pods that the anti-affinity terms forbid are in the domains of each row."""

    unwanted: tuple[TermQuery, ...]
    here: DomainCounts

    @classmethod
    def around(cls, cluster: fwk.ClusterView, unwanted: tuple[TermQuery, ...]) -> Apart:
        first, *more = [pod_counts(cluster, each.query, each.key) for each in unwanted]
        for other in more:
            first = first.plus(other)
        return cls(unwanted, first)

    def with_pods(self, others: fwk.PodsOnRows, sign: int) -> Apart:
        here = self.here.by_row()
        for each in self.unwanted:
            found = matches(others.cluster, each.query, others.infos)
            found[~has_label(others.cluster, each.key, others.rows)] = 0
            here = here + on_rows(len(here), others.rows, found) * sign
        return Apart(self.unwanted, DomainCounts(here))


@dataclass(slots=True)
class Surroundings:
    """PreFilter's state: the counts for each row, with what a dry run changes on that row.

    ``opposed`` counts the terms in a row's domains with which placed pods forbid the incoming pod.
    A part is ``None`` if there is nothing to check. ``follow`` replaces arrays and never writes
    into them, so that clones can share them.
    """

    near: Near | None
    apart: Apart | None
    opposed: DomainCounts | None

    def clone(self) -> Surroundings:
        return replace(self)

    def statuses(self, nodes: fwk.Rows) -> fwk.Statuses:
        shared = self._shared_domain_ids()
        if shared is None:
            return fwk.Column(VERDICTS, self.verdicts(lambda held: held.on(nodes)))
        by_domain = self.verdicts(lambda held: held.values)
        return fwk.Column([VERDICTS[verdict] for verdict in by_domain.tolist()], nodes.take(shared))

    def _shared_domain_ids(self) -> Indexes | None:
        """Return each row's domain if all counts are by domain of the same label, else ``None``.

        Each domain is then judged once. With many domains that does not pay.
        """
        counted = [held for held in self._counted() if held is not None]
        domain_ids = counted[0].domain_ids
        if len(counted[0].values) > _MAX_SHARED_DOMAINS or any(
            held.domain_ids is not domain_ids for held in counted
        ):
            return None
        return domain_ids

    def _counted(self) -> list[DomainCounts | None]:
        near, apart = self.near, self.apart
        anywhere = near.anywhere if near is not None else None
        return [
            near.fewest if near is not None else None,
            anywhere if isinstance(anywhere, DomainCounts) else None,
            apart.here if apart is not None else None,
            self.opposed,
        ]

    def verdicts(self, pick: Pick) -> Indexes:
        """Return indexes into VERDICTS, for the rows or domains whose counts ``pick`` returns."""
        objections = [flags.view(np.int8) << bit for bit, flags in self._objections(pick)]
        return _VERDICT_OF.take(reduce(or_, objections))

    def _objections(self, pick: Pick) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        if self.opposed is not None:
            yield 0, pick(self.opposed) > 0
        if self.apart is not None:
            yield 1, pick(self.apart.here) > 0
        if self.near is not None:
            yield 2, ~self.near.suffices(pick)

    def follow(
        self, pod: Pod, space_labels: Mapping[str, str], others: fwk.PodsOnRows, sign: int
    ) -> None:
        """Add (1) or remove (-1) the pods of a dry run, each only for its own row."""
        if self.near is not None:
            self.near = self.near.with_pods(others, sign)
        if self.apart is not None:
            self.apart = self.apart.with_pods(others, sign)
        size = others.cluster.size
        for key, rows in opposing_rows(pod, space_labels, others).items():
            labelled = rows[has_label(others.cluster, key, rows)]
            change = DomainCounts(on_rows(size, labelled) * sign)
            self.opposed = change if self.opposed is None else self.opposed.plus(change)


# By the bits of the objections. FAR is reported first, then CROWDED, then OPPOSED.
_VERDICT_OF = np.array([FITS, OPPOSED, CROWDED, CROWDED, FAR, FAR, FAR, FAR])

_MAX_SHARED_DOMAINS = 64


def count_opposing_terms(
    cluster: fwk.ClusterView, opposing: Iterable[fwk.StandingTerm]
) -> DomainCounts | None:
    """Return how many of these terms of placed pods there are in each row's domains."""
    tally = Tally()
    for standing in opposing:
        tally.add(term_counts(cluster, standing))
    return tally.total


def matches(cluster: fwk.ClusterView, query: fwk.PodQuery, infos: Sequence[fwk.PodInfo]) -> Counts:
    """Return 1 for each pod that matches, else 0. Each group of pods is judged once."""
    cluster.pod_counts(query)  # makes the groups distinguish the labels of this query
    sets = [info.label_set for info in infos]
    distinct = [each for each in set(sets) if each is not None]
    groups = {each.group for each in distinct}
    judged = {g: query.matches(g.namespace, g.labels, g.is_terminating) for g in groups}
    of_set = {each: judged[each.group] for each in distinct}
    pairs = zip(sets, infos, strict=True)
    return np.array(
        [of_set[each] if each is not None else query.matches_pod(info) for each, info in pairs],
        np.int64,
    )


def opposing_rows(
    pod: Pod, space_labels: Mapping[str, str], others: fwk.PodsOnRows
) -> dict[str, Indexes]:
    """Return by topology key the rows of pods that forbid ``pod``, once for each term."""
    space, labels = pod.namespace, pod.labels
    opposing: dict[Terms, list[str]] = {}
    for terms in {info.terms for info in others.infos}:
        anti = terms.required_anti
        if keys := [t.topology_key for t in anti if t.matches(space, space_labels, labels)]:
            opposing[anti] = keys
    rows: dict[str, list[int]] = {}
    if opposing:
        for info, row in zip(others.infos, others.rows.tolist(), strict=True):
            for key in opposing.get(info.terms.required_anti, ()):
                rows.setdefault(key, []).append(row)
    return {key: np.array(found, np.intp) for key, found in rows.items()}
