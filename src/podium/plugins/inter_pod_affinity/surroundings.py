"""What Filter must know: for each row, the pods in its domains that matter to the incoming pod."""

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
    Held,
    Places,
    Tally,
    has_label,
    in_domains,
    on_rows,
    standing_in_domains,
)
from podium.plugins.inter_pod_affinity.terms import Companions, Wanted

Pick = Callable[[Held], Counts]

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
    missing. ``anywhere`` are those in all domains of all keys, in each row's world if they differ.
    """

    wanted: Companions
    fewest: Held
    anywhere: int | Held

    @classmethod
    def around(cls, cluster: fwk.ClusterView, wanted: Companions) -> Near:
        each = [in_domains(cluster, wanted.query, key, missing=_KEYLESS) for key in wanted.keys]
        total = sum(_placed(cluster, wanted.query, key) for key in wanted.keys)
        fewest = each[0]
        for other in each[1:]:
            fewest = Held(np.minimum(fewest.by_row(), other.by_row()))
        return cls(wanted, fewest, total)

    def suffices(self, pick: Pick) -> NDArray[np.bool_]:
        """Where every domain has such a pod, or the incoming pod may be the first of all."""
        fewest = pick(self.fewest)
        fits: NDArray[np.bool_] = fewest > 0
        if not self.wanted.include_itself:
            return fits
        if isinstance(self.anywhere, Held):
            fits |= (fewest == 0) & (pick(self.anywhere) == 0)
        elif not self.anywhere:
            fits |= fewest == 0
        return fits

    def following(self, others: fwk.PodsOnRows, sign: int) -> Near:
        size = others.cluster.size
        found = matches(others.cluster, self.wanted.query, others.infos)
        change = on_rows(size, others.rows, found) * sign
        before = self.fewest.by_row()
        fewest = Held(np.where(before < 0, before, before + change))
        anywhere = self.anywhere
        if not isinstance(anywhere, Held):
            anywhere = Held(np.full(size, anywhere))
        return Near(self.wanted, fewest, anywhere.plus(Held(change * len(self.wanted.keys))))


_KEYLESS = -1


def _placed(cluster: fwk.ClusterView, query: fwk.PodQuery, key: str) -> int:
    """How many matching pods are in some domain of this key."""
    label = cluster.label_column(key)
    counts = cluster.pod_counts(query)
    if label.labelled == len(counts):
        return int(counts.sum())
    return int(counts.sum(where=label.numbers[: len(counts)] >= 0))


@dataclass(frozen=True, slots=True)
class Apart:
    """The pods in each row's domains that the anti-affinity terms forbid."""

    unwanted: tuple[Wanted, ...]
    here: Held

    @classmethod
    def around(cls, cluster: fwk.ClusterView, unwanted: tuple[Wanted, ...]) -> Apart:
        first, *more = [in_domains(cluster, each.query, each.key) for each in unwanted]
        for other in more:
            first = first.plus(other)
        return cls(unwanted, first)

    def following(self, others: fwk.PodsOnRows, sign: int) -> Apart:
        here = self.here.by_row()
        for each in self.unwanted:
            found = matches(others.cluster, each.query, others.infos)
            found[~has_label(others.cluster, each.key, others.rows)] = 0
            here = here + on_rows(len(here), others.rows, found) * sign
        return Apart(self.unwanted, Held(here))


@dataclass(slots=True)
class Surroundings:
    """What there is around each row, true in the row's own world.

    ``opposed`` are the pods in a row's domains whose own anti-affinity forbids the incoming pod.
    Following a dry run replaces arrays and never writes into them, so that clones share them.
    """

    near: Near | None
    apart: Apart | None
    opposed: Held | None

    def clone(self) -> Surroundings:
        return replace(self)

    def statuses(self, nodes: fwk.Rows) -> fwk.Statuses:
        shared = self._shared_places()
        if shared is None:
            return fwk.Column(VERDICTS, self.verdicts(lambda held: held.on(nodes)))
        by_domain = self.verdicts(lambda held: held.values)
        return fwk.Column([VERDICTS[place] for place in by_domain.tolist()], nodes.take(shared))

    def _shared_places(self) -> Places | None:
        """Where one label's few domains decide everything: the rows' places among them."""
        counted = [held for held in self._counted() if held is not None]
        places = counted[0].places
        if len(counted[0].values) > _FEW or any(held.places is not places for held in counted):
            return None
        return places

    def _counted(self) -> list[Held | None]:
        near, apart = self.near, self.apart
        anywhere = near.anywhere if near is not None else None
        return [
            near.fewest if near is not None else None,
            anywhere if isinstance(anywhere, Held) else None,
            apart.here if apart is not None else None,
            self.opposed,
        ]

    def verdicts(self, pick: Pick) -> Places:
        """Places in VERDICTS, for the rows or domains whose counts are picked."""
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
        """Pods have come (1) or gone (-1), each in the world of its row."""
        if self.near is not None:
            self.near = self.near.following(others, sign)
        if self.apart is not None:
            self.apart = self.apart.following(others, sign)
        size = others.cluster.size
        for key, rows in opposing_rows(pod, space_labels, others).items():
            labelled = rows[has_label(others.cluster, key, rows)]
            change = Held(on_rows(size, labelled) * sign)
            self.opposed = change if self.opposed is None else self.opposed.plus(change)


# By the bits of the objections: being far is told first, then the pod's own wish to be apart.
_VERDICT_OF = np.array([FITS, OPPOSED, CROWDED, CROWDED, FAR, FAR, FAR, FAR])

_FEW = 64  # up to this many domains are judged one by one


def opposition(cluster: fwk.ClusterView, opposing: Iterable[fwk.StandingTerm]) -> Held | None:
    """How often these terms of other pods stand in each row's domains."""
    tally = Tally()
    for standing in opposing:
        tally.add(standing_in_domains(cluster, standing))
    return tally.total


def matches(cluster: fwk.ClusterView, query: fwk.PodQuery, infos: Sequence[fwk.PodInfo]) -> Counts:
    """1 for each pod that matches, else 0; pods of a group are judged once."""
    cluster.pod_counts(query)  # while a query is in use, groups tell apart the labels it asks for
    groups = {info.group for info in infos}
    judged = {g: query.matches(g.namespace, g.labels, g.is_terminating) for g in groups if g}
    return np.array(
        [judged[i.group] if i.group is not None else query.matches_pod(i) for i in infos], np.int64
    )


def opposing_rows(
    pod: Pod, space_labels: Mapping[str, str], others: fwk.PodsOnRows
) -> dict[str, Places]:
    """By topology key, the row of each pod whose anti-affinity speaks of ``pod``, once per term."""
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
