"""Preemption against a faulty API: nobody is held back for ever, and nobody dies for nothing."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from podium import app
from podium.api.objects import Pod
from podium.clock import FakeClock, sleep
from podium.config import default
from podium.cycle.outcome import Placed
from podium.framework.preemption import Candidate
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Nominate
from podium.plugins.preemption.eviction import UNSEEN_SECONDS, Evictions
from podium.state.pod_info import PodInfo
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.faulty_api import FaultyApi, FaultyClient, Time, replaced
from tests.support.search import examples

CONFIGURATION = default(app.in_tree())
PREEMPTOR = pod("high", priority=10)


@examples(150)
@given(seed=st.integers(0, 2**32), victims=st.integers(1, 5))
def test_one_preemption(seed, victims):
    """It ends; a victim is told if it was evicted; what failed makes the pod try again."""
    pods = [pod(f"v{number}", node="a") for number in range(victims)]
    handle = FakeHandle(node("a"), *pods)
    time = Time(handle.clock)
    api = FaultyApi(seed, handle.clock)
    api.cluster = handle.state
    api.create(*pods)
    client = handle.client = FaultyClient(api)
    evictions = Evictions(handle)

    async def carry_out():
        handle.spawn = time.spawn
        infos = tuple(handle.state.pods[victim.uid] for victim in pods)
        evictions.start(PREEMPTOR, Candidate("a", infos, 0))
        assert evictions.holds(PREEMPTOR.uid)
        while time.tasks:
            is_held = evictions.holds(PREEMPTOR.uid)
            assert (PREEMPTOR.uid in evictions.held()) == is_held
            await time.step()
            if not is_held and time.tasks:
                assert not evictions.holds(PREEMPTOR.uid)  # once let go, it is not held again
        deleted = len(client.deleted)
        for _ in range(10):
            await time.step()
        assert len(client.deleted) == deleted  # nothing goes on when it is over

    asyncio.run(carry_out())
    handle.clock.advance(UNSEEN_SECONDS)
    assert not evictions.holds(PREEMPTOR.uid)
    told = Counter(key for key, _, _ in handle.events.recorded)
    assert all(count == 1 for count in told.values())
    assert set(told) <= {f"default/{uid.removeprefix('uid-')}" for uid in client.deleted}
    if any(api.find(Pod, victim.key) for victim in pods):
        assert handle.activated == [PREEMPTOR]


class Day:
    """Full nodes, and important pods that are tried until they run."""

    def __init__(self, seed, nodes):
        self.clock = FakeClock()
        self.time = Time(self.clock)
        self.api = FaultyApi(seed, self.clock)
        self.random = self.api.random
        self.client = FaultyClient(self.api)
        self.core = app.build(
            CONFIGURATION, clock=self.clock, client=self.client, spawn=self.time.spawn
        )
        self.profile = self.core.profiles["default-scheduler"]
        self.cluster = self.api.cluster = self.core.cluster
        self.low = []
        for number in range(nodes):
            self.cluster.set_node(node(f"n{number}", cpu="2"))
            for place in range(2):
                self._fill(pod(f"low-{number}-{place}", node=f"n{number}", cpu="1"))
        self.running = set()

    def _fill(self, low):
        self.low.append(low)
        self.api.create(low)
        self.cluster.add_pod(low)

    async def live(self, high, attempts):
        for _ in range(attempts):
            while not self.profile.run_pre_enqueue(high).ok:
                await sleep(self.clock, 1)
            outcome = self.core.cycle(QueuedPod.of(high)).run()
            if isinstance(outcome, Placed):
                name = outcome.node_name
                self.cluster.add_pod(replaced(high, "spec.node_name", name))
                self.running.add(high.uid)
                return
            if outcome.nominate is not None:
                high = replaced(high, "status.nominated_node_name", outcome.nominate.node)
                self.core.nominator.add(PodInfo(high), Nominate(outcome.nominate.node))
            await sleep(self.clock, self.random.uniform(0.5, 10))

    async def run(self, pods, attempts):
        for high in pods:
            self.time.spawn(high.name, self.live(high, attempts))
        await self.time.run_out()


@examples(80)
@given(seed=st.integers(0, 2**32), pods=st.integers(1, 3))
def test_a_day_of_preemptions(seed, pods):
    asking = [pod(f"high-{number}", cpu="2", priority=10) for number in range(pods)]

    async def live():
        day = Day(seed, nodes=3)
        await day.run(asking, attempts=4)
        day.api.calm()
        for low in day.low:
            if low.uid in day.cluster.pods and day.api.find(Pod, low.key) is None:
                day.cluster.remove_pod(low)  # the watch lists pods anew as well
        await day.run([high for high in asking if high.uid not in day.running], attempts=6)
        return day

    day = asyncio.run(live())
    day.clock.advance(UNSEEN_SECONDS)
    assert all(day.profile.run_pre_enqueue(high).ok for high in asking)
    assert set(day.client.deleted) <= {low.uid for low in day.low}
    assert max(Counter(day.client.deleted).values(), default=1) == 1
    assert day.running == {high.uid for high in asking}
    day.cluster.check_invariants()
