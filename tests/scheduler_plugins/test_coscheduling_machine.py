"""Gangs under any sequence of changes, on a cluster in which every pod takes one slot.

What must always hold: pods of a group are bound only if the group then has its minimum; no node has
more pods than slots; nobody waits beyond the timeout. And in the end, when nothing changes any
more: a group that could start has started. Bindings may be slow or refused. Trials with failovers
are in `tests/chaos`.
"""

import asyncio
from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler_plugins.coscheduling import Coscheduling
from tests.support.faulty_proxy import answering, holding
from tests.support.scenarios import HIGH, ClusterBehindProxy, node
from tests.support.scheduler_plugins import (
    LABEL,
    configured,
    coscheduling,
    definition,
    group,
    member,
)
from tests.support.search import examples

pytestmark = pytest.mark.slow

TIMEOUT = 8
GROUPS = "podgroups.scheduling.x-k8s.io"
names = st.sampled_from(["a", "b"])
steps = st.one_of(
    st.tuples(st.just("group"), names, st.integers(1, 4)),
    st.tuples(st.just("pods"), names, st.integers(1, 4)),
    st.tuples(st.just("high"), names, st.integers(1, 2)),
    st.tuples(st.just("gated"), names, st.integers(1, 2)),
    st.tuples(st.just("ungate"), st.none(), st.none()),
    st.tuples(st.just("rename"), st.none(), st.integers(0, 20)),
    st.tuples(st.just("refuse"), st.none(), st.integers(1, 3)),
    st.tuples(st.just("slow"), st.none(), st.integers(1, 3)),
    st.tuples(st.just("release"), st.none(), st.none()),
    st.tuples(st.just("single"), st.none(), st.integers(1, 2)),
    st.tuples(st.just("delete"), st.none(), st.integers(0, 20)),
    st.tuples(st.just("ungroup"), names, st.none()),
    st.tuples(st.just("node"), st.none(), st.integers(1, 3)),
    st.tuples(st.just("wait"), st.none(), st.sampled_from([1, 3, 10])),
)


def group_of(pod):
    return pod["metadata"].get("labels", {}).get(LABEL)


def is_gated(pod):
    return bool(pod["spec"].get("schedulingGates"))


class Trial:
    """A cluster, and what is checked after every step.

    ``disturbed`` has the groups that changed, or of which a binding was refused, while bindings of
    theirs may be on their way: members that were let go are bound without the others.
    """

    def __init__(self, cluster, since):
        self.cluster = cluster
        self.since = since  # when each pod was last seen in Permit
        self.serial = 0
        self.bound = set()
        self.disturbed = set()
        self.released = asyncio.Event()

    async def step(self, what, of, number):
        await getattr(self, what)(of, number)
        await self.cluster.settle()
        self.check()

    async def group(self, of, minimum):
        self.disturbed.add(of)
        if of in self.groups():
            change = {"minMember": minimum}
            await self.cluster.update(GROUPS, of, lambda obj: obj["spec"].update(change))
        else:
            await self.cluster.create(group(of, minimum, timeout=TIMEOUT))

    async def pods(self, of, count):
        for _ in range(count):
            self.serial += 1
            await self.cluster.create(member(f"{of}{self.serial}", of, cpu="1"))

    async def high(self, of, count):
        for _ in range(count):
            self.serial += 1
            await self.cluster.create(member(f"{of}{self.serial}", of, priority="high", cpu="1"))

    async def gated(self, of, count):
        for _ in range(count):
            self.serial += 1
            await self.cluster.create(member(f"{of}{self.serial}", of, gates=["wait"], cpu="1"))

    async def ungate(self, of, _):
        for one in filter(is_gated, self.cluster.list("pods")):
            name = one["metadata"]["name"]
            await self.cluster.update("pods", name, lambda obj: obj["spec"].pop("schedulingGates"))

    async def single(self, of, count):
        for _ in range(count):
            self.serial += 1
            await self.cluster.create(member(f"single{self.serial}", cpu="1"))

    async def delete(self, of, number):
        """Delete a pod. Return its group."""
        pods = self.cluster.list("pods")
        if not pods:
            return None
        one = pods[number % len(pods)]
        self.disturbed.add(group_of(one))
        await self.cluster.delete("pods", one["metadata"]["name"])
        return group_of(one)

    async def rename(self, of, number):
        """Another pod takes the place of a member."""
        left = await self.delete(of, number)
        if left is not None:
            await self.pods(left, 1)

    async def refuse(self, of, count):
        async def refusing(proxy, request):
            name = request.path.split("/")[-2]
            self.disturbed.add(group_of(self.cluster.get("pods", name)))
            return await answering(409)(proxy, request)

        self.cluster.proxy.instead("/binding", *[refusing] * count)

    async def slow(self, of, count):
        self.cluster.proxy.instead("/binding", *[holding(self.released)] * count)

    async def release(self, of, _):
        self.released.set()
        self.released = asyncio.Event()

    async def ungroup(self, of, _):
        self.disturbed.add(of)
        if of in self.groups():
            await self.cluster.delete(GROUPS, of)

    async def node(self, of, slots):
        self.serial += 1
        await self.cluster.create(node(f"n{self.serial}", cpu=str(slots)))

    async def wait(self, of, seconds):
        await self.cluster.wait(seconds)

    def groups(self):
        return {
            one["metadata"]["name"]: one["spec"]["minMember"] for one in self.cluster.list(GROUPS)
        }

    def check(self):
        pods = self.cluster.list("pods")
        bound = {one["metadata"]["uid"]: one for one in pods if one["spec"].get("nodeName")}
        slots = {
            one["metadata"]["name"]: int(one["status"]["allocatable"]["cpu"])
            for one in self.cluster.list("nodes")
        }
        used = Counter(one["spec"]["nodeName"] for one in bound.values())
        assert all(used[name] <= slots[name] for name in used)

        services, minimums = self.cluster.scheduler.scheduler.services, self.groups()
        held = (
            services.cluster.pods.keys() - bound.keys() - {w.pod.uid for w in waiting_of(services)}
        )
        with_node = [one for one in pods if one["metadata"]["uid"] in bound.keys() | held]
        of = Counter(group_of(one) for one in with_node)
        for uid in bound.keys() - self.bound:
            name = group_of(bound[uid])
            assert name is None or name in self.disturbed or of[name] >= minimums[name]
        self.bound = set(bound)
        if not held:
            self.disturbed.clear()

        now = self.cluster.clock.now()
        for waiting in services.waiting_pods:
            assert now - self.since[waiting.pod.uid] <= TIMEOUT + 1e-3

    def check_end(self):
        """Nothing changes any more: who could start has started."""
        pods, minimums = self.cluster.list("pods"), self.groups()
        nodes = self.cluster.list("nodes")
        free = sum(int(one["status"]["allocatable"]["cpu"]) for one in nodes) - len(self.bound)
        pending = [one for one in pods if not one["spec"].get("nodeName")]
        of = Counter(group_of(one) for one in pods if not is_gated(one))
        bound = Counter(group_of(one) for one in pods if one["spec"].get("nodeName"))
        for one in pending:
            if is_gated(one):
                continue
            name = group_of(one)
            if name is None:
                assert free == 0
            elif name in minimums and of[name] >= minimums[name]:
                assert free < max(minimums[name] - bound[name], 1)
        services = self.cluster.scheduler.scheduler.services
        assert len(services.cluster.pods) == len(self.bound)  # nothing is held
        assert not len(services.waiting_pods)


def waiting_of(services):
    """The pods that wait at Permit and were not let go."""
    return [each for each in services.waiting_pods if each.outcome is None]


def recording(since):
    """Permit that remembers when it was asked about each pod."""
    permit = Coscheduling.permit

    def remembering(self, state, pod, node_name):
        since[pod.uid] = self._handle.clock.now()
        return permit(self, state, pod, node_name)

    return patch.object(Coscheduling, "permit", remembering)


@examples(60)
@given(st.lists(steps, min_size=3, max_size=12))
def test_gangs_start_whole_or_not_at_all(changes):
    since = {}

    async def run():
        cluster = ClusterBehindProxy(*configured(coscheduling(podGroupRejectPercentage=34)))
        await cluster.create(definition("pod-groups"), {**HIGH, "preemptionPolicy": "Never"})
        async with cluster:
            await cluster.create(node("first", cpu="2"))
            trial = Trial(cluster, since)
            for change in changes:
                await trial.step(*change)
            cluster.proxy.answers.clear()
            await trial.step("release", None, None)
            for _ in range(12):
                await trial.step("wait", None, 5)
            # One may wait at this very moment: look when its time is over.
            for _ in range(2 * TIMEOUT):
                if not len(cluster.scheduler.scheduler.services.waiting_pods):
                    break
                await trial.step("wait", None, 1)
            trial.check_end()

    with recording(since):
        asyncio.run(run())
