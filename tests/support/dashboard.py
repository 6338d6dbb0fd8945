"""A dashboard of a scheduler that runs on an embedded cluster in this process."""

import time
from contextlib import asynccontextmanager

import aiohttp

from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.app.embedded import Schedule, embedded_scheduler
from podium.clock import LoopClock
from podium.config import default
from podium.dashboard.links import link, new_key
from podium.dashboard.site import site
from tests.support import dumps

KEY = new_key()
PATIENCE_SECONDS = 60  # on a busy machine


class Shown:
    """The cluster, its scheduler and its dashboard, with a session that sends the key."""

    def __init__(self, cluster, embedded, session):
        self.cluster = cluster
        self.scheduler = embedded.scheduler
        self.address = embedded.address
        self.session = session

    @property
    def link(self):
        return link(self.address, KEY, time.time())

    async def get(self, path, **options):
        """Return the status and the JSON of a path below /dashboard/api."""
        async with self.session.get(f"{self.address}/dashboard/api/{path}", **options) as answer:
            return answer.status, await answer.json()

    async def post(self, path, body):
        url = f"{self.address}/dashboard/api/{path}"
        async with self.session.post(url, json=body) as answer:
            return answer.status, await answer.json()

    async def create(self, *pods):
        for each in pods:
            url = f"{self.cluster.url}/api/v1/namespaces/default/pods"
            async with self.session.post(url, json=each, headers={"Authorization": ""}) as answer:
                assert answer.status == 201, await answer.text()

    async def until(self, is_so):
        """Look at the overview until this holds for it; return it."""
        clock = LoopClock()
        end = clock.now() + PATIENCE_SECONDS
        while clock.now() < end:
            _, overview = await self.get("overview")
            if is_so(overview):
                return overview
        raise AssertionError(f"still {overview}")


@asynccontextmanager
async def dashboard(nodes=3, **options):
    """Run a cluster with this many nodes; ``options`` are those of ``ClusterOptions``."""
    schedule = Schedule(default, site=site(KEY))
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        EmbeddedCluster(ClusterOptions(nodes, **options)) as cluster,
        embedded_scheduler(schedule, cluster.url, cluster.clock) as embedded,
        aiohttp.ClientSession(headers=headers) as session,
    ):
        yield Shown(cluster, embedded, session)


def pending(name, cpu="100", **spec):
    """Return the manifest of a pod that fits nowhere."""
    return dumps.manifest(name, cpu, **spec)
