"""A little of the fuzz; `make fuzz-apiserver` runs a lot of it."""

import asyncio

import pytest

from tests.support.apiserver_fuzz import run_fuzz

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [11, 12])
def test_a_few_hundred_requests(seed):
    failures, codes = asyncio.run(run_fuzz(500, seed))

    assert failures == []
    assert codes[200] > 20
    assert codes[201] > 5
    assert codes["watch"] > 5
