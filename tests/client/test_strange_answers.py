"""Answers that no API server gives: told once, asked for again, and no kind is given up."""

import logging

import pytest

from podium.client.endpoint import Endpoint
from podium.client.http import Connection, Request
from podium.client.resources import NODES, PODS, Resource
from podium.errors import ApiError, Unreachable
from tests.support.client import UNLIMITED, node, pod, with_world
from tests.support.faulty_proxy import saying, streaming


def bookmark(version):
    return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}}


def warnings(caplog):
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


@with_world
async def test_a_page_instead_of_lists_is_one_warning(world, caplog):
    for part in ("/pods", "/nodes"):
        world.proxy.instead(part, *[saying("<html>Log in</html>")] * 4)
    world.create("nodes", **node("n"))
    pods, _ = world.follow(PODS)
    nodes, _ = world.follow(NODES)

    await world.in_time(lambda: pods.has_synced and nodes.has_synced)

    (warning,) = warnings(caplog)
    assert f"the test: {world.proxy.url}: not a list: " in warning
    assert "is there an API server at this address?" in warning


@with_world
async def test_one_object_that_is_no_text_hides_no_other(world, caplog):
    meta = b'{"name":"b","uid":"u","resourceVersion":"1000","labels":{"a":"\xff"}}'
    event = b'{"type":"ADDED","object":{"metadata":' + meta + b"}}"
    world.proxy.instead("watch=true", streaming(event))
    informer, _ = world.follow(PODS)
    await world.in_time(lambda: len(warnings(caplog)) == 1)
    world.create("pods", **pod("good"))

    await world.in_time(lambda: informer.get("default/good") is not None)

    assert "object not readable kind='Pod' key='b'" in warnings(caplog)[0]


@with_world
async def test_a_version_of_any_length(world):
    world.proxy.streams_lists = False
    world.proxy.instead("watch=true", streaming(bookmark("9" * 5000), bookmark("1" * 5001)))
    informer, _ = world.follow(PODS)

    await world.in_time(lambda: informer.watches >= 2)

    assert any("resourceVersion=" + "1" * 5001 in one.path for one in world.proxy.requests)


@with_world
async def test_a_fault_of_ours_does_not_end_the_watch(world, caplog):
    faults = [KeyError("a bug")]

    def decode(raw, known):
        if faults:
            raise faults.pop()
        return PODS.decode(raw, known)

    world.create("pods", **pod("a"))
    informer, _ = world.follow(Resource("Pod", "pods", decode))
    await world.until(lambda: informer.trouble is not None)
    assert isinstance(informer.trouble, ApiError)

    await world.in_time(lambda: informer.get("default/a") is not None)

    assert "watching failed kind='pods'" in warnings(caplog)


@with_world
async def test_https_where_http_is_spoken(world):
    endpoint = Endpoint(world.proxy.url.replace("http:", "https:"), "the test")
    async with Connection(endpoint, world.clock, UNLIMITED) as connection:
        with pytest.raises(Unreachable, match=r"TLS failed: .*is https:// right"):
            await connection.send(Request("POST", "/", b"{}"))
