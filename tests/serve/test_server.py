"""`podium serve` over HTTP: the token, limits, errors as JSON, and its own description."""

import asyncio
import json
import os
import re
import subprocess
import threading
from concurrent.futures import Future

import aiohttp
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import snapshot
from podium.errors import PodiumError, ServingError
from podium.explain import Explanation, NodeExplanation
from podium.serve import values
from podium.serve.cluster import FixedCluster
from podium.serve.openapi import document
from podium.serve.server import Limits, Server
from podium.serve.token import carries_token, new_token, read_token
from podium.simulation import Simulation
from tests.support import dumps
from tests.support.search import examples

TOKEN = "a-token-for-tests-only"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    path = dumps.written(tmp_path_factory.mktemp("dump") / "dump.json")
    taken = snapshot.load(path)
    return FixedCluster(taken, Simulation.from_snapshot(taken))


@pytest.fixture(scope="module")
def url(cluster):
    """A server in a thread of its own."""
    started: Future[str] = Future()
    stop = threading.Event()

    async def serve():
        server = Server(cluster, TOKEN, Limits(body_bytes=10_000))
        host, port = await server.start("127.0.0.1", 0)
        started.set_result(f"http://{host}:{port}")
        await asyncio.to_thread(stop.wait)
        await server.stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    yield started.result(10)
    stop.set()
    thread.join()


def ask(url, line, body=None, *, token=TOKEN, kind="application/json"):
    """Send ``POST /path``, for example; return the status and the JSON of the answer."""
    method, path = line.split()

    async def send():
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Content-Type"] = kind
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, url + path, data=body) as answer,
        ):
            return answer.status, json.loads(await answer.read())

    return asyncio.run(send())


@pytest.mark.parametrize(
    ("path", "request_", "shape"),
    [
        pytest.param("/v1/cluster", None, values.Summary, id="cluster"),
        pytest.param("/v1/pods/default/huge?node=two&node=one", None, Explanation, id="pod"),
        pytest.param("/v1/nodes/two", None, NodeExplanation, id="node"),
        pytest.param("/v1/explain", {"pod": dumps.manifest("new")}, Explanation, id="explain"),
        pytest.param("/v1/fit", {"pod": dumps.manifest("new")}, values.FitAnswer, id="fit"),
        pytest.param("/v1/simulate", {"drain": ["two"]}, values.SimulateAnswer, id="simulate"),
    ],
)
def test_answers(url, path, request_, shape):
    body = None if request_ is None else json.dumps(request_)
    status, answer = ask(url, f"{'GET' if body is None else 'POST'} {path}", body)

    assert status == 200, answer
    msgspec.convert(answer, shape)


def test_would_it_fit_where_and_if_not_what_would_help(url):
    """The question that the server is for."""
    asked = json.dumps({"pod": dumps.manifest("new", "6"), "replicas": 2})
    _, answer = ask(url, "POST /v1/fit", asked)

    assert (answer["fits"], answer["count"]) == (False, 0)
    fixes = answer["explanation"]["fixes"]
    assert any("reduce the request for cpu" in fix["text"] and fix["node"] for fix in fixes)


@pytest.mark.parametrize(
    ("line", "body", "status", "error"),
    [
        pytest.param("GET /v1/pods/default/hug", None, 404,
                     'no pod default/hug; did you mean "huge"?', id="pod"),
        pytest.param("GET /v1/nodes/thre", None, 404, 'no node thre; did you mean "three"?',
                     id="node"),
        pytest.param("GET /v1/podz", None, 404, "Not Found", id="path"),
        pytest.param("DELETE /v1/cluster", None, 405, "Method Not Allowed", id="method"),
        pytest.param("POST /v1/fit", "", 400, "the body is empty", id="empty"),
        pytest.param("POST /v1/fit", "{", 400, "Input data was truncated", id="cut-short"),
        pytest.param("POST /v1/fit", "{}", 400,
                     "Object missing required field `pod`", id="no-pod"),
        pytest.param("POST /v1/fit", '{"pod": {}, "replicsa": 2}', 400,
                     "Object contains unknown field `replicsa`", id="mistyped-field"),
        pytest.param("POST /v1/fit", '{"pod": {}, "replicas": 0}', 400,
                     "Expected `int` >= 1 - at `$.replicas`", id="no-replicas"),
        pytest.param("POST /v1/fit", '{"pod": {"kind": "Job"}}', 422,
                     "expected a v1 Pod, got kind 'Job'", id="another-kind"),
        pytest.param("POST /v1/simulate", '{"drain": ["thre"]}', 404,
                     'no node thre; did you mean "three"?', id="unknown-node"),
        pytest.param("POST /v1/fit", '{"pod": ' + "[" * 5000, 400, "", id="deep"),
        pytest.param("POST /v1/fit", b"\xff\xfe", 400, "", id="not-text"),
        pytest.param("POST /v1/fit", " " * 20_000, 413, "Request Entity Too Large", id="large"),
    ],
)  # fmt: skip
def test_bad_requests(url, line, body, status, error):
    found, answer = ask(url, line, body)

    assert found == status
    assert set(answer) == {"error", "hint"}
    assert answer["error"] == error if error else answer["error"]


def test_a_body_that_is_not_json(url):
    assert ask(url, "POST /v1/fit", "pod: {}", kind="text/yaml")[0] == 415


@pytest.mark.parametrize("token", ["", "wrong", "a-token-for-tests-onlyy", "ä"])
@pytest.mark.parametrize("path", ["/v1/cluster", "/v1/nope", "/v1/pods/a/b"])
def test_without_the_token_nothing_is_answered(url, token, path):
    status, answer = ask(url, f"GET {path}", token=token)

    assert (status, answer["error"]) == (401, "no token, or a wrong one")
    assert TOKEN not in json.dumps(answer)


def test_health_and_description_need_no_token(url):
    status, answer = ask(url, "GET /openapi.json", token="")

    assert (status, answer) == (200, document())


def test_curl(url):
    done = subprocess.run(
        ["curl", "-sS", "--fail", "-H", f"Authorization: Bearer {TOKEN}", f"{url}/v1/cluster"],
        capture_output=True, text=True, check=True, timeout=10,
    )  # fmt: skip

    found = json.loads(done.stdout)
    assert (found["nodes"], found["pods"], found["pending"]) == (3, 4, 2)
    assert found["source"]["recomputed"] is True
    assert found["source"]["missing"]  # a dump of three kinds is partial


# --- its own description --------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["pod", "nodes", "replicas", "explain", "add", "addNodes", "removeNodes", "removePods", "drain"]
)
MANIFESTS = st.builds(
    dumps.manifest, st.text(max_size=5), st.sampled_from(["1", "1e9", "x", ""]), spec=JSON
)
BODIES = JSON | st.dictionaries(FIELDS, JSON | MANIFESTS | st.lists(MANIFESTS, max_size=2))


@examples(60)
@given(path=st.sampled_from(["/v1/explain", "/v1/fit", "/v1/simulate"]), body=BODIES)
def test_whatever_is_sent_the_answer_is_as_described(url, path, body):
    status, answer = ask(url, f"POST {path}", json.dumps(body))

    described = document()["paths"][path]["post"]["responses"]
    assert str(status) in described, answer
    if status != 200:
        assert set(answer) == {"error", "hint"}
        assert answer["error"]


def test_every_route_is_described(cluster):
    served = {
        (route.method, route.resource.canonical)
        for route in Server(cluster, TOKEN).app().router.routes()
        if route.method != "HEAD" and route.resource.canonical.startswith("/v1")
    }
    described = {
        (method.upper(), path) for path, item in document()["paths"].items() for method in item
    }

    assert served == described


# --- limits ---------------------------------------------------------------------------------------


@pytest.fixture
def hasty(cluster):
    """A server with little patience, in this thread: a coroutine is run with its address."""

    def run(scene):
        async def whole():
            server = Server(cluster, TOKEN, Limits(seconds=0.2, body_bytes=1000))
            host, port = await server.start("127.0.0.1", 0)
            try:
                await asyncio.wait_for(scene(host, port), 20)
            finally:
                await asyncio.wait_for(server.stop(), 5)

        asyncio.run(whole())

    return run


async def exchange(host, port, sent, *, then_close=False):
    """Send bytes as they are; return the status line, the headers and the JSON of the answer."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(sent)
    await writer.drain()
    if then_close:
        writer.transport.abort()
        return None
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = re.search(r"Content-Length: (\d+)", head)
    body = await reader.readexactly(int(length[1]))
    writer.close()
    return head, json.loads(body)


HEADERS = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"


def test_a_body_that_never_ends_is_not_waited_for(hasty):
    async def scene(host, port):
        sent = f"POST /v1/fit HTTP/1.1\r\n{HEADERS}Content-Length: 100\r\n\r\n{{".encode()
        head, answer = await exchange(host, port, sent)
        assert head.startswith("HTTP/1.1 408 ")
        assert answer["error"] == "the body did not arrive in time"

    hasty(scene)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET\r\n\r\n", id="no-path"),
        pytest.param(b"\x16\x03\x01\x00\xa5\r\n\r\n", id="tls"),
        pytest.param(b"GET / HTTP/1.1\r\nbad header\r\n\r\n", id="header"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", id="length"),
    ],
)
def test_what_is_not_http_is_refused_as_json(hasty, caplog, sent):
    async def scene(host, port):
        head, answer = await exchange(host, port, sent)
        assert head.startswith("HTTP/1.0 400 ")
        assert "application/json" in head
        assert answer["error"] == "not an HTTP request"

    hasty(scene)
    assert not caplog.records


def test_clients_that_go_away_leave_nothing_in_the_log(hasty, caplog):
    async def scene(host, port):
        for length in (100, 5):  # in the middle of the body, and before the answer
            lines = f"POST /v1/fit HTTP/1.1\r\n{HEADERS}Content-Length: {length}\r\n\r\n"
            await exchange(host, port, lines.encode() + b"[1, 2", then_close=True)
        head, _ = await exchange(host, port, b"GET /v1/x HTTP/1.0\r\nHost: x\r\n\r\n")
        assert head.startswith("HTTP/1.0 401 ")

    hasty(scene)
    assert not caplog.records


def test_a_question_that_takes_too_long_is_stopped(hasty):
    """A plugin-free question of many pods: its thread must be free for the next one."""

    async def scene(host, port):
        many = json.dumps({"add": [dumps.manifest("p")], "replicas": 10_000}).encode()
        sent = f"POST /v1/simulate HTTP/1.1\r\n{HEADERS}Connection: close\r\n"
        sent += f"Content-Length: {len(many)}\r\n\r\n"
        head, answer = await exchange(host, port, sent.encode() + many)
        assert head.startswith("HTTP/1.1 504 "), answer
        next_ = f"GET /v1/cluster HTTP/1.1\r\n{HEADERS}Connection: close\r\n\r\n"
        head, answer = await exchange(host, port, next_.encode())
        while head.startswith("HTTP/1.1 504 "):  # busy machine; a hang ends the scene
            head, answer = await exchange(host, port, next_.encode())
        assert head.startswith("HTTP/1.1 200 ")
        assert (answer["pods"], answer["pending"]) == (4, 2)

    hasty(scene)


# --- where it listens, and its token --------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_it_listens_on_loopback_only(cluster, host):
    with pytest.raises(ServingError):
        asyncio.run(Server(cluster, TOKEN).start(host, 0))


def test_a_port_that_is_taken(cluster, url):
    port = int(url.rpartition(":")[2])

    with pytest.raises(PodiumError, match="choose another with --port"):
        asyncio.run(Server(cluster, TOKEN).start("127.0.0.1", port))


def test_a_new_token_is_for_its_owner(tmp_path):
    path = tmp_path / "state" / "serve.token"
    path.parent.mkdir()
    path.write_text("left by another time")
    path.chmod(0o644)

    with new_token(path) as token:
        assert token.path == path
        assert path.stat().st_mode & 0o777 == 0o600
        assert read_token(path) == token.text
        assert len(token.text) > 30
    assert not path.exists()


def test_two_servers_do_not_share_a_token(tmp_path):
    path = tmp_path / "serve.token"
    with new_token(path) as first:
        with new_token(path) as second, new_token(path) as third:
            paths = [each.path.name for each in (first, second, third)]
            assert paths == ["serve.token", "serve-2.token", "serve-3.token"]
            assert read_token(first.path) == first.text
            assert len({first.text, second.text, third.text}) == 3
        assert read_token(path) == first.text
        with new_token(path) as again:  # its name is free again
            assert again.path == second.path
    assert not list(tmp_path.iterdir())


def test_a_token_file_that_somebody_removed(tmp_path):
    path = tmp_path / "serve.token"
    with new_token(path):
        path.unlink()
        path.write_text("of somebody else")
    assert path.read_text() == "of somebody else"


@pytest.mark.parametrize(
    ("content", "mode", "error"),
    [
        pytest.param(b"short", 0o600, "at least 16 characters", id="short"),
        pytest.param(b"two words that are long", 0o600, "without blanks", id="blanks"),
        pytest.param(b"\xff" * 20, 0o600, "not ASCII text", id="bytes"),
        pytest.param(b"a-good-token-1234567", 0o644, "chmod 600", id="readable-by-others"),
    ],
)
def test_tokens_that_cannot_be_used(tmp_path, content, mode, error):
    path = tmp_path / "token"
    path.write_bytes(content)
    os.chmod(path, mode)

    with pytest.raises(PodiumError, match=error):
        read_token(path)


def test_a_token_file_that_is_not_there(tmp_path):
    with pytest.raises(PodiumError, match="No such file"):
        read_token(tmp_path / "nope")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer abc", True),
        ("bearer abc", True),
        ("Basic abc", False),
        ("abc", False),
        ("Bearer abcd", False),
        ("Bearer ", False),
        ("", False),
    ],
)
def test_headers(header, expected):
    assert carries_token(header, "abc") is expected
