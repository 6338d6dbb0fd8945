"""Informers against the embedded server: what they know, and what their handlers hear."""

from podium.client.resources import NODES, PODS
from tests.support.client import node, pod, with_world


@with_world
async def test_it_lists_and_then_follows(world):
    world.create("pods", **pod("a"))
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    assert story.told == [("add", "default/a")]

    world.create("pods", **pod("b"))
    world.cluster.delete("pods", ("default", "a"))
    await world.until(lambda: len(story.told) >= 3)

    assert story.told[1:] == [("add", "default/b"), ("delete", "default/a")]
    assert informer.get("default/b").name == "b"
    assert [one.key for one in informer.objects()] == ["default/b"]


@with_world
async def test_it_follows_objects_without_a_namespace(world):
    world.create("nodes", **node("n1"))
    informer, story = world.follow(NODES)
    await informer.wait_synced()

    assert story.told == [("add", "n1")]


@with_world
async def test_pods_that_have_ended_are_gone(world):
    world.create("pods", **pod("a"))
    informer, story = world.follow(PODS)
    await informer.wait_synced()

    world.cluster.set_status("pods", ("default", "a"), {"phase": "Succeeded"})

    await world.until(lambda: story.told[-1] == ("delete", "default/a"))


@with_world
async def test_who_subscribes_late_hears_of_all_that_is_there(world):
    world.create("pods", **pod("a"))
    informer, _ = world.follow(PODS)
    await informer.wait_synced()
    heard = []

    informer.subscribe(lambda old, new: heard.append((old, new.key)))

    assert heard == [(None, "default/a")]


@with_world
async def test_a_handler_that_fails_does_not_stop_the_others(world):
    informer, story = world.follow(PODS)
    informer.subscribe(lambda old, new: 1 / 0)
    await informer.wait_synced()

    for name in "ab":
        world.create("pods", **pod(name))

    await world.until(lambda: len(story.told) == 2)
