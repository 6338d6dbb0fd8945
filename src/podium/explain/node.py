"""Explains one node: what runs there, what is free, and which pending pods it would take."""

from __future__ import annotations

from collections.abc import Iterable

from podium.api import resources
from podium.api.objects import Node, Pod
from podium.cycle.offline import OfflineCore
from podium.errors import did_you_mean
from podium.explain.amounts import owner_of, plural, show
from podium.explain.case import Case
from podium.explain.shortfalls.nodes import taint_text
from podium.explain.values import NodeExplanation, PodOnNode, PodVerdict, Room, Shortfall
from podium.explain.verdict import node_verdict
from podium.state.rows import NodeInfo


def explain_node(core: OfflineCore, name: str, pending: Iterable[Pod] = ()) -> NodeExplanation:
    """Explain a node. ``pending`` are the pods to ask it about.

    Raises ``LookupError`` with a similar name if there is no such node.
    """
    row = core.cluster.table.live_row(name)
    if row is None:
        raise LookupError(f"no node {name}{did_you_mean(name, core.cluster.rows().names)}")
    asked = tuple(_asked(core, pod, name) for pod in pending)
    info = NodeInfo(core.cluster, row)
    node, room = info.node, _room(info)
    return NodeExplanation(
        node=name,
        sentence=_sentence(node, room, len(info.pods), asked),
        schedulable=not node.spec.unschedulable,
        taints=tuple(map(taint_text, node.spec.taints)),
        labels=dict(node.labels),
        room=room,
        pods=tuple(_pod(each.pod, each.requests) for each in info.pods),
        nominated=tuple(each.key for each in core.nominator.on(name)),
        pending=asked,
        notes=tuple(_notes(node)),
    )


def _asked(core: OfflineCore, pod: Pod, name: str) -> PodVerdict:
    case = Case(core, pod)
    verdict, settled = node_verdict(case, name, None), case.attempt.settled
    shortfalls: list[Shortfall] = [
        each.shortfall for each in verdict.verdicts if each.shortfall is not None
    ]
    if verdict.fits and settled.is_rejection:
        why = f"{settled.plugin} refuses {case.attempt.node} for it ({settled.message})"
        return PodVerdict(pod.key, False, f"{pod.key} would fit, but {why}")
    if verdict.fits:
        then = f", and then waits for {settled.plugin} (Permit)" if settled.is_wait else ""
        return PodVerdict(pod.key, True, f"{pod.key} would fit{then}")
    text = "; ".join(each.text for each in shortfalls) or verdict.text
    return PodVerdict(pod.key, False, f"{pod.key} does not fit: {text}", tuple(shortfalls))


def _room(info: NodeInfo) -> tuple[Room, ...]:
    offered = resources.allocatable(info.node)
    return tuple(
        Room(
            name,
            show(name, amount),
            show(name, info.requested(name)),
            show(name, info.free(name)),
            round(100 * info.requested(name) / amount, 1) if amount else 0.0,
        )
        for name, amount in offered.items()
    )


def _pod(pod: Pod, requests: dict[str, int]) -> PodOnNode:
    shown = {name: show(name, amount) for name, amount in requests.items()}
    return PodOnNode(pod.key, pod.priority, owner_of(pod), shown)


def _sentence(node: Node, room: tuple[Room, ...], pods: int, asked: tuple[PodVerdict, ...]) -> str:
    by_name = {each.resource: each for each in room}
    free = [f"{by_name[name].free} {name}" for name in ("cpu", "memory") if name in by_name]
    text = f"{node.name} runs {plural(pods, 'pod')} and has {' and '.join(free)} free"
    if node.spec.unschedulable:
        text += "; it is cordoned"
    if asked:
        fitting = sum(each.fits for each in asked)
        counted = f"{fitting} of {plural(len(asked), 'pending pod')}"
        several = f"; {counted} would fit, each on its own"  # they may not fit together
        text += several if fitting > 1 else f"; it would take {counted}"
    return f"{text}."


def _notes(node: Node) -> Iterable[str]:
    for condition in node.status.conditions:
        if condition.type == "Ready" and condition.status != "True":
            yield f"the node is not ready: {condition.message or condition.reason}"
        elif condition.type != "Ready" and condition.status == "True":
            yield f"{condition.type}: {condition.message or condition.reason}"
