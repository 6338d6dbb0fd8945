"""The scheduler still does its work with every feature off that can be."""

import asyncio

import pytest

from podium.config.feature_gates import parse
from podium.release import RELEASES
from podium.testing import SimulatedCluster
from tests.support.scenarios import HIGH, node, pod


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_without_any_beta_feature(release):
    class Plain(SimulatedCluster):
        gates = parse(["AllBeta=false"], release)

    async def run():
        async with Plain() as cluster:
            await cluster.create(HIGH, node("n1", cpu="1"), pod("low", cpu="1"))
            await cluster.wait(2)  # a failed attempt is not repeated before its backoff
            assert cluster.node_of("low") == "n1"
            await cluster.create(pod("web", cpu="1", priorityClassName="high"))
            await cluster.settle()
            assert cluster.get("pods", "web")["status"]["nominatedNodeName"] == "n1"
            await cluster.wait(40)
            assert cluster.node_of("web") == "n1"

    asyncio.run(run())
