"""The dashboard over HTTP: who gets in, what they get, and what nobody gets."""

import asyncio
import io
import json

import aiohttp
import pytest

from podium.dashboard.site import pages
from tests.support.dashboard import PATIENCE_SECONDS, dashboard, pending

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202egnp.exe",
    "🎉" * 60,
    "x" * 253,
)


def scene(test):
    """Run a test with a dashboard."""

    def run():
        async def play():
            async with dashboard() as shown:
                await test(shown)

        asyncio.run(play())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def codes(overview):
    return [each["code"] for each in overview["reasons"]]


PATHS = ("", "app.js", "style.css", "nothing", "api/overview", "api/stream", "api/map",
         "api/pods/default/x", "api/search?q=a", "api/configuration")  # fmt: skip


@scene
async def test_without_a_token_there_is_only_the_sign_in_page(shown):
    async with aiohttp.ClientSession() as stranger:
        for path in PATHS:
            async with stranger.get(f"{shown.address}/dashboard/{path}") as answer:
                assert answer.status == 401, path
                assert await answer.read() == pages()["sign-in.html"]
        async with stranger.post(f"{shown.address}/dashboard/api/what-if", json={}) as answer:
            assert answer.status == 401


@scene
async def test_a_link_signs_in_once(shown):
    link = shown.link
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.get(link, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/dashboard/")
            cookie = answer.headers["Set-Cookie"]
            for part in ("HttpOnly", "SameSite=Strict", "Path=/dashboard/"):
                assert part in cookie
        async with browser.get(f"{shown.address}/dashboard/") as answer:
            assert await answer.read() == pages()["index.html"]
        async with browser.get(f"{shown.address}/dashboard/api/overview") as answer:
            assert (await answer.json())["nodes"] == 3
        async with browser.get(link, allow_redirects=False) as answer:  # as from its history
            assert (answer.status, answer.headers["Location"]) == (303, "/dashboard/")
    async with aiohttp.ClientSession() as other:
        async with other.get(link) as answer:
            assert answer.status == 401
            assert "This link was already used" in await answer.text()
        form = {"token": "secret"}
        async with other.post(f"{shown.address}/dashboard/sign-in", data=form) as answer:
            assert answer.status == 401
            assert "only links are accepted" in await answer.text()


@scene
async def test_everything_is_served_with_a_strict_policy(shown):
    for path in ("", "app.js", "icon.svg", "api/overview", "api/stream", "api/nodes/nothing"):
        async with shown.session.get(f"{shown.address}/dashboard/{path}") as answer:
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "Access-Control-Allow-Origin" not in answer.headers


@scene
async def test_other_sites_and_other_names_of_this_machine_are_refused(shown):
    url = f"{shown.address}/dashboard/api/overview"
    port = shown.address.rpartition(":")[2]
    refused = (
        {"Host": f"evil.example:{port}"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    )
    for headers in refused:
        async with shown.session.get(url, headers=headers) as answer:
            assert answer.status == 403, headers
    for headers in ({"Host": f"localhost:{port}"}, {"Sec-Fetch-Site": "same-origin"}):
        async with shown.session.get(url, headers=headers) as answer:
            assert answer.status == 200, headers


@scene
async def test_no_method_changes_anything(shown):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        for path in ("", "api/overview", "api/pods/default/x", "api/configuration"):
            url = f"{shown.address}/dashboard/{path}"
            async with shown.session.request(method, url, json={}) as answer:
                assert answer.status == 404, (method, path)


@scene
async def test_screens_get_their_data(shown):
    await shown.create(pending("huge"), pending("small", "1"))
    overview = await shown.until(lambda seen: codes(seen) == ["InsufficientResource"])

    assert overview["pods"] == 1
    assert {each["pod"] for each in overview["decisions"]} == {"default/huge", "default/small"}
    _, board = await shown.get("pending")
    assert [each["pod"] for each in board["groups"][0]["pods"]] == ["default/huge"]
    _, node_map = await shown.get("map")
    assert sum(node_map["pods"]) == 1
    _, queue = await shown.get("queue?limit=5")
    assert (queue["kind"], queue["unschedulable"]) == ("QueueRecords", 1)
    _, found = await shown.get("search?q=HUGE")
    assert found["pods"] == ["default/huge"]
    _, labels = await shown.get("labels?key=kubernetes.io/os")
    assert labels["version"] == node_map["version"] == overview["mapVersion"]
    assert set(labels["values"]) == {"linux"}
    _, configuration = await shown.get("configuration")
    assert configuration["costs"]["profiles"][0]["name"] == "default-scheduler"


@pytest.mark.slow
@scene
async def test_questions_are_answered_by_another_process(shown):
    await shown.create(pending("huge"), pending("small", "1"))
    await shown.until(lambda seen: seen["bound"] == 1 and seen["pending"] == 1)

    status, found = await shown.get("pods/default/huge?node=node-1")
    assert status == 200
    assert found["explanation"]["fixes"]
    assert found["explanation"]["verdicts"][0]["node"] == "node-1"
    assert found["records"]["attempts"][0]["onNode"]["verdict"] == "refused"
    status, node = await shown.get("nodes/node-1")
    assert (status, node["explanation"]["kind"]) == (200, "NodeExplanation")
    status, refused = await shown.get("nodes/node-9")
    assert (status, "did you mean" in refused["error"]) == (404, True)
    status, refused = await shown.get("pods/default/hug")
    assert (status, refused["error"]) == (404, 'no pod default/hug; did you mean "huge"?')

    status, report = await shown.post("what-if", {"drain": ["node-1"]})
    assert (status, report["kind"]) == (200, "Report")
    status, refused = await shown.post("what-if", {"drains": []})
    assert (status, "drains" in refused["error"]) == (400, True)
    status, refused = await shown.post("what-if", {})
    assert (status, "nothing to try" in refused["error"]) == (422, True)
    url = f"{shown.address}/dashboard/api/what-if"
    async with shown.session.post(url, data=b"drain=node-1") as answer:
        assert answer.status == 415
    large = io.BytesIO(b"x" * (2 << 20))
    kind = {"Content-Type": "application/json"}
    async with shown.session.post(url, data=large, headers=kind) as answer:
        assert answer.status == 413
    overview = await shown.until(lambda seen: True)
    assert (overview["nodes"], overview["pods"]) == (3, 1)


@scene
async def test_a_pod_with_a_detailed_record_needs_no_other_process(shown):
    await shown.create(pending("small", "1"))
    await shown.until(lambda seen: seen["pods"] == 1)

    _, found = await shown.get("pods/default/small")

    assert found["explanation"] is None
    assert found["records"]["attempts"][0]["best"]


@scene
async def test_the_stream_is_live(shown):
    url = f"{shown.address}/dashboard/api/stream"
    async with shown.session.get(url) as answer:
        assert answer.content_type == "text/event-stream"
        assert (await _event(answer))[0] == "whole"
        await shown.create(pending("small", "1"))
        while True:
            name, said = await asyncio.wait_for(_event(answer), PATIENCE_SECONDS)
            assert name == "update"
            if said["overview"]["pods"]:
                break


async def _event(answer):
    name = (await answer.content.readuntil(b"\n")).decode().strip().removeprefix("event: ")
    data = (await answer.content.readuntil(b"\n\n")).decode().strip().removeprefix("data: ")
    return name, json.loads(data)


@scene
async def test_odd_requests_get_an_answer(shown):
    for name in HOSTILE:
        status, found = await shown.get(f"search?q={name}")
        assert (status, found) == (200, {"pods": [], "nodes": []})
    for limit in ("0", "-1", "x", "9" * 50):
        assert (await shown.get(f"queue?limit={limit}"))[0] == 200
    _, labels = await shown.get("labels?key=" + "k" * 3000)
    assert set(labels["values"]) == {""}


def test_a_cluster_without_nodes():
    async def play():
        async with dashboard(nodes=0) as shown:
            await shown.create(pending("lonely"))
            await shown.until(lambda seen: codes(seen) == ["NoNodes"])
            _, node_map = await shown.get("map")
            assert node_map["names"] == []

    asyncio.run(play())
