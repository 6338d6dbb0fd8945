"""The check that columns, groups, the affinity index and the ports agree with the pods."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from podium.api import resources
from podium.state.affinity_index import KINDS, AffinityIndex
from podium.state.node_order import zone_of
from podium.state.node_table import NodeTable
from podium.state.pod_groups import PodGroups
from podium.state.pod_info import PodInfo


def check_invariants(
    table: NodeTable, groups: PodGroups, affinity: AffinityIndex, pods: Mapping[str, PodInfo]
) -> None:
    """Raise ``AssertionError`` with the first disagreement."""
    _check_rows_of_pods(table, pods)
    _check_resources(table, pods)
    _check_nodes(table)
    groups.check(pods.values())
    _check_affinity(affinity, pods)
    _check_ports(table)
    users = {uid for uid, info in pods.items() if info.ports}
    assert table.port_users.keys() == users, "pods with host ports are not known"


def _check_rows_of_pods(table: NodeTable, pods: Mapping[str, PodInfo]) -> None:
    placed = {uid: row for row in range(table.size) for uid in table.pods[row]}
    for uid, info in pods.items():
        assert placed.pop(uid, None) == info.row, f"{info.key} is not on its row"
    assert not placed, f"pods on rows that are not in pods: {sorted(placed)}"
    for row in range(table.size):
        turns = [info.turn for info in table.pods[row].values()]
        assert turns == sorted(set(turns)), f"pods of row {row} are not in the order of their turns"


def _check_resources(table: NodeTable, pods: Mapping[str, PodInfo]) -> None:
    columns = table.resources
    columns.check_holders()
    columns.check_floats()
    requested = np.zeros_like(columns.requested)
    non_zero = np.zeros_like(columns.non_zero)
    for info in pods.values():
        for index, amount in columns.amounts(info):
            # A slice, as arrays wrap around silently where a single element warns.
            requested[index : index + 1, info.row] += amount
        non_zero[:, info.row] += info.non_zero
    assert np.array_equal(requested, columns.requested), "requested does not sum to the pods"
    assert np.array_equal(non_zero, columns.non_zero), "non-zero requests do not sum to the pods"
    columns.check_pods(pods.values())


def _check_nodes(table: NodeTable) -> None:
    assert sorted(table.rows_in_order().tolist()) == table.live_rows().tolist()
    for row in range(table.size):
        node = table.nodes[row]
        assert bool(table.live[row]) == (node is not None), f"row {row} is half alive"
        if node is None:
            assert not table.resources.allocatable[:, row].any(), f"row {row} offers something"
            continue
        assert table.row_of(node.name) == row, f"node {node.name} has lost its row"
        amounts = resources.allocatable(node)
        for name, index in table.resources.index.items():
            assert table.resources.allocatable[index, row] == amounts.get(name, 0), (name, row)
        assert table.taints.values[table.taints.numbers[row]] == node.spec.taints
        assert bool(table.unschedulable[row]) == node.spec.unschedulable, node.name
        declared = table.features.values[table.features.numbers[row]]
        assert declared == node.status.declared_features, (node.name, declared)
        assert table.zones.values[table.zones.numbers[row]] == zone_of(node)
    table.labels.check(table.nodes)
    table.annotations.check(table.nodes)
    table.images.check([() if node is None else node.status.images for node in table.nodes])


def _check_affinity(affinity: AffinityIndex, pods: Mapping[str, PodInfo]) -> None:
    fresh = AffinityIndex()
    for info in pods.values():
        if info.has_affinity:
            fresh.add(info, info.row)
    for kind in KINDS:
        for standing in affinity.standing(kind):
            standing.check()
        now = {standing.term: standing.rows.items() for standing in affinity.standing(kind)}
        then = {standing.term: standing.rows.items() for standing in fresh.standing(kind)}
        assert now == then, f"{kind} terms do not sum to the pods"


def _check_ports(table: NodeTable) -> None:
    table.ports.check()
    for row, ports in table.ports.by_row.items():
        held = {port for info in table.pods[row].values() for port in info.ports}
        assert ports <= held, f"row {row} uses ports that none of its pods holds"
