"""An assumed pod is confirmed by the watch: as assumed, or otherwise."""

import pytest

from podium.state.cluster import ClusterState, load
from podium.state.pod_info import PodInfo
from podium.testing.builders import node, pod


def assumed(**spec):
    cluster = ClusterState()
    load(cluster, [node("a"), node("b")])
    info = PodInfo(pod("web", **spec))
    cluster.assume(info, cluster.table.live_row("a"))
    return cluster


def test_as_assumed_nothing_is_outdated():
    cluster = assumed(cpu="1", labels="app=web")
    mark = cluster.journal.end

    info = cluster.add_pod(pod("web", cpu="1", labels="app=web", node="a"))

    assert cluster.journal.since(mark) == []
    assert not cluster.is_assumed("uid-web")
    assert info.pod.node_name == "a"
    cluster.check_invariants()


@pytest.mark.parametrize(
    "bound",
    [
        pytest.param(pod("web", cpu="1", node="b"), id="on-another-node"),
        pytest.param(pod("web", cpu="2", node="a"), id="with-other-requests"),
        pytest.param(pod("web", cpu="1", node="a", labels="app=db"), id="with-other-labels"),
        pytest.param(pod("web", cpu="1", node="a", priority=3), id="with-another-priority"),
        pytest.param(
            pod("web", cpu="1", node="a", deletion_timestamp="2026-01-01T00:00:00Z"), id="ending"
        ),
        pytest.param(pod("web", cpu="1", node="a", host_ports=(80,)), id="with-host-ports"),
    ],
)
def test_anything_else_is_counted_anew(bound):
    cluster = assumed(cpu="1")
    mark = cluster.journal.end

    cluster.add_pod(bound)

    assert cluster.journal.since(mark)
    assert cluster.table.names[cluster.pods["uid-web"].row] == bound.node_name
    cluster.check_invariants()
