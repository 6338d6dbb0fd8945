"""A clock that is not the API server's is reported, and nothing else is."""

from email.utils import formatdate

import pytest

from podium.client.clock_check import LOOK_SECONDS, TOLERATED_SECONDS, ClockCheck
from podium.client.http import Connection, Options
from podium.clock import FakeClock
from tests.support.client import with_world

HOUR = 3600.0


@pytest.fixture
def check():
    made = ClockCheck(FakeClock(), "https://api")
    made.clock = made._clock
    return made


def look(check, ahead=0.0, took=0.0):
    """Let an answer arrive while our clock is ahead, ``took`` seconds after the request."""
    sent_at = check.clock.now()
    check.clock.advance(took)
    check.look(sent_at, formatdate(sent_at - ahead, usegmt=True).lower().encode())


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        pytest.param(HOUR, "s ahead of the API server's", id="ahead"),
        pytest.param(-HOUR, "s behind the API server's", id="behind"),
    ],
)
def test_a_clock_that_is_off_is_reported_once(check, caplog, ahead, words):
    for _ in range(3):
        look(check, ahead)
        check.clock.advance(LOOK_SECONDS)

    assert caplog.text.count(words) == 1
    assert "Set the machine's clock by NTP and restart this process" in caplog.text


def test_it_is_reported_again_after_it_was_right(check, caplog):
    for ahead in (HOUR, 0.0, -HOUR):
        look(check, ahead)
        check.clock.advance(LOOK_SECONDS)

    assert caplog.text.count("the API server's") == 2


def test_answers_are_compared_now_and_then(check, caplog):
    look(check)
    look(check, HOUR)

    assert not caplog.text


@pytest.mark.parametrize(
    ("ahead", "took"),
    [
        pytest.param(TOLERATED_SECONDS, 0.0, id="a-little-ahead"),
        pytest.param(-TOLERATED_SECONDS, 0.0, id="a-little-behind"),
        pytest.param(0.0, HOUR, id="suspended-before-it-was-read"),
        pytest.param(-HOUR, HOUR, id="answered-late"),
    ],
)
def test_what_may_be_right_is_not_reported(check, caplog, ahead, took):
    look(check, ahead, took)

    assert not caplog.text


@pytest.mark.parametrize("date", [b"", b"yesterday", b"\xff", b"wed, 99 nov 2026 25:00:00 gmt"])
def test_no_time_is_no_news(check, caplog, date):
    check.look(check.clock.now(), date)

    assert not caplog.text


@with_world
async def test_a_connection_compares_the_times_of_answers(world, caplog):
    """The server answers at the real time, which is not that of the fake clock."""
    options = Options(qps=-1, checks_clock=True)
    async with Connection(world.connection.endpoint, world.clock, options) as connection:
        for _ in range(2):
            await connection.get("/api/v1/nodes")

    assert caplog.text.count("s behind the API server's") == 1
