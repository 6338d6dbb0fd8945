"""Preemption beside what others do to its victims."""

import pytest

from podium.clock import give_way
from tests.support.scenarios import HIGH, node, play, pod

pytestmark = pytest.mark.slow

MOMENT = 12  # longer than any backoff, far from the five minutes after which all are tried


@pytest.mark.parametrize("turns", range(6))
def test_a_preemptor_is_tried_when_somebody_else_deletes_its_last_victim(turns):
    """The deletion may come while the other victims are still being evicted."""
    gone_at_once = {"terminationGracePeriodSeconds": 0}

    async def scene(cluster):
        await cluster.create(HIGH, node("n1", cpu="2"))
        await cluster.create(pod("v1", cpu="1", **gone_at_once), pod("v2", cpu="1", **gone_at_once))
        await cluster.wait(2)
        await cluster.create(pod("hi", cpu="2", priorityClassName="high"))
        for _ in range(turns):
            await give_way()
        if cluster.get("pods", "v2"):
            await cluster.delete("pods", "v2")
        await cluster.wait(MOMENT)
        assert cluster.node_of("hi") == "n1"

    play(scene)
