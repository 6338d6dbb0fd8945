"""A new leader looks whether its watches are behind what the API server has."""

from dataclasses import replace

import pytest

from podium.api.objects import Pod
from podium.client.api_client import ApiClient
from podium.client.resources import PODS, RESOURCE_CLAIMS
from podium.errors import NotLeading
from podium.live.catching_up import PATIENCE_SECONDS, CatchingUp
from tests.support.client import node, pod, with_world
from tests.support.faulty_proxy import answering, saying, silent
from tests.support.scenarios import ClusterBehindProxy, play


async def followed(world, *names):
    world.create("nodes", **node("n"))
    for name in names:
        world.create("pods", **pod(name))
    informer, _ = world.follow(PODS)
    await informer.wait_synced()
    return informer


async def stop_watch(world, informer):
    """Let the watch show nothing more, as one that is late."""
    world.proxy.instead("watch=true", silent)
    world.proxy.cut_watches()
    await world.in_time(lambda: informer.watches == 2)


def catching_up(world, *informers):
    return world.start(CatchingUp(world.connection, informers).run())


@with_world
async def test_nothing_is_waited_for_when_nothing_is_missing(world):
    informer = await followed(world, "a", "b")
    begun = world.clock.now()

    await catching_up(world, informer)

    assert "limit=1000" in world.proxy.requests[-1].path
    assert "PartialObjectMetadataList" in world.proxy.requests[-1].headers["Accept"]
    assert world.clock.now() == begun


@with_world
async def test_a_list_that_fails_is_tried_again(world):
    informer = await followed(world, "a")
    world.proxy.instead("limit=1000", answering(503), answering(500), saying("[]"))

    done = catching_up(world, informer)

    await world.in_time(done.done)
    assert done.exception() is None


@with_world
async def test_a_kind_that_the_server_does_not_have_is_not_waited_for(world):
    informer, _ = world.follow(replace(RESOURCE_CLAIMS, plural="nothings"))
    await world.in_time(lambda: informer.has_synced)

    done = catching_up(world, informer)

    await world.in_time(done.done, limit=60)


async def bind_known(world):
    await world.client.bind(await world.client.read(Pod, "default/a"), "n")


async def create_and_bind(world):
    """Nothing of this pod is pending when it is over."""
    world.create("pods", **pod("new"))
    await world.client.bind(await world.client.read(Pod, "default/new"), "n")


async def replace_pod(world):
    """There are as many pods as before."""
    await create_and_bind(world)
    await world.client.delete_pod(await world.client.read(Pod, "default/a"))


@pytest.mark.parametrize("arrives", ["late", "never"])
@pytest.mark.parametrize(
    ("old_leader", "name"),
    [(bind_known, "a"), (create_and_bind, "new"), (replace_pod, "new")],
    ids=["binds-a-known-pod", "binds-a-pod-created-meanwhile", "binds-one-and-another-is-deleted"],
)
@with_world
async def test_what_the_old_leader_did_is_known_before_it_goes_on(world, old_leader, name, arrives):
    """The watch is silent: until it is opened again, or until all pods are listed."""
    informer = await followed(world, "a", "still-pending")
    version = informer.version
    await stop_watch(world, informer)
    await old_leader(world)
    begun = world.clock.now()

    done = catching_up(world, informer)
    await world.quiet()
    assert not done.done()
    assert informer.version == version
    if arrives == "late":
        world.proxy.cut_watches()
    await world.in_time(done.done)

    assert informer.get(f"default/{name}").node_name == "n"
    if arrives == "never":
        assert world.clock.now() - begun >= PATIENCE_SECONDS


def test_a_scheduler_looks_at_pods_and_at_claims_to_devices():
    async def scene(cluster):
        before = len(cluster.proxy.requests)
        await cluster.scheduler.catch_up()
        asked = [one.path.partition("?")[0] for one in cluster.proxy.requests[before:]]
        assert sorted(asked) == ["/api/v1/pods", "/apis/resource.k8s.io/v1/resourceclaims"]

    play(scene, cluster=ClusterBehindProxy)


@with_world
async def test_a_write_is_held_back_while_another_process_may_lead(world):
    subject = (await followed(world, "a")).get("default/a")
    world.connection.fence.may_write = lambda: False
    before = len(world.proxy.requests)

    with pytest.raises(NotLeading):
        await world.client.bind(subject, "n")
    async with world.connection.for_notes() as notes:
        with pytest.raises(NotLeading):
            await ApiClient(notes).delete_pod(subject)
    about = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}}
    await world.client.create_core_event("default", about)
    assert [one.method for one in world.proxy.requests[before:]] == ["POST"]
    assert world.proxy.requests[-1].path.endswith("/events")

    world.connection.fence.may_write = lambda: True
    await world.client.bind(subject, "n")
