"""The token bucket: `burst` at once, `qps` on average, first come first served."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.client.pacing import TokenBucket
from podium.clock import FakeClock, give_way


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
