"""What an operation makes of the nodes of a template: labels, amounts, and their CSI drivers."""

from __future__ import annotations

import msgspec

from podium.api.meta import ObjectMeta
from podium.api.objects import CSINode, Node
from podium.api.storage import CSINodeDriver, CSINodeSpec, VolumeNodeResources
from podium.bench.ops import CreateNodes

_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"


def prepared(node: Node, op: CreateNodes, place: int) -> Node:
    """The node with the labels and amounts that the operation's strategies give it."""
    replace = msgspec.structs.replace
    labels = {}
    if op.label_node_prepare_strategy is not None:
        values = op.label_node_prepare_strategy.values
        labels[op.label_node_prepare_strategy.label_key] = values[place % len(values)]
    if op.unique_node_label_strategy is not None:
        labels[op.unique_node_label_strategy.label_key] = f"value-{node.name}"
    if labels:
        metadata = replace(node.metadata, labels=node.labels | labels)
        node = replace(node, metadata=metadata)
    if op.node_allocatable_strategy is not None:
        amounts = op.node_allocatable_strategy.node_allocatable
        status = replace(node.status, allocatable=node.status.allocatable | amounts)
        node = replace(node, status=status)
    return node


def csi_node(node_name: str, op: CreateNodes) -> CSINode | None:
    """What the node's kubelet tells of its CSI drivers, if the operation gives it any."""
    strategy = op.node_allocatable_strategy
    if strategy is None or not (strategy.csi_node_allocatable or strategy.migrated_plugins):
        return None
    drivers = tuple(
        CSINodeDriver(name=driver, node_id=node_name, allocatable=VolumeNodeResources(limit.count))
        for driver, limit in strategy.csi_node_allocatable.items()
    )
    migrated = ",".join(strategy.migrated_plugins)
    annotations = {_MIGRATED_PLUGINS: migrated} if migrated else {}
    metadata = ObjectMeta(name=node_name, annotations=annotations)
    return CSINode(metadata=metadata, spec=CSINodeSpec(drivers))
