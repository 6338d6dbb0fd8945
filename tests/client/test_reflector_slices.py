"""Lists are taken in slices of time: the event loop turns, and handlers hear the same."""

import asyncio

import pytest

from podium.client import reflector
from podium.client.resources import NODES
from tests.support.client import node, with_world
from tests.support.faulty_proxy import answering

NEVER = float("inf")
ALL = [f"n{number:02d}" for number in range(30)]


@pytest.mark.parametrize("streams_lists", [True, False])
@pytest.mark.parametrize("seconds", [0, NEVER], ids=["a-turn-for-each-object", "all-in-one-turn"])
@with_world
async def test_handlers_hear_the_same_in_slices(world, monkeypatch, seconds, streams_lists):
    monkeypatch.setattr(reflector, "SLICE_SECONDS", seconds)
    world.proxy.streams_lists = streams_lists
    for name in ALL:
        world.create("nodes", **node(name))
    informer, story = world.follow(NODES)
    await informer.wait_synced()
    assert story.told == [("add", name) for name in ALL]

    story.told.clear()
    world.proxy.instead("watch=true", answering(410, "too old"))
    world.proxy.cut_watches()
    for name in ALL[::3]:
        world.cluster.delete("nodes", ("", name))
    world.cluster.modify("nodes", ("", "n01"), labelled)
    world.create("nodes", **node("n99"))
    await world.in_time(lambda: len(story.told) == 12)

    deleted = [("delete", name) for name in ALL[::3]]
    assert story.told == [("update", "n01"), ("add", "n99"), *deleted]
    assert informer.trouble is None


def labelled(obj):
    return {**obj, "metadata": {**obj["metadata"], "labels": {"round": "2"}}}


@pytest.mark.parametrize("streams_lists", [True, False])
@with_world
async def test_the_loop_turns_while_a_list_is_taken(world, monkeypatch, streams_lists):
    monkeypatch.setattr(reflector, "SLICE_SECONDS", 0)
    world.proxy.streams_lists = streams_lists
    for name in ALL:
        world.create("nodes", **node(name))
    turns, heard_in = 0, set()

    async def turn():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    informer, _ = world.follow(NODES)
    informer.subscribe(lambda old, new: heard_in.add(turns))
    world.start(turn())
    await informer.wait_synced()

    assert len(heard_in) == len(ALL)


@with_world
async def test_a_watch_is_patient_once_its_list_is_complete(world):
    world.create("nodes", **node("n"))
    informer, _ = world.follow(NODES)
    await informer.wait_synced()
    world.clock.advance(reflector.STREAMED_LIST_SECONDS + 1)
    await world.quiet()

    assert informer.watches == 1
