"""How the reflector lists: in pages or streamed with the watch, and when it is synced."""

import asyncio
import json

import pytest
from aiohttp import web

from podium.client import reflector
from podium.client.http import Connection, Options
from podium.client.informer import Informer
from podium.client.resources import NODES, PODS
from tests.support.client import STREAMED, listed, node, with_world
from tests.support.faulty_proxy import (
    answering,
    holding,
    never,
    saying,
    streaming,
)

# --- lists ----------------------------------------------------------------------------------------


@with_world
async def test_long_lists_come_in_pages(world, monkeypatch):
    world.proxy.streams_lists = False
    monkeypatch.setattr(reflector, "PAGE", 2)
    for number in range(5):
        world.create("nodes", **node(f"n{number}"))
    informer, _ = world.follow(NODES)
    await informer.wait_synced()

    assert len(informer) == 5
    assert ["continue=" in one.path for one in listed(world)] == [False, True, True]


@pytest.mark.parametrize("streams_lists", [True, False])
@with_world
async def test_lists_are_streamed_unless_the_connection_says_not_to(world, streams_lists):
    world.create("nodes", **node("n"))
    options = Options(qps=-1, streams_lists=streams_lists)
    async with Connection(world.connection.endpoint, world.clock, options) as connection:
        informer = Informer(connection, NODES)
        world.start(informer.run())
        await informer.wait_synced()
        first, *_ = world.proxy.requests

        assert len(informer) == 1
        assert (STREAMED in first.path) is streams_lists
        assert ("limit=" in first.path) is not streams_lists
        await world.stop()


@with_world
async def test_a_list_whose_middle_is_forgotten_is_read_at_once(world, monkeypatch):
    world.proxy.streams_lists = False
    monkeypatch.setattr(reflector, "PAGE", 2)
    for number in range(5):
        world.create("nodes", **node(f"n{number}"))
    world.proxy.instead("continue=", answering(410, "too old"))
    informer, _ = world.follow(NODES)
    await informer.wait_synced()

    assert len(informer) == 5
    assert "limit" not in listed(world, "")[-1].path


@pytest.mark.parametrize(
    "body",
    ["[]", "{}", "no json", '{"metadata": {}, "items": [{"metadata": 7}]}', '{"metadata": {"a": '],
)
@with_world
async def test_what_is_no_list_is_asked_for_again(world, body):
    world.proxy.streams_lists = False
    world.proxy.instead("limit=", saying(body))
    informer, _ = world.follow(NODES)

    await world.in_time(lambda: informer.has_synced)

    assert informer.trouble is None


@with_world
async def test_an_object_that_cannot_be_read_is_told_and_left_out(world, caplog):
    world.proxy.streams_lists = False
    pods = [{"metadata": {"name": "a"}, "spec": 7}, {"metadata": {"name": "b", "uid": "u"}}]
    page = {"metadata": {"resourceVersion": "1"}, "items": pods}
    world.proxy.instead("limit=", saying(json.dumps(page)))
    informer, _ = world.follow(PODS)
    await informer.wait_synced()

    assert [one.key for one in informer.objects()] == ["b"]
    assert "object not readable kind='Pod' key='a' why=" in caplog.text


@with_world
async def test_changes_of_an_object_that_cannot_be_read_bring_no_lists(world, caplog):
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    meta = {"name": "a", "namespace": "default"}
    world.api.store.create("pods", {"metadata": meta, "spec": {"priority": "high"}})
    await world.quiet()
    world.clock.advance(reflector.SUSPICION_SECONDS + 1)
    lists = len(listed(world, ""))
    for priority in ("higher", "highest"):
        world.api.store.update("pods", {"metadata": meta, "spec": {"priority": priority}})
        await world.quiet()
    assert caplog.text.count("object not readable") == 3
    world.api.store.update("pods", {"metadata": meta, "spec": {"priority": 7}})
    await world.quiet()

    assert story.told == [("add", "default/a")]
    assert len(listed(world, "")) == lists


# --- lists and watches in one ---------------------------------------------------------------------


def added(name, version="5"):
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": version}
    return {"type": "ADDED", "object": {"metadata": meta}}


@with_world
async def test_a_list_is_streamed_with_the_watch(world):
    for number in range(3):
        world.create("nodes", **node(f"n{number}"))
    informer, story = world.follow(NODES)
    await informer.wait_synced()
    assert len(informer) == 3

    world.create("nodes", **node("n3"))
    await world.until(lambda: len(story.told) == 4)

    (request,) = world.proxy.requests
    assert "resourceVersion=&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" in (
        request.path
    )


@with_world
async def test_a_streamed_list_that_breaks_off_is_not_the_whole_list(world):
    world.create("nodes", **node("n"))
    world.proxy.instead(STREAMED, streaming(added("other")))
    informer, story = world.follow(NODES)

    await world.in_time(lambda: informer.has_synced)

    assert [one.key for one in informer.objects()] == ["n"]
    assert story.told == [("add", "other"), ("add", "n"), ("delete", "other")]


async def ignoring_the_question(proxy, request):
    """An old server: it sends what there is, and never says that this was all."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(json.dumps(added("n")).encode() + b"\n")
    await never(proxy, request)


BARE_BOOKMARK = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}


@pytest.mark.parametrize(
    ("server", "seconds"),
    [
        pytest.param(answering(422, "sendInitialEvents: Forbidden"), 0, id="refuses"),
        pytest.param(answering(400, "bad request"), 0, id="bad-request"),
        pytest.param(ignoring_the_question, reflector.STREAMED_LIST_SECONDS, id="ignores"),
        pytest.param(streaming(added("n"), BARE_BOOKMARK), 0, id="sends-a-usual-bookmark"),
    ],
)
@with_world
async def test_a_server_that_streams_no_lists_is_asked_for_pages(world, server, seconds):
    world.create("nodes", **node("n"))
    world.proxy.instead(STREAMED, server)
    informer, _ = world.follow(NODES)
    begun = world.clock.now()
    await world.in_time(lambda: informer.has_synced)

    assert world.clock.now() - begun == pytest.approx(seconds, abs=0.1)
    assert [one.key for one in informer.objects()] == ["n"]
    assert informer.trouble is None

    # It is not asked again when the list is due the next time.
    await world.in_time(lambda: world.clock.now() > begun + 2 * reflector.RELIST_SECONDS)
    assert len(listed(world)) == 1


# --- readiness ------------------------------------------------------------------------------------


@with_world
async def test_synced_means_that_the_watch_is_open(world):
    """The list is answered, and the watch is late: what happens meanwhile would be missed."""
    world.proxy.streams_lists = False
    opened = asyncio.Event()
    world.proxy.instead("watch=true", holding(opened))
    world.create("nodes", **node("a"))
    informer, story = world.follow(NODES)
    await world.until(lambda: story.told)
    await world.quiet()
    assert not informer.has_synced

    opened.set()
    await informer.wait_synced()

    world.create("nodes", **node("b"))
    await world.until(lambda: len(story.told) == 2)


@with_world
async def test_synced_means_that_a_streamed_list_is_complete(world):
    opened = asyncio.Event()
    world.proxy.instead(STREAMED, holding(opened))
    informer, _ = world.follow(NODES)
    await world.until(lambda: listed(world))
    await world.quiet()
    assert not informer.has_synced

    opened.set()
    await informer.wait_synced()
