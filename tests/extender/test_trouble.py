"""Extenders that are down, hang, crash, lie or flood: one error each, within their time."""

import asyncio
import json
import socket

import pytest

from podium import config
from podium.clock import FakeClock, give_way
from podium.errors import ExtenderError
from podium.extender import HttpExtender
from podium.extender.transport import LEAST_LIMIT
from podium.state.rows import Rows
from podium.testing.builders import node, pod
from tests.support.extender_process import Server, ask

pytestmark = pytest.mark.slow

WEB = pod("web")
SECONDS = 2.5


def some_nodes():
    return Rows.of(node("a"), node("b"))


@pytest.mark.parametrize("how", ["hang", "stall"])
def test_a_call_takes_its_timeout_and_no_longer(server, how):
    told = server.told(filter=how)
    clock = FakeClock()

    async def scene():
        extender = told.extender(clock, filter_verb="filter", http_timeout=SECONDS)
        call = asyncio.ensure_future(extender.filter(WEB, some_nodes()))
        await told.called()
        clock.advance(SECONDS - 0.01)
        await give_way()
        assert not call.done()

        clock.advance(0.01)
        with pytest.raises(ExtenderError) as error:
            await call
        await extender.close()
        assert str(error.value) == (
            f"failed filter with extender at URL {told.url}/filter: no reply within 2.5 s"
        )

    asyncio.run(scene())


def test_after_a_timeout_the_next_call_is_made_anew(server):
    told = server.told(filter="hang", bind={"reply": {}})
    clock = FakeClock()

    async def scene():
        extender = told.extender(clock, filter_verb="filter", bind_verb="bind")
        call = asyncio.ensure_future(extender.filter(WEB, some_nodes()))
        await told.called()
        clock.advance(5)
        with pytest.raises(ExtenderError, match="no reply within 5 s"):
            await call
        await extender.bind(WEB, "a")
        await extender.close()

    asyncio.run(scene())
    assert [call["verb"] for call in told.calls()] == ["filter", "bind"]


def test_a_call_that_nobody_waits_for_any_more_ends(server):
    told = server.told(filter="hang")

    async def scene():
        extender = told.extender(filter_verb="filter")
        call = asyncio.ensure_future(extender.filter(WEB, some_nodes()))
        await told.called()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await extender.close()

    asyncio.run(scene())


@pytest.mark.parametrize("how", ["cut", "half"])
def test_an_answer_that_breaks_off(server, how):
    told = server.told(filter=how)

    with pytest.raises(
        ExtenderError, match=rf"^failed filter with extender at URL {told.url}/filter: "
    ):
        ask(told.extender(filter_verb="filter"), "filter", WEB, some_nodes())


def test_a_crash():
    with Server() as server:
        told = server.told(filter="exit")
        for _ in range(2):  # when it crashes, and once it is gone
            with pytest.raises(ExtenderError, match=r"^failed filter with extender at URL "):
                ask(told.extender(filter_verb="filter"), "filter", WEB, some_nodes())
        assert server.process.wait(timeout=30) == 1


def failing_bind(url):
    extender = HttpExtender(config.Extender(url_prefix=url, bind_verb="bind"), FakeClock())
    with pytest.raises(ExtenderError) as error:
        ask(extender, "bind", WEB, "a")
    return str(error.value)


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

    assert failing_bind(url).startswith(f"failed bind with extender at URL {url}/bind: ")


@pytest.mark.parametrize("code", [201, 202, 400, 404, 500, 503])
def test_any_code_but_200_is_a_failure(server, code):
    told = server.told(bind={"reply": {}, "code": code})

    with pytest.raises(ExtenderError) as error:
        ask(told.extender(bind_verb="bind"), "bind", WEB, "a")

    assert str(error.value) == f"failed bind with extender at URL {told.url}/bind, code {code}"


@pytest.mark.parametrize("prefix", ["", "no url", "ftp://127.0.0.1", "http://", "http://[::1"])
def test_an_address_that_is_none(prefix):
    url = prefix.rstrip("/")

    assert failing_bind(prefix).startswith(f"failed bind with extender at URL {url}/bind: ")


def test_a_flood_is_cut_off(server):
    told = server.told(filter="flood")

    with pytest.raises(ExtenderError, match=f"its reply has more than {LEAST_LIMIT} bytes$"):
        ask(told.extender(filter_verb="filter"), "filter", WEB, some_nodes())


UNREADABLE = "the extender's reply cannot be read: "


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        '{"NodeNames":["a"',
        '{"NodeNames":"a"}',
        '{"NodeNames":[1]}',
        '{"FailedNodes":{"a":1}}',
        '{"FailedNodes":["a"]}',
        '{"Error":1}',
        '["a"]',
        "7",
        "[" * 100_000,
        '{"NodeNames":' + "[" * 100_000,
        '{"Nodes":{"items":[{"metadata":{"name":1}}]}}',
    ],
    ids=lambda text: text[:24] or "empty",
)
def test_a_filter_that_answers_nonsense(server, text):
    told = server.told(filter={"text": text})
    extender = told.extender(filter_verb="filter", node_cache_capable=True)

    with pytest.raises(ExtenderError, match=f"^{UNREADABLE}"):
        ask(extender, "filter", WEB, some_nodes())


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '[{"Host":"a","Score":"7"}]',
        '[{"Host":"a","Score":7.5}]',
        '[{"Host":"a","Score":true}]',
        '[{"Host":1,"Score":7}]',
        "[7]",
        "[[]]",
    ],
)
def test_a_prioritizer_that_answers_nonsense(server, text):
    told = server.told(prioritize={"text": text})

    with pytest.raises(ExtenderError, match=f"^{UNREADABLE}"):
        ask(told.extender(prioritize_verb="prioritize"), "prioritize", WEB, some_nodes())


@pytest.mark.parametrize("score", [2**63, -(2**63) - 1, 10**30])
def test_a_score_that_no_machine_has_room_for(server, score):
    told = server.told(prioritize={"reply": [{"Host": "a", "Score": score}]})

    with pytest.raises(ExtenderError, match=r'score of node "a" is not a 64-bit integer$'):
        ask(told.extender(prioritize_verb="prioritize"), "prioritize", WEB, some_nodes())


@pytest.mark.parametrize(
    "reply",
    [
        {"NodeNameToMetaVictims": ["a"]},
        {"NodeNameToMetaVictims": {"a": ["x"]}},
        {"NodeNameToMetaVictims": {"a": {"Pods": "x"}}},
        {"NodeNameToMetaVictims": {"a": {"Pods": [7]}}},
        {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": 7}]}}},
        {"NodeNameToMetaVictims": {"a": {"NumPDBViolations": "many"}}},
    ],
    ids=json.dumps,
)
def test_a_preemption_that_answers_nonsense(server, reply):
    told = server.told(preempt={"reply": reply})
    nodes = some_nodes()

    with pytest.raises(ExtenderError, match=f"^{UNREADABLE}"):
        ask(told.extender(preempt_verb="preempt"), "process_preemption", WEB, [], nodes.cluster)
