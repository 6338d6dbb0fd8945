"""Changes of a pod's own rules, and two kinds of them: tolerations and host ports.

For each node that only these rules keep the pod off, there is a least change that makes it fit
there. The candidates of a kind are these changes, the smallest first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final, TypeVar

import numpy as np
from msgspec.structs import replace

from podium.api.objects import (
    Container,
    Pod,
    Taint,
    Toleration,
)
from podium.api.resources import ANY_ADDRESS, HostPort, host_port, host_ports
from podium.explain.amounts import listed
from podium.explain.case import Case, Mask, Verdicts
from podium.explain.fixes.candidate import Candidate, Rewrite
from podium.explain.shortfalls.nodes import (
    port_holders,
    taint_text,
    untolerated,
)

T = TypeVar("T")

SPREAD: Final = "PodTopologySpread"
# The filters that may refuse a node because of the pods there.
RESOLVABLE: Final = frozenset(
    {
        SPREAD,
        "NodeResourcesFit",
        "NodePorts",
        "InterPodAffinity",
        "VolumeRestrictions",
        "NodeVolumeLimits",
    }
)


_MOST_SUBSETS: Final = 6  # with more items, not every subset is tried


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change of the pod after which it fits on one node, as far as this kind of rule goes."""

    size: tuple[int, ...]
    text: str
    rewrite: Rewrite
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of relaxation.

    ``relax`` returns those for a node: the last one makes it fit as far as this kind of rule goes,
    those before it are smaller and help if preemption does the rest. It returns the same for nodes
    with an equal ``key``.
    """

    name: str
    plugins: frozenset[str]
    key: Callable[[Case, int], Hashable]
    relax: Callable[[Case, int], Sequence[Relaxation]]

    def candidates(self, case: Case) -> Iterator[Candidate]:
        """Yield what may help, the smallest first."""
        for found in sorted(self._relaxations(case), key=lambda each: (each.size, each.text)):
            yield Candidate(self.name, found.text, found.rewrite, details=found.details)

    def on(self, case: Case, row: int) -> Candidate | None:
        """Return what makes one node fit, as far as this kind of rule goes."""
        found = self.relax(case, row)
        if not found:
            return None
        return Candidate(self.name, found[-1].text, found[-1].rewrite, details=found[-1].details)

    def _relaxations(self, case: Case) -> list[Relaxation]:
        verdicts = case.verdicts
        if verdicts is None:
            return []
        rows = verdicts.rows[may_fit_without(case, verdicts, self.plugins)]
        firsts = {self.key(case, row): row for row in reversed(rows.tolist())}
        found = [each for row in firsts.values() for each in self.relax(case, row)]
        return list({each.text: each for each in found}.values())


def may_fit_without(case: Case, verdicts: Verdicts, plugins: frozenset[str]) -> Mask:
    """Return a mask of the nodes that may fit once these filters do not refuse them.

    Which nodes count for spreading depends on the other rules, so its refusals may vanish. So may
    those that preemption resolves, if there are pods to preempt.
    """
    others = {SPREAD} if case.pod.spec.topology_spread_constraints else set()
    if case.may_preempt(case.pod):
        others |= RESOLVABLE
    mine = np.zeros(len(verdicts.rows), np.bool_)
    for plugin in plugins & verdicts.refused.keys():
        mine |= verdicts.refused[plugin]
    return mine & verdicts.refused_only_by(plugins | others)


def parts_of(case: Case, things: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield what may be enough of these, all of them last: preemption may do the rest."""
    if case.may_preempt(case.pod) and len(things) <= _MOST_SUBSETS:
        for size in range(1, len(things)):
            yield from combinations(things, size)
    if things:
        yield things


# --- tolerations ----------------------------------------------------------------------------------


def _taints_key(case: Case, row: int) -> Hashable:
    spec = case.node(row).node.spec
    return spec.taints, spec.unschedulable


def _tolerate(case: Case, row: int) -> list[Relaxation]:
    taints = untolerated(case, row)
    if not taints:
        return []
    names = [taint_text(taint) for taint in taints]
    text = f"tolerate the taint{'s' if len(taints) > 1 else ''} {listed(names, most=9)}"
    wanted = tuple(map(_toleration, taints))

    def rewrite(pod: Pod) -> Pod:
        return replace(pod, spec=replace(pod.spec, tolerations=pod.spec.tolerations + wanted))

    return [Relaxation((len(taints),), text, rewrite, {"taints": names})]


def _toleration(taint: Taint) -> Toleration:
    """Return the narrowest toleration of a taint."""
    if taint.value:
        return Toleration(taint.key, "Equal", taint.value, taint.effect)
    return Toleration(taint.key, "Exists", "", taint.effect)


# --- host ports -----------------------------------------------------------------------------------


def _ports_key(case: Case, row: int) -> Hashable:
    return tuple(_clashing(case, row))


def _clashing(case: Case, row: int) -> list[HostPort]:
    ports = dict.fromkeys(host_ports(case.pod))
    return [port for port in ports if any(True for _ in port_holders(case, port, row))]


def _free_ports(case: Case, row: int) -> list[Relaxation]:
    if case.pod.spec.host_network:
        return []  # on the host's network every port is a host port
    return [_without(ports) for ports in parts_of(case, _clashing(case, row))]


def _without(clashing: Sequence[HostPort]) -> Relaxation:
    names = list(map(_port_text, clashing))
    text = f"do without the host port{'s' if len(names) > 1 else ''} {listed(names, most=9)}"

    def rewrite(pod: Pod) -> Pod:
        spec = pod.spec
        return replace(
            pod,
            spec=replace(
                spec,
                containers=tuple(_without_ports(each, clashing) for each in spec.containers),
                init_containers=tuple(_without_ports(c, clashing) for c in spec.init_containers),
            ),
        )

    return Relaxation((len(names),), text, rewrite, {"ports": names})


def _port_text(port: HostPort) -> str:
    ip, protocol, number = port
    return f"{number}/{protocol}" if ip == ANY_ADDRESS else f"{ip}:{number}/{protocol}"


def _without_ports(container: Container, clashing: Sequence[HostPort]) -> Container:
    ports = tuple(
        replace(port, host_port=0, host_ip="") if host_port(port) in clashing else port
        for port in container.ports
    )
    return replace(container, ports=ports)


TOLERATION: Final = Kind(
    "toleration", frozenset({"TaintToleration", "NodeUnschedulable"}), _taints_key, _tolerate
)
HOST_PORT: Final = Kind("host-port", frozenset({"NodePorts"}), _ports_key, _free_ports)


def rows_by_nearness(case: Case) -> list[int]:
    """Return the rows of refused nodes, those with the fewest refusals first."""
    verdicts = case.verdicts
    if verdicts is None:
        return []
    counts = verdicts.counts
    order = np.argsort(counts, kind="stable")
    return [int(row) for row in verdicts.rows[order[counts[order] > 0]]]
