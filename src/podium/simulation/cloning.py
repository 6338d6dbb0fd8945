"""Nodes like another one: with its CSI drivers and devices, and with pods of its DaemonSets."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from podium.api.nodes import HOSTNAME
from podium.api.objects import CSINode, Node, ResourceSlice
from podium.simulation.budgets import pods_on
from podium.simulation.kinds import CSI_NODE, NODE, RESOURCE_SLICE
from podium.simulation.replacing import stays_with_node
from podium.simulation.world import World


def clone(world: World, name: str, new: str) -> None:
    """Add a node like this one, with all that comes with it."""
    node = world.find(NODE, name)
    assert isinstance(node, Node)
    labels = {**node.labels, HOSTNAME: new} if HOSTNAME in node.labels else node.labels
    metadata = replace(node.metadata, name=new, uid=f"{node.uid}*{new}", labels=labels)
    spec = replace(node.spec, unschedulable=False, taints=_lasting(node))
    world.put(replace(node, metadata=metadata, spec=spec))
    _clone_drivers(world, name, new)
    for pod in list(pods_on(world, [name])):
        if stays_with_node(pod) and not pod.is_terminating:
            meta = replace(pod.metadata, name=f"{pod.name}-{new}", uid=f"{pod.uid}*{new}")
            world.put(replace(pod.bound_to(new), metadata=meta))


def _lasting(node: Node) -> tuple[Any, ...]:
    """Return the taints that say something about the kind of node, not about its condition."""
    return tuple(each for each in node.spec.taints if not each.key.startswith("node.kubernetes.io"))


def _clone_drivers(world: World, name: str, new: str) -> None:
    drivers = world.find(CSI_NODE, name)
    if isinstance(drivers, CSINode):
        metadata = replace(drivers.metadata, name=new, uid=f"{drivers.uid}*{new}")
        world.put(replace(drivers, metadata=metadata))
    for each in list(world.all(RESOURCE_SLICE).values()):
        if isinstance(each, ResourceSlice) and each.spec.node_name == name:
            pool = replace(each.spec.pool, name=f"{each.spec.pool.name}-{new}")
            metadata = replace(each.metadata, name=f"{each.name}-{new}", uid=f"{each.uid}*{new}")
            spec = replace(each.spec, node_name=new, pool=pool)
            world.put(replace(each, metadata=metadata, spec=spec))
