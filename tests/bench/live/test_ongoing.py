"""A steady state that is faster than the answers to its own requests."""

import asyncio
from itertools import count, islice

from podium.bench.live.manifests import Manifest
from podium.bench.live.ongoing import SteadyState
from podium.bench.ops import CreatePods
from podium.client.resources import PODS
from podium.clock import FakeClock, give_way

OP = CreatePods(opcode="createPods", count=2, steady_state=True, duration=1.0)


class Cluster:
    """Stands for a writer and a watch: a pod is bound before its creation is answered."""

    def __init__(self):
        self.bound = {}
        self.on_bound = None
        self.deleted = []
        self._pods = (Manifest(PODS, "shop", {"metadata": {"name": f"p{n}"}}) for n in count())

    def make(self, number):
        return list(islice(self._pods, number))

    async def make_next(self):
        (pod,) = self.make(1)
        return pod

    async def create(self, pods):
        for pod in pods:
            self.bound[pod.key] = 0.0
            self.on_bound(pod.key)
            await give_way()

    async def delete(self, resource, key):
        self.deleted.append(key)


def test_a_pod_that_is_bound_before_its_creation_is_answered_is_replaced():
    cluster, clock = Cluster(), FakeClock()

    async def run():
        steady = SteadyState(OP, cluster, cluster, clock, cluster.make_next)
        running = asyncio.ensure_future(steady.run(cluster.make(2), cluster.create))
        for _ in range(1_000):
            await give_way()
        assert len(cluster.deleted) > 10 * OP.count
        clock.advance(OP.duration)
        return await running

    keys = asyncio.run(run())
    assert set(cluster.deleted) <= set(keys)
    assert len(keys) <= len(cluster.deleted) + OP.count
