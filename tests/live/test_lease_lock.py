"""A record of the election as a Lease of the API says it."""

import pytest

from podium.api.objects import LeaseSpec
from podium.live.election import Record
from podium.live.lease_lock import record_of, spec_of


def test_times_are_written_with_microseconds():
    spec = spec_of(Record("me", 15, 1_700_000_000.123456, 1_700_000_001.0, 2))

    assert spec.acquire_time == "2023-11-14T22:13:20.123456Z"
    assert spec.renew_time == "2023-11-14T22:13:21.000000Z"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(Record("me", 15, 1_700_000_000.5, 1_700_000_001.25, 2), id="held"),
        pytest.param(Record("", 1, 1.0, 1.0, 0), id="released"),
        pytest.param(Record("me", 15, None, None, 0), id="without-times"),
    ],
)
def test_a_record_survives_the_api(record):
    assert record_of(spec_of(record)) == record


def test_a_lease_that_says_nothing_is_held_by_nobody():
    assert record_of(LeaseSpec()) == Record("", 0, None, None, 0)
