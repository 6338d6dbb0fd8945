"""What became of the pods of a world when they were scheduled."""

from __future__ import annotations

from podium.api.objects import Pod
from podium.simulation.events import Eviction
from podium.simulation.replacing import is_replaced
from podium.simulation.results import Placement, Unplaced, Victim
from podium.simulation.world import World


def placed(world: World) -> tuple[Placement, ...]:
    """Return the pods that were bound, in order, and are still there."""
    return tuple(
        Placement(each.key, pod.node_name)
        for each in world.events.scheduled
        if (pod := world.pod(each.key)) is not None and pod.uid == each.uid
    )


def unplaced(world: World) -> tuple[Unplaced, ...]:
    """Return the pending pods, and what the scheduler last said about each of them."""
    return tuple(
        Unplaced(
            queued.key,
            world.events.failures.get(queued.uid) or _message(queued.pod),
            tuple(sorted(queued.rejectors)),
        )
        for queued in world.scheduling.queue.pods()
    )


def victims(world: World) -> tuple[Victim, ...]:
    """Return the pods that were preempted, in order."""
    return tuple(
        Victim(
            each.victim.key,
            each.victim.node_name,
            _preemptor(world, each),
            is_replaced(each.victim),
        )
        for each in world.events.evictions
    )


def _preemptor(world: World, eviction: Eviction) -> str:
    """Return the key of the pod that room was made for, or ``podgroup/`` and that of a group."""
    if eviction.preemptor is not None:
        return eviction.preemptor.key
    groups = world.groups()
    return next((each.entity_key for each in groups if each.uid in eviction.note), "")


def _message(pod: Pod) -> str:
    found = (each for each in pod.status.conditions if each.type == "PodScheduled")
    return next((each.message for each in found), "")
