"""Watches over HTTP: from where they start, what they show, how they end."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest

from tests.support.apiserver import CONFIG_MAPS, config_map, with_server


def told(events):
    return [(kind, obj["metadata"].get("name")) for kind, obj in events]


@with_server
async def test_a_watch_goes_on_where_a_list_ended(client):
    await client.create(CONFIG_MAPS, config_map("old"))
    version = (await client.get(CONFIG_MAPS))["metadata"]["resourceVersion"]
    await client.create(CONFIG_MAPS, config_map("new"))
    await client.call("DELETE", f"{CONFIG_MAPS}/old")

    events = await client.watch(f"{CONFIG_MAPS}?watch=true&resourceVersion={version}", 2)

    assert told(events) == [("ADDED", "new"), ("DELETED", "old")]


@with_server
async def test_without_a_version_it_starts_with_what_is_there(client):
    await client.create(CONFIG_MAPS, config_map("a"))

    assert told(await client.watch(f"{CONFIG_MAPS}?watch=1", 1)) == [("ADDED", "a")]


WATCH_LIST = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


@pytest.mark.parametrize("query", [WATCH_LIST, "", "&resourceVersion=0"])
@with_server
async def test_initial_events_end_with_a_bookmark(client, query):
    await client.create(CONFIG_MAPS, config_map("a"))

    events = await client.watch(f"{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true{query}", 2)

    assert told(events) == [("ADDED", "a"), ("BOOKMARK", None)]
    assert events[1][1]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


@with_server
async def test_a_selector_turns_changes_into_arrivals_and_departures(client):
    version = (await client.get(CONFIG_MAPS))["metadata"]["resourceVersion"]
    await client.create(CONFIG_MAPS, config_map("a"))
    for labels in ({"x": "1"}, {"x": "1", "y": "2"}, {}):
        await client.call("PUT", f"{CONFIG_MAPS}/a", config_map("a", labels=labels))

    path = f"{CONFIG_MAPS}?watch=1&labelSelector=x&resourceVersion={version}"
    events = await client.watch(path, 3)

    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@with_server
async def test_tables_show_the_age_at_each_event(client):
    await client.create(CONFIG_MAPS, config_map("a"))
    ages = []
    path = f"{client.url}{CONFIG_MAPS}?watch=1"
    async with client.session.get(path, headers={"Accept": TABLE}) as got:
        for seconds in (0, 30, 50):
            client.clock.advance(seconds)
            if seconds:
                await client.call("PUT", f"{CONFIG_MAPS}/a", config_map("a", {"s": str(seconds)}))
            table = json.loads(await got.content.readline())["object"]
            ages.append(table["rows"][0]["cells"][-1])
    assert ages == ["0s", "30s", "80s"]


@with_server
async def test_a_version_that_is_forgotten_is_410(client):
    for number in range(120):
        await client.create(CONFIG_MAPS, config_map(f"x{number}"))

    [(kind, status)] = await client.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion=5", 1)
    assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
    assert status["message"].startswith("too old resource version: 5 (")

    for query in ("resourceVersionMatch=Exact", "limit=1"):
        code, answer = await client.call("GET", f"{CONFIG_MAPS}?resourceVersion=5&{query}")
        assert (code, answer["reason"]) == (410, "Expired"), query
        assert answer["message"] == "The resourceVersion for the provided list is too old."


@with_server
async def test_initial_events_of_a_version_to_come_are_refused_in_the_stream(client):
    initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    path = f"{CONFIG_MAPS}?watch=1&resourceVersion=1000000&{initial}"

    [(kind, status)] = await client.watch(path, 1)

    assert (kind, status["code"], status["reason"]) == ("ERROR", 504, "Timeout")


@with_server
async def test_a_limit_makes_a_version_exact(client):
    await client.create(CONFIG_MAPS, config_map("a"))
    version = (await client.get(CONFIG_MAPS))["metadata"]["resourceVersion"]
    await client.call("DELETE", f"{CONFIG_MAPS}/a")

    for query, names in (("", []), ("&limit=1", ["a"])):
        found = await client.get(f"{CONFIG_MAPS}?resourceVersion={version}{query}")
        assert [one["metadata"]["name"] for one in found["items"]] == names, query


@pytest.mark.slow
@with_server
async def test_a_slow_watcher_is_dropped_and_nobody_waits(client):
    version = (await client.get(CONFIG_MAPS))["metadata"]["resourceVersion"]
    path = f"{CONFIG_MAPS}?watch=1&resourceVersion={version}"
    url = urlsplit(client.url)
    reader, writer = await asyncio.open_connection(url.hostname, url.port, limit=1000)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
    big = {"x": "y" * 400_000}
    for number in range(150):  # far more than sockets buffer, past the history
        await client.create(CONFIG_MAPS, config_map(f"x{number}", big))
    assert len(await client.watch(f"{CONFIG_MAPS}?watch=1", 150)) == 150

    async with asyncio.timeout(20):
        end = (await reader.read())[-1000:]
    writer.close()
    assert b'"type":"ERROR"' in end
    assert b"too old resource version" in end


@with_server
async def test_the_end_of_a_watch(client):
    events = await client.watch(f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=20", 5)

    assert events == []


@with_server
async def test_a_vanished_watcher_is_forgotten(client):
    got = await client.session.get(f"{client.url}{CONFIG_MAPS}?watch=1")
    assert client.api.store.watchers("configmaps") == 1

    got.close()

    async with asyncio.timeout(10):
        while client.api.store.watchers("configmaps"):
            await asyncio.sleep(0)
