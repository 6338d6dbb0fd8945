import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.state.cluster import ClusterState, load
from podium.state.used_ports import UsedPorts
from podium.testing.builders import node, pod

WEB = ("0.0.0.0", "TCP", 80)
LOCAL = ("127.0.0.1", "TCP", 80)
DNS = ("0.0.0.0", "UDP", 53)


def holders(ports, protocol, number):
    found = ports.holders(protocol, number)
    return {address: sorted(rows.items()) for address, rows in found.items()}


def test_holders_are_found_by_port():
    ports = UsedPorts()
    ports.add((WEB, DNS), 3)
    ports.add((LOCAL,), 5)
    ports.add((WEB,), 4)

    assert holders(ports, "TCP", 80) == {"0.0.0.0": [3, 4], "127.0.0.1": [5]}
    assert holders(ports, "UDP", 53) == {"0.0.0.0": [3]}
    assert holders(ports, "UDP", 80) == {}
    assert set(ports.on(3)) == {WEB, DNS}
    assert not ports.on(7)


def test_the_first_of_two_holders_to_leave_frees_the_port():
    ports = UsedPorts()
    ports.add((WEB,), 3)
    ports.add((WEB, DNS), 3)

    ports.remove((WEB,), 3)

    assert set(ports.on(3)) == {DNS}
    assert holders(ports, "TCP", 80) == {}
    ports.remove((WEB, DNS), 3)
    assert not ports.by_row


ALL = (WEB, LOCAL, DNS)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(ALL), st.integers(0, 3))))
def test_both_ways_to_look_at_the_ports_agree(steps):
    ports = UsedPorts()
    expected = set()
    for comes, port, row in steps:
        (ports.add if comes else ports.remove)((port,), row)
        (expected.add if comes else expected.discard)((row, port))
        ports.check()
    assert {(row, port) for row, used in ports.by_row.items() for port in used} == expected


def small_cluster():
    cluster = ClusterState()
    nodes = [node(name) for name in "abc"]
    placed = [
        pod("low", node="a", priority=1, host_ports=(80,)),
        pod("high", node="a", priority=9, host_ports=(80, 443)),
        pod("b80", node="b", priority=1, host_ports=(80,)),
    ]
    load(cluster, [*nodes, *placed])
    return cluster


def world(cluster, change):
    """All rows as a dry run sees them, and the rows that use port 80."""
    overlay = cluster.overlay(cluster.table.live_rows())
    change(overlay)
    nodes = fwk.Rows(cluster, overlay.rows, overlay)
    return nodes, nodes.port_holders("TCP", 80).get("0.0.0.0", np.zeros(3, bool)).tolist()


def every_pod(table):
    return [info for pods in table.pods for info in pods.values()]


def on(*rows):
    return np.array(rows, np.intp)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda overlay: None, [True, True, False], id="nothing"),
        pytest.param(
            lambda overlay: overlay.add([fwk.PodInfo(pod("new", host_ports=(80,)))], on(2)),
            [True, True, True],
            id="a-pod-comes",
        ),
        pytest.param(
            lambda overlay: overlay.add([fwk.PodInfo(pod("new"))], on(2)),
            [True, True, False],
            id="a-pod-without-ports-comes",
        ),
        pytest.param(
            lambda overlay: overlay.remove_below(5, every_pod(overlay.table)),
            [False, False, False],
            id="all-of-lower-priority-leave",
        ),
    ],
)
def test_dry_run_changes_its_worlds_only(change, expected):
    cluster = small_cluster()

    nodes, users = world(cluster, change)

    assert users == expected
    assert [WEB in each.used_ports for each in nodes] == expected
    assert [WEB in each.used_ports for each in cluster.rows()] == [True, True, False]


def test_dry_run_follows_pods_that_come_and_go():
    cluster = small_cluster()
    overlay = cluster.overlay(cluster.table.live_rows())
    nodes = fwk.Rows(cluster, overlay.rows, overlay)
    leaving = cluster.pods["uid-b80"]

    overlay.remove([leaving], on(1))
    assert not nodes.at(1).used_ports
    overlay.add([leaving], on(1))
    assert set(nodes.at(1).used_ports) == {WEB}


def test_dry_run_on_a_dry_run_starts_with_its_changes():
    cluster = small_cluster()
    below = cluster.overlay(cluster.table.live_rows())
    below.remove_below(5, cluster.pods.values())

    overlay = fwk.Overlay.over(cluster.table, on(1, 2), below)
    overlay.add([fwk.PodInfo(pod("new", host_ports=(443,)))], on(2))

    nodes = fwk.Rows(cluster, overlay.rows, overlay)
    assert [sorted(number for _, _, number in each.used_ports) for each in nodes] == [[], [443]]


def test_ports_follow_placed_pods():
    cluster = small_cluster()
    moved = pod("b80", node="c", priority=1, host_ports=(8080,))

    cluster.update_pod(moved)

    assert [sorted(each.used_ports) for each in cluster.rows()] == [
        [WEB, ("0.0.0.0", "TCP", 443)],
        [],
        [("0.0.0.0", "TCP", 8080)],
    ]
    cluster.check_invariants()
    cluster.remove_pod(moved)
    assert not cluster.node("c").used_ports
    cluster.check_invariants()
