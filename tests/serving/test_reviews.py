"""Questions to an API server that fails or hangs, and answers that are kept; on a fake clock."""

import asyncio
from types import SimpleNamespace

import pytest

from podium.clock import FakeClock, give_way
from podium.errors import ApiError, Forbidden, Unreachable
from podium.serving.authorization import Authorizer, OpenPaths
from podium.serving.expiring_cache import MOST_ENTRIES, ExpiringCache
from podium.serving.options import AuthorizationOptions
from podium.serving.reviews import LIMIT_SECONDS, RETRIES, AccessStatus, Reviews
from podium.serving.users import ANONYMOUS, User

ROUNDS = 20


class Server:
    """Takes the place of a connection; answers with these faults first."""

    def __init__(self, *faults, hangs=False):
        self.clock = FakeClock()
        self.sent = 0
        self._faults = list(faults)
        self._hangs = hangs

    async def send(self, request):
        self.sent += 1
        if self._hangs:
            await asyncio.Event().wait()
        if self._faults:
            raise self._faults.pop(0)
        return b'{"kind":"TokenReview","status":{"authenticated":true,"user":{"username":"u"}}}'


def answer(server, seconds=60.0):
    """The user of a token, or the error, after so much time."""

    async def run():
        asking = asyncio.ensure_future(Reviews(server).user_of("token"))
        for _ in range(int(seconds * 10)):
            for _ in range(ROUNDS):
                await give_way()
            if asking.done():
                break
            server.clock.advance(0.1)
        asking.cancel() if not asking.done() else None
        return await asking

    return asyncio.run(run())


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Unreachable("gone"), id="no-connection"),
        pytest.param(ApiError("broken", 500), id="internal-error"),
    ],
)
def test_a_failure_that_may_pass_is_asked_again(fault):
    server = Server(*[fault] * (RETRIES.tries - 1))
    assert answer(server) == User("u")
    assert server.sent == RETRIES.tries


def test_it_gives_up_after_some_tries():
    server = Server(*[ApiError("broken", 500)] * 100)
    with pytest.raises(ApiError, match="broken"):
        answer(server)
    assert server.sent == RETRIES.tries


def test_a_refusal_is_not_asked_again():
    server = Server(Forbidden("no", 403))
    with pytest.raises(Forbidden):
        answer(server)
    assert server.sent == 1


def test_a_server_that_hangs_is_not_waited_for():
    server = Server(hangs=True)
    begun = server.clock.now()
    with pytest.raises(Unreachable, match="no answer to a TokenReview within 10 s"):
        answer(server)
    assert LIMIT_SECONDS <= server.clock.now() - begun < LIMIT_SECONDS + 1


# --- what is kept --------------------------------------------------------------------------------


def test_answers_are_kept_for_their_time():
    clock, asked = FakeClock(), []
    cache = ExpiringCache[str](clock, lambda answer: 10.0 if answer == "long" else 1.0)

    async def ask(text):
        asked.append(text)
        return text

    async def run():
        for seconds in (0, 0.5, 0.6, 5, 5):
            clock.advance(seconds)
            await cache.get("a", lambda: ask("long"))
            await cache.get("b", lambda: ask("short"))

    asyncio.run(run())
    assert (asked.count("long"), asked.count("short")) == (2, 4)


def test_failures_are_not_kept_and_a_client_that_leaves_does_not_cancel_the_others():
    cache = ExpiringCache[str](FakeClock(), lambda _: 10.0)

    async def run():
        gate = asyncio.Event()

        async def ask():
            await gate.wait()
            return "answer"

        async def fail():
            raise ApiError("broken")

        with pytest.raises(ApiError):
            await cache.get("a", fail)
        first, second = (asyncio.ensure_future(cache.get("a", ask)) for _ in range(2))
        await give_way()
        first.cancel()
        gate.set()
        assert await second == "answer"

    asyncio.run(run())


def test_the_oldest_of_too_many_are_dropped():
    cache = ExpiringCache[int](FakeClock(), lambda _: 10.0)
    asked = []

    async def ask(number):
        asked.append(number)
        return number

    async def run():
        for number in [*range(MOST_ENTRIES + 1), MOST_ENTRIES, 0]:
            await cache.get(number, lambda number=number: ask(number))

    asyncio.run(run())
    assert asked == [*range(MOST_ENTRIES + 1), 0]


# --- rights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "path", "is_open"),
    [
        pytest.param(["/healthz"], "/healthz", True, id="exact"),
        pytest.param(["healthz"], "/healthz", True, id="without-a-slash"),
        pytest.param(["/healthz"], "/healthz/ping", False, id="below"),
        pytest.param(["/healthz"], "/healthz/", False, id="with-a-slash-at-the-end"),
        pytest.param(["/healthz*"], "/healthz/ping", True, id="prefix"),
        pytest.param(["/healthz*"], "/metrics", False, id="not-below-the-prefix"),
        pytest.param([], "/healthz", False, id="none"),
    ],
)
def test_open_paths(patterns, path, is_open):
    assert (path in OpenPaths(patterns)) == is_open


def test_a_very_long_question_is_asked_every_time():
    asked = []

    async def access_of(user, verb, path):
        asked.append(path)
        return AccessStatus(True)

    async def run():
        reviews = SimpleNamespace(access_of=access_of)
        authorizer = Authorizer(FakeClock(), AuthorizationOptions(), reviews)
        for path in ("/a" * 6000, "/short") * 2:
            assert (await authorizer.decide(ANONYMOUS, "get", path)).is_allowed

    asyncio.run(run())
    assert len(asked) == 3
