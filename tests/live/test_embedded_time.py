"""The scheduler of a cluster whose time runs fast: it decides by that time, talks by real time."""

import asyncio
import logging

from podium import config
from podium.apiserver.api import Call
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.app.embedded import Schedule, embedded_scheduler
from podium.clock import FakeClock

HOUR = 3600
TURNS = 50  # of the event loop: what a timer ends has long ended then
POD = {
    "metadata": {"name": "web"},
    "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "app:1"}]},
}


def test_an_hour_of_the_cluster_breaks_no_watch(caplog):
    async def scenario():
        clock = FakeClock()
        async with (
            EmbeddedCluster(ClusterOptions(nodes=1)) as cluster,
            embedded_scheduler(Schedule(config.default), cluster.url, clock) as embedded,
        ):
            await embedded.scheduler.wait_synced()
            cluster.api.create(cluster.api.kind("pods"), "default", POD, Call())
            while not list(embedded.scheduler.watching.pods()):  # until its watch is under way
                await asyncio.sleep(0)
            clock.advance(HOUR)
            for _ in range(TURNS):
                await asyncio.sleep(0)
            assert embedded.scheduler.scheduler.services.clock is clock

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())

    assert "nothing heard" not in caplog.text
