"""Quotas under any sequence of changes, against a slow model that reads everything off the API.

What must always hold: pods are bound only within the maximum of their quota and within all promises
together; what the plugin counts as used, and what ``status.used`` says, is the sum over the pods.
A quota may promise more than it allows, somebody else may write ``status.used``, and bindings may
be slow or refused. Trials with failovers are in `tests/chaos`.
"""

import asyncio
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.faulty_proxy import answering, holding
from tests.support.scenarios import ClusterBehindProxy, node
from tests.support.scheduler_plugins import (
    capacity_scheduling,
    configured,
    definition,
    member,
    namespace,
    quota,
)
from tests.support.search import examples

pytestmark = pytest.mark.slow

QUOTAS = "elasticquotas.scheduling.x-k8s.io"
NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
steps = st.one_of(
    st.tuples(st.just("pods"), names, st.integers(1, 3)),
    st.tuples(st.just("high"), names, st.integers(1, 2)),
    st.tuples(st.just("gated"), names, st.integers(1, 2)),
    st.tuples(st.just("ungate"), st.none(), st.none()),
    st.tuples(st.just("rename"), st.none(), st.integers(0, 20)),
    st.tuples(st.just("refuse"), st.none(), st.integers(1, 3)),
    st.tuples(st.just("slow"), st.none(), st.integers(1, 3)),
    st.tuples(st.just("release"), st.none(), st.none()),
    st.tuples(st.just("quota"), names, st.tuples(st.integers(0, 4), st.integers(-2, 5))),
    st.tuples(st.just("drift"), names, st.integers(0, 9)),
    st.tuples(st.just("unquota"), names, st.none()),
    st.tuples(st.just("delete"), st.none(), st.integers(0, 20)),
    st.tuples(st.just("end"), st.none(), st.integers(0, 20)),
    st.tuples(st.just("wait"), st.none(), st.sampled_from([1, 5])),
)


class Trial:
    """A cluster in which every pod requests one cpu, and what is checked after every step.

    ``is_disturbed`` says that quotas have changed while bindings may be on their way.
    """

    def __init__(self, cluster):
        self.cluster = cluster
        self.serial = 0
        self.bound = set()
        self.released = asyncio.Event()
        self.is_disturbed = False

    async def step(self, what, of, number):
        await getattr(self, what)(of, number)
        await self.cluster.settle()
        self.check()

    async def pods(self, of, count, **more):
        for _ in range(count):
            self.serial += 1
            made = member(f"p{self.serial}", namespace=of, cpu="1", **more)
            made["spec"]["terminationGracePeriodSeconds"] = 0
            await self.cluster.create(made)

    async def high(self, of, count):
        await self.pods(of, count, priority="high")

    async def gated(self, of, count):
        await self.pods(of, count, gates=["wait"])

    async def ungate(self, of, _):
        for one in self.cluster.list("pods"):
            if one["spec"].get("schedulingGates"):
                await self.cluster.update(
                    "pods", key(one), lambda obj: obj["spec"].pop("schedulingGates")
                )

    async def rename(self, of, number):
        """Another pod takes the place of one that is deleted."""
        if pods := self.cluster.list("pods"):
            left = key(pods[number % len(pods)])
            await self.cluster.delete("pods", left)
            await self.pods(left.partition("/")[0], 1)

    async def refuse(self, of, count):
        self.cluster.proxy.instead("/binding", *[answering(409)] * count)

    async def slow(self, of, count):
        self.cluster.proxy.instead("/binding", *[holding(self.released)] * count)

    async def release(self, of, _):
        self.released.set()
        self.released = asyncio.Event()

    async def drift(self, of, number):
        """Somebody writes what does not add up."""
        if of in self.limits():
            wrong = {"cpu": str(number)}
            await self.cluster.set_status(QUOTAS, f"{of}/{of}", lambda old: old.update(used=wrong))

    async def quota(self, of, limits):
        self.is_disturbed = True
        minimum, more = limits
        spec = {"min": {"cpu": str(minimum)}, "max": {"cpu": str(max(0, minimum + more))}}
        if self.limits().get(of) is None:
            await self.cluster.create(quota(of, spec["min"], spec["max"]))
        else:
            await self.cluster.update(QUOTAS, f"{of}/{of}", lambda obj: obj["spec"].update(spec))

    async def unquota(self, of, _):
        self.is_disturbed = True
        if of in self.limits():
            await self.cluster.delete(QUOTAS, f"{of}/{of}")

    async def delete(self, of, number):
        if pods := self.cluster.list("pods"):
            await self.cluster.delete("pods", key(pods[number % len(pods)]))

    async def end(self, of, number):
        running = [one for one in self.cluster.list("pods") if phase(one) == "Running"]
        if running:
            name = key(running[number % len(running)])
            await self.cluster.set_status("pods", name, lambda old: old.update(phase="Succeeded"))

    async def wait(self, of, seconds):
        await self.cluster.wait(seconds)

    def limits(self):
        return {
            one["metadata"]["namespace"]: (
                int(one["spec"]["min"]["cpu"]),
                int(one["spec"]["max"]["cpu"]),
            )
            for one in self.cluster.list(QUOTAS)
        }

    def check(self):
        pods = self.cluster.list("pods")
        bound = {key(one): one for one in pods if one["spec"].get("nodeName") and not ended(one)}
        placed = self.cluster.scheduler.scheduler.services.cluster.pods.values()
        held = [one.pod for one in placed if one.key not in bound]
        used = Counter(one["metadata"]["namespace"] for one in bound.values())
        used.update(one.namespace for one in held)
        limits = self.limits()
        for name in bound.keys() - self.bound:
            of = name.partition("/")[0]
            if of in limits and not self.is_disturbed:
                assert used[of] <= limits[of][1]
                assert sum(used[each] for each in limits) <= sum(low for low, _ in limits.values())
        self.bound = set(bound)
        self.is_disturbed &= bool(held)
        assert len(bound) + len(held) <= 6  # the cpus of the nodes

        counted = {of: n.get("cpu", 0) // 1000 for of, n in self.plugin()._usage.used.items()}
        assert Counter(counted) == used
        running = Counter(key(one).partition("/")[0] for one in pods if phase(one) == "Running")
        for one in self.cluster.list(QUOTAS):
            of = one["metadata"]["namespace"]
            assert one["status"]["used"] == {"cpu": str(running[of])}

    def plugin(self):
        [profile] = self.cluster.scheduler.profiles.values()
        plugins = (each for at in profile.plugins.values() for each in at)
        return next(each for each in plugins if each.name == "CapacityScheduling")


def key(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def phase(pod):
    return pod.get("status", {}).get("phase")


def ended(pod):
    return phase(pod) in ("Succeeded", "Failed")


HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


@examples(60)
@given(st.lists(steps, min_size=3, max_size=14))
@example([("slow", None, 1), ("pods", "a", 1), ("delete", None, 0)])
def test_quotas_are_kept_and_counted(changes):
    async def run():
        cluster = ClusterBehindProxy(*configured(capacity_scheduling()))
        await cluster.create(definition("elastic-quotas"))
        async with cluster:
            await cluster.create(*map(namespace, NAMES), HIGH)
            await cluster.create(node("n1", cpu="3"), node("n2", cpu="3"))
            trial = Trial(cluster)
            for change in changes:
                await trial.step(*change)
            cluster.proxy.answers.clear()
            await trial.step("release", None, None)
            for _ in range(6):
                await trial.step("wait", None, 5)

    asyncio.run(run())
