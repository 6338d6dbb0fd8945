"""A followed cluster has what the API server has, whatever happened meanwhile."""

import asyncio
import random

import pytest

from podium import snapshot
from podium.clock import give_way
from podium.serve.cluster import FollowedCluster
from podium.simulation import Simulation
from tests.support.client import node, pod, with_world
from tests.support.search import scaled

KINDS = {
    "Pod": "pods",
    "Node": "nodes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Namespace": "namespaces",
}


def claim(name):
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, "storageClassName": "slow"}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


async def followed(world, between=lambda: None):
    """Read the cluster, let something happen, and only then begin to follow it."""
    taken = await snapshot.read_cluster(world.connection)
    cluster = FollowedCluster(taken, Simulation.from_snapshot(taken), world.connection)
    between()
    world.start(cluster.follow())
    return cluster


async def check(world, cluster):
    """Wait until the watches have shown everything, and compare all objects and the queue."""
    await world.in_time(lambda: found_in(cluster) == expected_in(world), limit=120.0)
    simulation = cluster.simulation()
    simulation.core.cluster.check_invariants()
    simulation.queue.check_invariants()
    waiting = {key for key, found in simulation.pods.items() if not found.node_name}
    assert set(simulation.pending) == waiting
    assert not [note for note in cluster.source().notes if "up to date" in note]


def found_in(cluster):
    simulation = cluster.simulation()
    return {
        (kind, key): (obj.uid, obj.metadata.resource_version, getattr(obj, "node_name", ""))
        for kind in KINDS
        for key, obj in simulation.objects(kind).items()
    }


def expected_in(world):
    """The server's objects; the scheduler's watch leaves out pods that have ended."""
    return {
        (kind, key): (meta["uid"], meta["resourceVersion"], obj["spec"].get("nodeName", ""))
        for kind, resource in KINDS.items()
        for obj in listed(world, resource)
        for meta in [obj["metadata"]]
        for key in ["/".join(filter(None, (meta.get("namespace"), meta["name"])))]
        if obj.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    }


def listed(world, resource):
    return list(world.api.store.objects(resource))


@with_world
async def test_what_changes_between_the_snapshot_and_the_first_list(world):
    world.create("nodes", **node("n"))
    world.create("nodes", **node("gone"))
    world.create("pods", **pod("gone"))
    world.create("pods", **pod("again"))

    def happen():
        world.cluster.delete_at_once("nodes", ("", "gone"))
        world.cluster.delete_at_once("pods", ("default", "gone"))
        world.cluster.delete_at_once("pods", ("default", "again"))
        world.create("pods", **pod("again", nodeName="n"))
        world.create("pods", **pod("new"))

    cluster = await followed(world, happen)

    await check(world, cluster)
    assert set(cluster.simulation().pods) == {"default/again", "default/new"}


class Chance:
    """Changes the cluster at random: objects come, change, go, and come again by the same name."""

    def __init__(self, world, seed):
        self.world = world
        self.random = random.Random(seed)

    def change(self):
        resource = self.random.choice(["pods", "pods", "nodes", "persistentvolumeclaims"])
        name = self.random.choice("abcd")
        key = ("" if resource == "nodes" else "default", name)
        if self.world.api.store.find(resource, key) is None:
            self.create(resource, name)
            return
        match self.random.randrange(4):
            case 0:
                self.world.cluster.delete_at_once(resource, key)
            case 1:
                self.world.cluster.delete_at_once(resource, key)
                self.create(resource, name)
            case 2:
                self.modify(resource, key, lambda obj: obj["metadata"]["labels"])
            case 3 if resource == "pods":
                self.modify(resource, key, self.bind)

    def create(self, resource, name):
        made = {"pods": pod, "nodes": node, "persistentvolumeclaims": claim}[resource](name)
        self.world.create(resource, **made)

    def modify(self, resource, key, change):
        obj = self.world.cluster.find(resource, key)
        obj["metadata"].setdefault("labels", {})["n"] = str(self.random.random())
        change(obj)
        self.world.cluster.put(resource, obj)

    def bind(self, obj):
        obj["spec"].setdefault("nodeName", self.random.choice("abcd"))
        phase = self.random.choice(["Running", "Running", "Succeeded"])
        obj["status"] = {**obj["status"], "phase": phase}

    async def spoil(self):
        """Break watches off, or let so much happen meanwhile that only a list helps."""
        match self.random.randrange(6):
            case 0:
                self.world.proxy.cut_watches()
            case 1:
                self.world.proxy.cut_watches()
                for _ in range(80):  # more than the server remembers
                    self.change()
            case 2:
                await self.world.quiet()
            case 3:
                await give_way()


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_any_changes(seed):
    @with_world
    async def scene(world):
        chance = Chance(world, seed)
        for _ in range(20):
            chance.change()
        cluster = await followed(world, lambda: [chance.change() for _ in range(10)])
        for number in range(60):
            chance.change()
            await chance.spoil()
            if number % 7 == 0:
                cluster.simulation().fork().schedule()  # a request, while changes arrive
            if number % 20 == 0:
                await check(world, cluster)
        await check(world, cluster)

    scene()


@with_world
async def test_claims_that_simulated_controllers_make_are_not_real(world):
    """At the start a pending pod waits for a claim; what really comes has another name."""
    template = {"metadata": {"name": "t", "namespace": "default"},
                "spec": {"spec": {"devices": {"requests": []}}}}  # fmt: skip
    world.create("resourceclaimtemplates.resource.k8s.io", **template)
    entry = {"name": "gpu", "resourceClaimTemplateName": "t"}
    world.create("pods", **pod("p", resourceClaims=[entry]))

    cluster = await followed(world)

    await check(world, cluster)
    assert not cluster.simulation().objects("resource.k8s.io/ResourceClaim")


@with_world
async def test_an_object_that_cannot_be_taken_keeps_no_other_from_being_followed(world):
    world.create("nodes", **node("n"))
    cluster = await followed(world)
    simulation, fault = cluster.simulation(), RuntimeError("a fault")
    known = simulation.core.cluster.set_node

    def failing(obj):
        if obj.name == "bad":
            raise fault
        known(obj)

    simulation.core.cluster.set_node = failing
    for name in ("bad", "good"):
        world.create("nodes", **node(name))
    await world.in_time(lambda: "good" in cluster.simulation().nodes)

    assert "Node bad is not up to date: a fault" in cluster.source().notes
    simulation.core.cluster.set_node = known
    world.cluster.delete_at_once("nodes", ("", "bad"))
    await check(world, cluster)


@with_world
async def test_a_watch_that_fails_is_not_silent(world):
    cluster = await followed(world)
    following = world.tasks.pop()
    await world.quiet()
    next(iter(cluster._informers.values())).run = failing_run

    again = asyncio.ensure_future(cluster.follow())
    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        await again
    following.cancel()


async def failing_run():
    raise RuntimeError("a fault")


@with_world
async def test_priorities_of_new_pods_are_those_of_the_classes_now(world):
    """Classes that come, go and come again with another value are followed."""
    kind = "priorityclasses.scheduling.k8s.io"
    world.create(kind, metadata={"name": "high"}, value=10)
    cluster = await followed(world)
    asked = {"apiVersion": "v1", "kind": "Pod", **pod("asked", priorityClassName="high")}

    def priority():
        fork = cluster.simulation().fork()
        (added,) = fork.add(asked)
        return added.priority

    assert priority() == 10
    world.cluster.delete_at_once(kind, ("", "high"))
    world.create(kind, metadata={"name": "high"}, value=1000)
    await world.in_time(lambda: priority() == 1000)
