"""The secure port asks the API server who sends a token, and what they may do."""

import asyncio
import json
import logging

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from podium.clock import FakeClock
from podium.serving.authentication import Unauthenticated
from podium.serving.guard import Guard
from podium.serving.problem_log import MOST_REPORTED, REPORT_SECONDS
from tests.support.secure_serving import MONITOR, bearer, options, with_reviewer
from tests.support.serving import Running, with_server


def test_without_delegation_only_health_answers():
    async def scenario(running):
        assert [(await running.ask(path))[0] for path in ("/healthz", "/livez", "/readyz")] == [
            200
        ] * 3
        status, text, headers = await running.ask("/metrics")
        assert (status, headers["Content-Type"]) == (403, "application/json")
        assert json.loads(text)["message"] == (
            'forbidden: User "system:anonymous" cannot get path "/metrics"'
        )
        assert (await running.ask("/metrics", headers=bearer("any")))[0] == 403
        assert (await running.ask("/nowhere"))[0] == 403

    with_server(scenario, Running().secured(options()))


@pytest.mark.parametrize(
    ("token", "path", "status"),
    [
        pytest.param("good", "/metrics", 200, id="with-rights"),
        pytest.param("poor", "/metrics", 403, id="without-rights"),
        pytest.param("wrong", "/metrics", 401, id="wrong"),
        pytest.param("wrong", "/healthz", 401, id="wrong-for-an-open-path"),
        pytest.param("master", "/anything", 404, id="of-a-master"),
        pytest.param("nameless", "/healthz", 401, id="of-nobody"),
    ],
)
def test_tokens(token, path, status, tmp_path):
    async def scenario(running, reviewer):
        reviewer.users |= {
            "poor": {"username": "poor"},
            "master": {"username": "m", "groups": ["system:masters"]},
            "nameless": {"groups": ["system:masters"]},
        }
        assert (await running.ask(path, headers=bearer(token)))[0] == status

    with_reviewer(tmp_path, scenario)


def test_answers_are_kept_for_a_while(tmp_path):
    async def scenario(running, reviewer):
        for _ in range(3):
            await running.ask("/metrics", headers=bearer("good"))
            await running.ask("/metrics", headers=bearer("wrong"))
        await asyncio.gather(*(running.ask("/configz", headers=bearer("good")) for _ in range(5)))

        asked = [(what, who) for what, who, *_ in reviewer.asked]
        assert sorted(asked) == [
            ("access", "monitor"),
            ("access", "monitor"),
            ("token", "good"),
            ("token", "wrong"),
        ]

    with_reviewer(tmp_path, scenario)


def test_without_time_to_keep_them_every_request_is_asked_about(tmp_path):
    async def scenario(running, reviewer):
        for _ in range(3):
            await running.ask("/healthz", headers=bearer("good"))
        assert len(reviewer.asked) == 3

    with_reviewer(tmp_path, scenario, cache_seconds=0.0)


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(lambda: web.Response(text="<html>"), id="no-json"),
        pytest.param(lambda: web.json_response({"kind": "Status"}), id="no-status"),
        pytest.param(
            lambda: web.json_response({"kind": "Pod", "status": {"authenticated": True}}),
            id="another-kind",
        ),
        pytest.param(
            lambda: web.json_response(
                {"kind": "TokenReview", "status": {"authenticated": "yes", "user": MONITOR}}
            ),
            id="a-text-for-a-boolean",
        ),
        pytest.param(lambda: web.json_response({}, status=403), id="forbidden"),
        pytest.param(lambda: web.Response(status=302, headers={"Location": "/"}), id="redirect"),
    ],
)
def test_a_server_that_lies_lets_nobody_in(lie, tmp_path):
    async def scenario(running, reviewer):
        reviewer.lie = lie
        for path in ("/metrics", "/healthz"):
            assert (await running.ask(path, headers=bearer("good")))[0] == 401
        assert (await running.ask("/healthz"))[0] == 200
        status, text, _ = await running.ask("/metrics")
        assert (status, text.startswith('Internal Server Error: "/metrics": ')) == (500, True)

    with_reviewer(tmp_path, scenario)


def test_a_review_that_says_both_yes_and_no_is_a_no(tmp_path):
    async def scenario(running, reviewer):
        both = {"kind": "SubjectAccessReview", "status": {"allowed": True, "denied": True}}
        reviewer.lie = lambda: web.json_response(both)
        assert (await running.ask("/metrics"))[0] == 403

    with_reviewer(tmp_path, scenario)


class Refusing:
    """Knows nobody; ``why`` says so."""

    why = ""

    async def identify(self, request):
        raise Unauthenticated(self.why)


def test_a_problem_is_logged_once_a_minute_whatever_else_happens(caplog):
    """Also if clients alternate, and however many kinds of problems they cause."""
    clock, authenticator = FakeClock(), Refusing()
    guard = Guard(clock, authenticator, None).middleware()
    caplog.set_level(logging.WARNING)

    async def refused(*reasons):
        caplog.clear()
        for authenticator.why in reasons:
            request = make_mocked_request("GET", "/metrics")
            assert (await guard(request, None)).status == 401
        return [record.getMessage().rpartition(" ")[2] for record in caplog.records]

    async def run():
        assert len(await refused("a", "b", "a", "b")) == 2
        clock.advance(REPORT_SECONDS - 1)
        assert await refused("a", "b") == []
        clock.advance(1)
        assert len(await refused("a", "a", "b")) == 2
        clock.advance(REPORT_SECONDS)
        assert len(await refused(*(str(n) for n in range(100)))) == MOST_REPORTED

    asyncio.run(run())
