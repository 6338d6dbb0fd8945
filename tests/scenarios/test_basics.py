"""Pods find nodes: told through the API alone."""

from podium.testing import node, pod
from tests.support.scenarios import reasons


def test_a_pod_waits_until_a_node_fits(cluster):
    cluster.create(node("small", cpu="1"), pod("web", cpu="2"))
    cluster.settle()
    assert cluster.node_of("web") is None
    assert "1 Insufficient cpu" in cluster.why_pending("web")

    cluster.create(node("big", cpu="4"))
    cluster.wait(2)
    assert cluster.node_of("web") == "big"
    assert cluster.why_pending("web") == ""
    assert [reason for reason, _ in reasons(cluster)] == ["FailedScheduling", "Scheduled"]
