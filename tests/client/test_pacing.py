"""The token bucket: `burst` at once, `qps` on average, first come first served. Retries."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.client.pacing import Retries, TokenBucket
from podium.clock import FakeClock, give_way
from podium.errors import ApiError, Unreachable


def test_a_burst_goes_at_once_and_the_rest_in_turn():
    bucket = TokenBucket(2, 3, FakeClock())

    assert [bucket.take() for _ in range(6)] == [0, 0, 0, 0.5, 1.0, 1.5]


def test_idle_time_fills_the_bucket_up_to_the_burst():
    clock = FakeClock()
    bucket = TokenBucket(2, 3, clock)
    for _ in range(3):
        bucket.take()

    clock.advance(3600)

    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_negative_rate_is_no_limit():
    clock = FakeClock()
    bucket = TokenBucket(-1, 0, clock)

    async def many():
        for _ in range(1000):
            waiting = asyncio.ensure_future(bucket.wait())
            await give_way()
            assert waiting.done()

    asyncio.run(many())


def test_a_rate_of_zero_is_refused():
    with pytest.raises(ValueError, match="no request would ever be sent"):
        TokenBucket(0, 10, FakeClock())


@given(
    qps=st.floats(0.1, 1000),
    burst=st.integers(1, 50),
    pauses=st.lists(st.floats(0, 2), min_size=1, max_size=60),
)
def test_no_stretch_of_time_has_more_than_its_share(qps, burst, pauses):
    clock = FakeClock(0)
    bucket = TokenBucket(qps, burst, clock)
    sent = []
    for pause in pauses:
        clock.advance(pause)
        sent.append(clock.now() + bucket.take())

    assert sent == sorted(sent)
    for first, begin in enumerate(sent):
        for last in range(first, len(sent)):
            assert last - first + 1 <= burst + qps * (sent[last] - begin) + 1e-6 * qps + 1e-6


NOT_SENT = ("cannot connect", False)


def error_of(fault):
    return Unreachable(*fault) if isinstance(fault, tuple) else ApiError("no", fault)


@pytest.mark.parametrize(
    ("faults", "may_be_done"),
    [
        pytest.param([404], False, id="refused"),
        pytest.param([NOT_SENT, NOT_SENT, NOT_SENT], False, id="never-sent"),
        pytest.param([500, 404], True, id="refused-after-a-failure"),
        pytest.param([500, NOT_SENT, NOT_SENT], True, id="not-sent-after-a-failure"),
        pytest.param([NOT_SENT, 500, 404], True, id="a-failure-between"),
    ],
)
def test_an_error_remembers_that_an_earlier_try_may_have_been_carried_out(faults, may_be_done):
    tries = iter(faults)

    async def attempt():
        raise error_of(next(tries))

    async def run():
        clock, retries = FakeClock(), Retries(tries=3, first_seconds=1, factor=1, jitter=0)
        done = retries.run(clock, attempt, lambda error: error.code in (0, 500))
        running = asyncio.ensure_future(done)
        for _ in faults:
            await give_way()
            await give_way()
            clock.advance(1)
        with pytest.raises(ApiError) as failed:
            await running
        assert failed.value.may_be_done is may_be_done
        assert next(tries, None) is None

    asyncio.run(run())
