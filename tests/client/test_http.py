"""One connection: headers, retries, time limits, and what each failure becomes."""

import asyncio
import json
import ssl
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from podium.client.endpoint import Endpoint, FixedLogin
from podium.client.http import (
    MOST_RETRY_SECONDS,
    MOST_TRIES,
    RECONNECT_TRIES,
    Connection,
    Options,
    Request,
)
from podium.client.kubeconfig import endpoint_of, load
from podium.client.lanes import IN_FLIGHT
from podium.client.logins import TokenFile
from podium.clock import FakeClock, sleep
from podium.errors import (
    ApiError,
    Conflict,
    CredentialsError,
    Forbidden,
    Gone,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from podium.tls import Certificate, Tls
from tests.support.client import UNLIMITED, with_world
from tests.support.faulty_proxy import answering, hanging_up, never, saying

PEM = Path(__file__).parent / "certificates"


@with_world
async def test_what_every_request_says_of_itself(world):
    await world.connection.get("/version")

    headers = world.proxy.requests[-1].headers
    assert headers["Accept"] == "application/json"
    assert headers["Accept-Encoding"] == "identity"
    assert headers["User-Agent"] == "podium/test"
    assert "Authorization" not in headers


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, ApiError),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Gone),
        (422, ApiError),
        (500, ApiError),
        (503, ApiError),
    ],
)
@with_world
async def test_refusals_have_types(world, code, kind):
    world.proxy.instead("/x", answering(code, "in the server's words"))

    with pytest.raises(ApiError) as refused:
        await world.connection.get("/x")

    assert type(refused.value) is kind
    assert (str(refused.value), refused.value.code) == ("in the server's words", code)


@with_world
async def test_a_page_of_a_proxy_is_shown_in_part(world):
    world.proxy.instead("/x", saying("<html>" + "x" * 1000, code=502))

    with pytest.raises(ApiError, match=r"the server answered 502: <html>x{294}$"):
        await world.connection.get("/x")


@with_world
async def test_who_is_asked_to_come_later_does(world):
    later = answering(429, "busy", **{"Retry-After": "7"})
    maybe = answering(503, "starting", **{"Retry-After": "3"})
    world.proxy.instead("/version", later, maybe, answering(429, "busy"))
    post = Request("POST", "/version", b"{}")
    world.proxy.instead("/version", saying("{}"))
    asked = world.start(world.connection.send(post))

    await world.in_time(asked.done)

    times = [request.at for request in world.proxy.requests]
    assert [b - a for a, b in pairwise(times)] == [7, 3, 1]


@pytest.mark.parametrize("silly", ["86400", "9" * 400])
@with_world
async def test_but_not_next_year(world, silly):
    world.proxy.instead("/version", answering(429, "busy", **{"Retry-After": silly}))
    asked = world.start(world.connection.get("/version"))

    await world.in_time(asked.done)

    times = [request.at for request in world.proxy.requests]
    assert [b - a for a, b in pairwise(times)] == [MOST_RETRY_SECONDS]


@with_world
async def test_a_redirection_is_no_success(world):
    elsewhere = saying("<html>log in</html>", code=302)
    world.proxy.instead("/x", elsewhere, elsewhere)

    with pytest.raises(ApiError, match=r"the server answered 302: <html>log in"):
        await world.connection.send(Request("POST", "/x", b"{}"))
    with pytest.raises(ApiError, match=r"the server answered 302: <html>log in"):
        async with world.connection.stream("/x"):
            pass


@with_world
async def test_but_not_for_ever(world):
    world.proxy.instead("/x", *[answering(429, "busy")] * MOST_TRIES)
    asked = world.start(refusal(world.connection.get("/x")))

    await world.in_time(asked.done)

    assert isinstance(asked.result(), TooManyRequests)
    assert len(world.proxy.requests) == MOST_TRIES


async def refusal(work):
    try:
        await work
    except ApiError as error:
        return error


@with_world
async def test_reads_survive_a_broken_connection(world):
    world.proxy.instead("/version", hanging_up, hanging_up)
    asked = world.start(world.connection.get("/version"))

    await world.in_time(asked.done)

    assert b"gitVersion" in asked.result()


@with_world
async def test_reads_give_up_in_the_end(world):
    world.proxy.instead("/version", *[hanging_up] * RECONNECT_TRIES)
    asked = world.start(refusal(world.connection.get("/version")))

    await world.in_time(asked.done)

    assert isinstance(asked.result(), Unreachable)
    assert f"the test: {world.proxy.url}: " in str(asked.result())


@with_world
async def test_a_write_without_an_answer_is_in_doubt(world):
    world.proxy.instead("/x", never)
    asked = world.start(refusal(world.connection.send(Request("POST", "/x", b"{}"))))
    begun = world.clock.now()

    await world.in_time(asked.done)

    assert world.clock.now() == begun + UNLIMITED.timeout_seconds
    assert asked.result().sent
    assert str(asked.result()).endswith("no answer within 60 s")


def test_an_unreachable_server_is_named():
    async def ask():
        endpoint = Endpoint("http://127.0.0.1:1", "config, context a")
        async with Connection(endpoint, FakeClock(), UNLIMITED) as connection:
            return await refusal(connection.send(Request("POST", "/x", b"{}")))

    error = asyncio.run(ask())

    assert not error.sent
    assert str(error).startswith("config, context a: http://127.0.0.1:1: cannot be reached: ")
    assert "is it running, and is the address right?" in str(error)


@with_world
async def test_requests_keep_to_the_rate(world):
    options = Options(qps=2, burst=1)
    async with Connection(world.connection.endpoint, world.clock, options) as connection:
        asked = [world.start(connection.get("/version")) for _ in range(4)]
        await world.in_time(lambda: all(one.done() for one in asked))

    times = [request.at for request in world.proxy.requests]
    assert [b - a for a, b in pairwise(times)] == [0.5, 0.5, 0.5]


@with_world
async def test_answers_can_be_observed(world):
    seen = []
    connection = Connection(
        world.connection.endpoint, world.clock, UNLIMITED, lambda *one: seen.append(one)
    )
    world.proxy.instead("/x", answering(404), hanging_up)
    async with connection:
        await connection.get("/version")
        await refusal(connection.get("/x"))
        await refusal(connection.send(Request("POST", "/x", b"{}")))

    assert seen == [("GET", 200, 0.0), ("GET", 404, 0.0), ("POST", 0, 0.0)]


# --- credentials ----------------------------------------------------------------------------------


@with_world
async def test_a_renewed_token_is_tried_at_once(world, tmp_path):
    path = tmp_path / "token"
    path.write_text("old")
    endpoint = Endpoint(world.proxy.url, "here", login=TokenFile(path, world.clock, "here"))
    async with Connection(endpoint, world.clock, UNLIMITED) as connection:
        await connection.get("/version")
        path.write_text("new")
        world.proxy.instead("/version", answering(401, "Unauthorized"))
        await connection.get("/version")

    sent = [request.headers["Authorization"] for request in world.proxy.requests]
    assert sent == ["Bearer old", "Bearer old", "Bearer new"]


@with_world
async def test_wrong_credentials_are_named(world):
    endpoint = Endpoint(world.proxy.url, "config, context a", login=FixedLogin("wrong"))
    world.proxy.instead("/version", answering(401, "Unauthorized"))
    async with Connection(endpoint, world.clock, UNLIMITED) as connection:
        error = await refusal(connection.get("/version"))

    assert isinstance(error, Unauthorized)
    assert str(error) == (
        f"config, context a: {world.proxy.url} does not accept these credentials "
        "(Unauthorized): they are wrong or have expired; renew them"
    )


@with_world
async def test_credentials_that_cannot_be_had(world, tmp_path):
    login = TokenFile(tmp_path / "none", world.clock, "here")
    endpoint = Endpoint(world.proxy.url, "here", login=login)
    async with Connection(endpoint, world.clock, UNLIMITED) as connection:
        error = await refusal(connection.get("/version"))

    assert isinstance(error, Unauthorized)
    assert isinstance(error.__cause__, CredentialsError)
    assert not world.proxy.requests


# --- TLS ------------------------------------------------------------------------------------------
# The certificates are for podium.test, signed by an authority of their own, for a hundred years.

CA = (PEM / "ca.pem").read_bytes()
CLIENT = Certificate((PEM / "client.pem").read_bytes(), (PEM / "client.key").read_bytes())


async def over_tls(make_endpoint):
    """Ask a server that wants to see a client certificate whose it is."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=PEM / "ca.pem")
    context.load_cert_chain(PEM / "server.pem", PEM / "server.key")
    context.verify_mode = ssl.CERT_OPTIONAL

    async def handle(request):
        subject = (request.transport.get_extra_info("peercert") or {}).get("subject", ())
        return web.json_response({"names": [value for ((_, value),) in subject]})

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    server = f"https://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with Connection(make_endpoint(server), FakeClock(), UNLIMITED) as connection:
            answer = await connection.send(Request("POST", "/", b"{}"))
            return json.loads(answer)["names"]
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("tls", "names"),
    [
        pytest.param(Tls(CA, server_name="podium.test"), [], id="verified-by-another-name"),
        pytest.param(Tls(skip_verify=True), [], id="not-verified"),
        pytest.param(
            Tls(CA, server_name="podium.test", certificate=CLIENT),
            ["podium test client"],
            id="client-certificate",
        ),
    ],
)
def test_tls(tls, names):
    assert asyncio.run(over_tls(lambda server: Endpoint(server, "here", tls))) == names


@pytest.mark.parametrize(
    "tls",
    [
        pytest.param(Tls(), id="unknown-authority"),
        pytest.param(Tls(CA), id="wrong-name"),
    ],
)
def test_a_server_that_cannot_show_who_it_is(tls):
    with pytest.raises(
        Unreachable, match=r"its certificate is not trusted: .*check certificate-au"
    ):
        asyncio.run(over_tls(lambda server: Endpoint(server, "here", tls)))


def test_a_kubeconfig_with_certificates(tmp_path):
    def endpoint(server):
        text = f"""
            clusters: [{{name: c, cluster: {{server: "{server}", tls-server-name: podium.test,
              certificate-authority: "{PEM / "ca.pem"}"}}}}]
            users: [{{name: u, user: {{client-certificate: "{PEM / "client.pem"}",
              client-key: "{PEM / "client.key"}"}}}}]
            contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
            current-context: x
        """
        (tmp_path / "config").write_text(text)
        return endpoint_of(load(tmp_path / "config"), FakeClock())

    assert asyncio.run(over_tls(endpoint)) == ["podium test client"]


@pytest.mark.parametrize(
    ("tls", "expected"),
    [
        pytest.param(Tls(b"junk"), "the certificate authority is not readable", id="authority"),
        pytest.param(
            Tls(certificate=Certificate(b"junk", b"junk")),
            "the client certificate and its key cannot be used",
            id="client-certificate",
        ),
        pytest.param(
            Tls(certificate=Certificate(CLIENT.chain, (PEM / "server.key").read_bytes())),
            "the client certificate and its key cannot be used",
            id="another-key",
        ),
    ],
)
def test_certificates_that_cannot_be_used(tls, expected):
    with pytest.raises(CredentialsError, match=f"here: {expected}"):
        Connection(Endpoint("https://127.0.0.1", "here", tls), FakeClock(), UNLIMITED)


@with_world
async def test_a_burst_waits_in_line_and_is_not_late(world):
    waits = UNLIMITED.timeout_seconds * 2 / 3
    world.proxy.instead("/version", *[after(waits)] * (2 * IN_FLIGHT))
    burst = [world.start(world.connection.get("/version")) for _ in range(2 * IN_FLIGHT)]
    await world.until(lambda: len(world.proxy.requests) == IN_FLIGHT)
    await world.quiet()

    assert len(world.proxy.requests) == IN_FLIGHT
    world.clock.advance(waits)
    await world.until(lambda: len(world.proxy.requests) == 2 * IN_FLIGHT)
    await world.quiet()
    world.clock.advance(waits)  # by now, later than anybody may answer the first ones
    assert await asyncio.gather(*burst) == [b"late"] * (2 * IN_FLIGHT)


@with_world
async def test_a_watch_passes_requests_that_wait(world):
    world.proxy.instead("/version", *[never] * IN_FLIGHT)
    for _ in range(IN_FLIGHT):
        world.start(world.connection.get("/version"))
    await world.until(lambda: len(world.proxy.requests) == IN_FLIGHT)

    async with world.connection.stream("/api/v1/pods?watch=true"):
        assert world.proxy.requests[-1].path == "/api/v1/pods?watch=true"


def after(seconds):
    async def handler(proxy, request):
        await sleep(proxy.clock, seconds)
        return web.Response(text="late")

    return handler
