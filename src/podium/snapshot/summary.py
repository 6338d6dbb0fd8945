"""What is in a snapshot, in numbers: `podium snapshot show` prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from podium.api.codec import decode
from podium.api.objects import Node, Pod, validate
from podium.api.resources import RequestRule, allocatable, held_requests, request_rule
from podium.errors import InvalidQuantity
from podium.release import LATEST
from podium.snapshot.kinds import KINDS, SnapshotKind, kind_of
from podium.snapshot.model import Missing, Snapshot
from podium.snapshot.references import dangling_references

PODS: Final = "pods"  # a resource of nodes, too: how many pods they take


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a snapshot; resources are in the scheduler's units (milli cpu, bytes)."""

    source: str
    taken_at: str
    server_version: str
    resource_version: str
    is_anonymized: bool
    has_configuration: bool
    objects: Mapping[str, int]  # by kind
    nodes: Mapping[str, int]  # ready, not ready, without a Ready condition, unschedulable
    pods: Mapping[str, int]  # bound, pending, gated, terminating, ended
    allocatable: Mapping[str, int]
    requested: Mapping[str, int]
    missing: tuple[Missing, ...]
    dangling: tuple[str, ...]
    notes: tuple[str, ...]


def summarize(snapshot: Snapshot) -> Summary:
    """Count what is in a snapshot; raise ``InvalidObject`` if a node or pod cannot be read."""
    nodes = [decode(Node, raw) for raw in snapshot.of_kind("Node")]
    pods = [decode(Pod, raw) for raw in snapshot.of_kind("Pod")]
    counts = Counter[SnapshotKind | None]()
    for name, found in snapshot.objects.items():
        counts[kind_of(name)] += len(found)
    return Summary(
        snapshot.source,
        snapshot.taken_at,
        snapshot.server_version,
        snapshot.resource_version,
        snapshot.is_anonymized,
        snapshot.configuration is not None,
        {each.shown_name: counts[each] for each in KINDS if counts[each]},
        Counter(state for node in nodes for state in _states(node)),
        Counter(map(_phase, pods)),
        _total(map(_allocatable, nodes)),
        _requested(snapshot, nodes, pods),
        snapshot.missing,
        tuple(dangling_references(snapshot)),
        snapshot.notes,
    )


def _states(node: Node) -> Iterable[str]:
    ready = [each.status for each in node.status.conditions if each.type == "Ready"]
    if not ready:
        yield "without a Ready condition"
    else:
        yield "ready" if ready == ["True"] else "not ready"
    if node.spec.unschedulable:
        yield "unschedulable"


def _phase(pod: Pod) -> str:
    if pod.has_ended:
        return "ended"
    if pod.is_terminating:
        return "terminating"
    if pod.spec.node_name:
        return "bound"
    return "gated" if pod.spec.scheduling_gates else "pending"


def _requested(snapshot: Snapshot, nodes: Iterable[Node], pods: Iterable[Pod]) -> dict[str, int]:
    rule = request_rule(snapshot.release or LATEST)
    names = {node.name for node in nodes}
    placed = [pod for pod in pods if pod.spec.node_name in names and not pod.has_ended]
    return {PODS: len(placed), **_total(_held(pod, rule) for pod in placed)}


def _held(pod: Pod, rule: RequestRule) -> Mapping[str, int]:
    try:
        return held_requests(pod, rule)[0]
    except InvalidQuantity:
        validate(pod)  # its error names the field
        raise


def _allocatable(node: Node) -> Mapping[str, int]:
    try:
        return allocatable(node)
    except InvalidQuantity:
        validate(node)  # its error names the field
        raise


def _total(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in amounts:
        total.update(each)
    return dict(total)
