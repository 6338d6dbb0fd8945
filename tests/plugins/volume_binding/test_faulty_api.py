"""VolumeBinding against a faulty API: nothing leaks, and no claim is bound twice.

Whole scheduling cycles and bindings of several pods at a time, with a volume controller and a
provisioner that are late and change their minds, and bindings that are called off half-way.
"""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import app
from podium.api.objects import PersistentVolume, PersistentVolumeClaim
from podium.clock import FakeClock, sleep
from podium.config import from_value
from podium.cycle.outcome import Placed
from podium.framework.binding import run_pre_bind, run_pre_flight, run_unreserve
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import SUCCESS, Status
from podium.testing.builders import node, pod
from tests.support.faulty_api import FaultyApi, FaultyClient, Time, replaced
from tests.support.search import examples
from tests.support.storage import BOUND, HOST, SELECTED, claim, storage_class, uses, volume

CSI = "csi.example.com"
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 15}}]}],
}
CONFIGURATION = from_value(CONFIG, app.in_tree())


class Controller:
    """Binds claims to the volumes that are reserved for them, and makes volumes; one day at a time.

    While the API is faulty it is slow, gives up, or takes a reservation back.
    """

    def __init__(self, api):
        self.api = api
        self._made = 0
        self._work()

    def _work(self):
        self.api.clock.call_later(self.api.random.uniform(0.5, 4), self._work)
        for taken in self.api.all(PersistentVolume):
            if taken.spec.claim_ref is not None and taken.spec.claim_ref.uid:
                self._finish(taken)
        for wanted in self.api.all(PersistentVolumeClaim):
            if SELECTED in wanted.annotations and not wanted.spec.volume_name:
                self._provision(wanted)

    def _mood(self, *moods):
        return self.api.random.choice(moods) if self.api.is_faulty else moods[0]

    def _finish(self, taken):
        ref = taken.spec.claim_ref
        wanted = self.api.find(PersistentVolumeClaim, f"{ref.namespace}/{ref.name}")
        is_ours = wanted is not None and wanted.uid == ref.uid
        if not is_ours or wanted.spec.volume_name not in ("", taken.name):
            self.api.change(taken, spec__claim_ref=None, status__phase="Available")
        elif not wanted.spec.volume_name:
            match self._mood("bind", "wait", "take back"):
                case "bind":
                    self._bind(wanted, taken)
                case "take back":
                    self.api.change(taken, spec__claim_ref=None)

    def _bind(self, wanted, taken):
        self.api.change(taken, status__phase="Bound")
        annotations = {**wanted.annotations, BOUND: "yes"}
        self.api.change(wanted, spec__volume_name=taken.name, metadata__annotations=annotations)

    def _provision(self, wanted):
        match self._mood("make", "wait", "give up"):
            case "make":
                self._made += 1
                made = volume(
                    f"made-{self._made}", storage_class="csi", claim=wanted, phase="Bound"
                )
                self.api.stored[PersistentVolume, made.key] = made
                self._bind(wanted, self.api.change(made))
            case "give up":
                rest = {key: v for key, v in wanted.annotations.items() if key != SELECTED}
                self.api.change(wanted, metadata__annotations=rest)


class Day:
    """A scheduler's day: pods that are tried until they run, or until somebody gives up on them."""

    def __init__(self, seed, objects):
        self.clock = FakeClock()
        self.time = Time(self.clock)
        self.api = FaultyApi(seed, self.clock)
        self.random = self.api.random
        client = FaultyClient(self.api)
        self.core = app.build(CONFIGURATION, clock=self.clock, client=client, spawn=self.time.spawn)
        self.cluster = self.api.cluster = self.core.cluster
        for name in "abc":
            self.cluster.set_node(node(name, labels={HOST: name}))
        self.api.create(*objects)
        Controller(self.api)
        self.running = set()

    def spend(self, pods, attempts):
        for each in pods:
            self.time.spawn(each.name, self._live(each, attempts))

    async def _live(self, each, attempts):
        for _ in range(attempts):
            outcome = self.core.cycle(QueuedPod.of(each)).run()
            if isinstance(outcome, Placed) and await self._bind(each, outcome):
                self.running.add(each.uid)
                return
            await sleep(self.clock, self.random.uniform(0.5, 10))

    async def _bind(self, each, placed):
        status = await self._pre_bind(placed.target)
        if status.ok and each.uid in self.cluster.pods:
            self.cluster.add_pod(replaced(each, "spec.node_name", placed.node_name))
            return True
        for left in run_unreserve(placed.target):
            await left
        self.cluster.forget(each.uid)
        return False

    async def _pre_bind(self, target):
        status, parallel = run_pre_flight(target)
        if not status.ok:
            return SUCCESS if status.is_skip else status
        work = asyncio.ensure_future(run_pre_bind(target, parallel))
        if self.api.is_faulty and self.random.random() < 0.3:
            self.clock.call_later(self.random.uniform(0, 8), work.cancel)
        if self.api.is_faulty and self.random.random() < 0.1:
            self.clock.call_later(self.random.uniform(0, 8), lambda: self._forget(target.pod))
        try:
            return await work
        except asyncio.CancelledError:
            return Status.error("called off")

    def _forget(self, each):
        """The pod was deleted while its volumes were being bound."""
        if self.cluster.is_assumed(each.uid):
            self.cluster.remove_pod(each)

    def leaks(self):
        return [
            obj.key
            for kind in (PersistentVolume, PersistentVolumeClaim)
            for obj in self.cluster.assumed(kind)
        ]


def world(pods, spare):
    """Two claims for every third pod; volumes for all of them, some only on a node."""
    asking, objects = [], [storage_class(), storage_class("csi", provisioner=CSI)]
    for number in range(pods):
        names = [f"old-{number}", f"new-{number}"][: 1 + (number % 3 == 0)]
        asking.append(pod(f"web-{number}", volumes=uses(*names)))
        objects.append(claim(f"old-{number}"))
        objects.append(claim(f"new-{number}", storage_class="csi"))
    for number in range(pods + spare):
        objects.append(volume(f"pv-{number}", storage=f"{1 + number % 3}Gi"))
    return asking, objects


@examples(120)
@given(seed=st.integers(0, 2**32), pods=st.integers(1, 5), spare=st.integers(0, 2))
def test_nothing_leaks_and_no_claim_is_bound_twice(seed, pods, spare):
    asking, objects = world(pods, spare)

    async def day():
        day = Day(seed, objects)
        day.spend(asking, attempts=4)
        await day.time.run_out()
        day.api.calm()
        await day.time.run_out()
        return day

    day = asyncio.run(day())
    assert day.api.problems == []
    assert day.leaks() == []
    day.cluster.check_invariants()
    assert {info.uid for info in day.cluster.pods.values()} == day.running


@examples(60)
@given(seed=st.integers(0, 2**32), pods=st.integers(1, 4))
def test_when_the_trouble_is_over_every_pod_finds_its_volumes(seed, pods):
    asking, objects = world(pods, spare=6)

    async def day():
        day = Day(seed, objects)
        day.spend(asking, attempts=3)
        await day.time.run_out()
        day.api.calm()
        await day.time.run_out()
        day.spend([each for each in asking if each.uid not in day.running], attempts=5)
        await day.time.run_out()
        return day

    day = asyncio.run(day())
    assert day.api.problems == []
    assert day.leaks() == []
    left = {key for kind, key in day.api.stored if kind is PersistentVolumeClaim}
    served = {
        each.uid
        for each in asking
        if all(f"default/{v.persistent_volume_claim.claim_name}" in left for v in each.spec.volumes)
    }
    assert served <= day.running


@examples(60)
@given(seed=st.integers(0, 2**32))
def test_pods_that_share_a_claim(seed):
    """They come to one node or wait for the volume together; the claim is served once."""
    asking = [pod(f"web-{number}", volumes=uses("shared")) for number in range(3)]
    kinds = {"old": claim("shared"), "new": claim("shared", storage_class="csi")}
    shared = kinds["new" if seed % 2 else "old"]
    objects = [storage_class(), storage_class("csi", provisioner=CSI), shared]
    objects += [volume(f"pv-{number}") for number in range(3)]

    async def day():
        day = Day(seed, objects)
        day.spend(asking, attempts=4)
        await day.time.run_out()
        day.api.calm()
        await day.time.run_out()
        return day

    day = asyncio.run(day())
    assert day.api.problems == []
    assert day.leaks() == []


@pytest.mark.parametrize("seed", range(3))
def test_a_day_can_be_lived_again(seed):
    async def day():
        asking, objects = world(3, 1)
        day = Day(seed, objects)
        day.spend(asking, attempts=4)
        await day.time.run_out()
        return sorted(day.running), day.clock.now(), sorted(key for _, key in day.api.stored)

    assert asyncio.run(day()) == asyncio.run(day())
