"""What Filter must know: for each row, the pods in its domains that matter to the incoming pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.affinity_terms import Terms
from podium.api.objects import Pod
from podium.plugins.inter_pod_affinity.domains import (
    Counts,
    Places,
    Tally,
    in_domain,
    numbers,
    on_rows,
)
from podium.plugins.inter_pod_affinity.terms import Companions, Wanted
from podium.state.affinity_index import StandingTerm
from podium.state.cluster import ClusterState

Take = Callable[[Counts], Counts]

FITS, FAR, CROWDED, OPPOSED = range(4)
VERDICTS = [
    fwk.SUCCESS,
    fwk.Status.unresolvable("node(s) didn't match pod affinity rules"),
    fwk.Status.unschedulable("node(s) didn't match pod anti-affinity rules"),
    fwk.Status.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"),
]


@dataclass(frozen=True, slots=True)
class Near:
    """The pods that match all affinity terms: how many there are around each row.

    ``fewest`` are those in the row's domain that has the fewest; negative where a topology key is
    missing. ``anywhere`` are those in all domains of all keys.
    """

    wanted: Companions
    fewest: Counts
    anywhere: Counts

    @classmethod
    def around(cls, cluster: ClusterState, wanted: Companions) -> Near:
        size = cluster.table.size
        counts = cluster.counts(wanted.query)[:size]
        fewest: Counts | None = None
        total = 0
        for key in wanted.keys:
            domains = numbers(cluster.table, key)
            here = in_domain(domains, counts)
            placed = counts
            if domains.min(initial=0) < 0:
                here[domains < 0] = -1
                placed = counts[domains >= 0]
            fewest = here if fewest is None else np.minimum(fewest, here)
            total += int(placed.sum())
        if fewest is None:
            fewest = np.zeros(size, np.int64)
        return cls(wanted, fewest, np.full(size, total))

    def suffices(self, take: Take) -> NDArray[np.bool_]:
        """Where every domain has such a pod, or the incoming pod may be the first of all."""
        fewest = take(self.fewest)
        fits: NDArray[np.bool_] = fewest > 0
        if self.wanted.include_itself:
            anywhere = take(self.anywhere)
            if not anywhere.all():
                fits |= (fewest == 0) & (anywhere == 0)
        return fits

    def following(self, others: fwk.PodsOnRows, sign: int) -> Near:
        found = matches(others.cluster, self.wanted.query, others.infos)
        change = on_rows(len(self.fewest), others.rows, found) * sign
        fewest = np.where(self.fewest < 0, self.fewest, self.fewest + change)
        return Near(self.wanted, fewest, self.anywhere + change * len(self.wanted.keys))


@dataclass(frozen=True, slots=True)
class Apart:
    """The pods in each row's domains that the anti-affinity terms forbid."""

    unwanted: tuple[Wanted, ...]
    here: Counts

    @classmethod
    def around(cls, cluster: ClusterState, unwanted: tuple[Wanted, ...]) -> Apart:
        tally = Tally(cluster.table)
        for each in unwanted:
            tally.add(each.key, cluster.counts(each.query))
        return cls(unwanted, tally.total())

    def following(self, others: fwk.PodsOnRows, sign: int) -> Apart:
        here = self.here
        for each in self.unwanted:
            found = matches(others.cluster, each.query, others.infos)
            found[numbers(others.cluster.table, each.key)[others.rows] < 0] = 0
            here = here + on_rows(len(here), others.rows, found) * sign
        return Apart(self.unwanted, here)


@dataclass(slots=True)
class Surroundings:
    """One place per row of the table everywhere, true in the row's own world.

    ``opposed`` are the pods in a row's domains whose own anti-affinity forbids the incoming pod.
    Following a dry run replaces arrays and never writes into them, so that clones share them.
    """

    near: Near | None
    apart: Apart | None
    opposed: Counts

    def clone(self) -> Surroundings:
        return replace(self)

    def verdicts(self, take: Take) -> Places:
        """Places in VERDICTS, for the rows that ``take`` picks out of a column."""
        opposed = take(self.opposed)
        if opposed.any():
            places = np.where(opposed > 0, OPPOSED, FITS)
        else:
            places = np.zeros(len(opposed), np.intp)
        if self.apart is not None:
            places = np.where(take(self.apart.here) > 0, CROWDED, places)
        if self.near is not None:
            places = np.where(self.near.suffices(take), places, FAR)
        return places

    def follow(self, pod: Pod, others: fwk.PodsOnRows, sign: int) -> None:
        """Pods have come (1) or gone (-1), each in the world of its row."""
        if self.near is not None:
            self.near = self.near.following(others, sign)
        if self.apart is not None:
            self.apart = self.apart.following(others, sign)
        for key, rows in opposing_rows(pod, others).items():
            labelled = rows[numbers(others.cluster.table, key)[rows] >= 0]
            self.opposed = self.opposed + on_rows(len(self.opposed), labelled) * sign


def opposition(cluster: ClusterState, opposing: Iterable[StandingTerm]) -> Counts:
    """How often these terms of other pods stand in each row's domains."""
    tally = Tally(cluster.table)
    for standing in opposing:
        tally.add_standing(standing)
    return tally.total()


def matches(cluster: ClusterState, query: fwk.PodQuery, infos: Sequence[fwk.PodInfo]) -> Counts:
    """1 for each pod that matches, else 0; pods of a group are judged once."""
    cluster.counts(query)  # while a query is in use, groups tell apart the labels it asks for
    groups = {info.group for info in infos}
    judged = {g: query.matches(g.namespace, g.labels, g.is_terminating) for g in groups if g}
    return np.array(
        [judged[i.group] if i.group is not None else query.matches_pod(i) for i in infos], np.int64
    )


def opposing_rows(pod: Pod, others: fwk.PodsOnRows) -> dict[str, Places]:
    """By topology key, the row of each pod whose anti-affinity speaks of ``pod``, once per term."""
    space, labels = pod.namespace, pod.labels
    space_labels = others.cluster.namespace_labels(space)
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
