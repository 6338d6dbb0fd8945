"""Figures of a cluster: how full it is, how fragmented, and how evenly zones are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from podium.api.nodes import ZONE
from podium.simulation.tables import Table, counts
from podium.state.cluster import ClusterState
from podium.state.rows import Rows

# Resources that every cluster has; others are listed as well if some node offers them.
FULLNESS_STEPS: Final = 10
_NATIVE: Final = ("cpu", "memory", "ephemeral-storage", "pods")


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """One resource in the cluster, or in a part of it; cpu is in millis, the rest in units.

    ``fragmented`` is the share of what is free that a pod like those of the cluster cannot use,
    because too little of something is left beside it. It is the mean over all pods.
    """

    resource: str
    allocatable: int
    requested: int
    fragmented: float = 0.0

    @property
    def share(self) -> float:
        """The requested share of what there is; 0 if there is none."""
        return self.requested / self.allocatable if self.allocatable else 0.0


@dataclass(frozen=True, slots=True)
class DomainUse:
    """One value of a topology label: its nodes, pods and resources."""

    domain: str
    nodes: int
    pods: int
    resources: tuple[ResourceUse, ...]

    def share_of(self, resource: str) -> float:
        """Return the requested share of a resource."""
        return next((each.share for each in self.resources if each.resource == resource), 0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Figures(Table):
    """How full a cluster is, as a whole and by the domains of ``topology``.

    Cordoned nodes are left out, with their pods: what they have is not there for new pods.
    """

    nodes: int
    cordoned: int
    pods: int
    pending: int
    resources: tuple[ResourceUse, ...]
    topology: str
    domains: tuple[DomainUse, ...]
    fullness: tuple[int, ...]  # how many nodes are up to 10 %, 20 % ... full, by cpu or memory

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each resource in the cluster, and in each domain."""
        rows = [use_row("", each) for each in self.resources]
        for domain in self.domains:
            rows += [use_row(domain.domain, each) for each in domain.resources]
        return rows

    def __repr__(self) -> str:
        named = (self.nodes, "nodes"), (self.pods, "pods"), (self.pending, "pending")
        shares = [f"{each.resource} {100 * each.share:.0f} %" for each in self.resources[:2]]
        return f"<Figures: {counts(*named)}; {', '.join(shares)}>"

    def use_of(self, resource: str) -> ResourceUse:
        found = (each for each in self.resources if each.resource == resource)
        return next(found, ResourceUse(resource, 0, 0))

    def imbalance(self, resource: str) -> float:
        """Return the difference between the fullest and the emptiest domain, as shares."""
        shares = [each.share_of(resource) for each in self.domains]
        return max(shares) - min(shares) if shares else 0.0


def use_row(domain: str, use: ResourceUse) -> dict[str, Any]:
    """Return how much of a resource is used, in the cluster or in one domain."""
    return {
        "domain": domain,
        "resource": use.resource,
        "allocatable": use.allocatable,
        "requested": use.requested,
        "share": use.share,
        "fragmented": use.fragmented,
    }


def measure(cluster: ClusterState, pending: int, topology: str = ZONE) -> Figures:
    """Work out the figures of the present state."""
    live = cluster.table.live_rows()
    rows = live[~Rows(cluster, live).unschedulable]
    names = list(_offered(cluster, rows))
    columns = cluster.table.resources
    index = [columns.index[name] for name in names]
    allocatable = columns.allocatable[index][:, rows]
    requested = columns.requested[index][:, rows]
    fragmented = _fragmentation(cluster, names, allocatable - requested)
    total = _uses(names, allocatable, requested, fragmented)
    domains = tuple(_domains(cluster, rows, topology, (names, allocatable, requested)))
    pods = sum(len(cluster.table.pods[row]) for row in rows.tolist())
    return Figures(
        nodes=len(rows),
        cordoned=len(live) - len(rows),
        pods=pods,
        pending=pending,
        resources=total,
        topology=topology,
        domains=domains,
        fullness=_fullness(names, allocatable, requested),
    )


Amounts = NDArray[np.int64]
Columns = tuple[list[str], Amounts, Amounts]


def _offered(cluster: ClusterState, rows: NDArray[np.intp]) -> Iterator[str]:
    """Yield the resources that some node has, the native ones first."""
    others = {
        name
        for row in rows.tolist()
        if (node := cluster.table.nodes[row]) is not None
        for name in node.status.allocatable
        if name not in _NATIVE and not name.startswith("hugepages-")
    }
    for name in (*_NATIVE, *sorted(others)):
        number = cluster.table.resource_index(name)
        if cluster.table.resources.allocatable[number, rows].any():
            yield name


def _fullness(names: list[str], allocatable: Amounts, requested: Amounts) -> tuple[int, ...]:
    """Count the nodes by the fuller one of cpu and memory."""
    index = [names.index(name) for name in ("cpu", "memory") if name in names]
    if not index:
        return (0,) * FULLNESS_STEPS
    shares = (requested[index] / np.maximum(allocatable[index], 1)).max(axis=0)
    steps = np.minimum((shares * FULLNESS_STEPS).astype(np.intp), FULLNESS_STEPS - 1)
    return tuple(np.bincount(steps, minlength=FULLNESS_STEPS).tolist())


def _uses(
    names: list[str], allocatable: Amounts, requested: Amounts, fragmented: dict[str, float]
) -> tuple[ResourceUse, ...]:
    offered, asked = allocatable.sum(axis=1).tolist(), requested.sum(axis=1).tolist()
    return tuple(
        ResourceUse(name, all_, used, fragmented.get(name, 0.0))
        for name, all_, used in zip(names, offered, asked, strict=True)
    )


def _domains(
    cluster: ClusterState, rows: NDArray[np.intp], topology: str, columns: Columns
) -> Iterator[DomainUse]:
    names, allocatable, requested = columns
    by_value: dict[str, list[int]] = {}
    for position, row in enumerate(rows.tolist()):
        node = cluster.table.nodes[row]
        value = node.labels.get(topology) if node is not None else None
        if value is not None:
            by_value.setdefault(value, []).append(position)
    for value, positions in sorted(by_value.items()):
        uses = _uses(names, allocatable[:, positions], requested[:, positions], {})
        pods = sum(len(cluster.table.pods[row]) for row in rows[positions].tolist())
        yield DomainUse(value, len(positions), pods, uses)


def _fragmentation(cluster: ClusterState, names: list[str], free: Amounts) -> dict[str, float]:
    """Return the share of each free resource that the pods of the cluster cannot use, on average.

    This is the measure of "Beware of Fragmentation" (Weng et al., 2023), for all resources.
    """
    shapes = Counter(tuple(sorted(info.requests.items())) for info in cluster.pods.values())
    left = np.maximum(free, 0)
    total = left.sum(axis=1)
    wasted = np.zeros(len(names))
    for shape, count in shapes.items():
        wasted += count * left[:, ~_fits(dict(shape), names, free)].sum(axis=1)
    pods = sum(shapes.values())
    return {
        name: float(wasted[number] / pods / total[number])
        for number, name in enumerate(names)
        if pods and total[number]
    }


def _fits(requests: dict[str, int], names: list[str], free: Amounts) -> NDArray[np.bool_]:
    fits = np.ones(free.shape[1], np.bool_)
    for name, amount in {"pods": 1, **requests}.items():
        if amount and name in names:
            fits &= free[names.index(name)] >= amount
        elif amount:
            fits[:] = False
    return fits
