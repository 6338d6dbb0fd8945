"""A short piece of a long day."""

import asyncio

import pytest

from podium.chaos import endurance, trial
from podium.chaos.certificates import ReplacedCertificates
from podium.clock import FakeClock, give_way


@pytest.mark.slow
def test_a_quarter_of_an_hour_of_a_long_day():
    days = []

    def build(script, clock):
        days.append(endurance.LongDay(script, clock))
        return days[-1]

    report = trial.run(endurance.draw(0.4), build)

    assert report.violations == ()
    assert report.bindings > 50
    assert days[0].reloads >= 2, "one for each scheduler"
    assert days[0].certificates.rotations >= 1


async def settle():
    for _ in range(20):
        await give_way()


def test_certificates_that_a_port_does_not_take_over_are_noticed(tmp_path):
    async def scene():
        clock = FakeClock()
        certificates = ReplacedCertificates(tmp_path, clock)
        running = asyncio.ensure_future(certificates.run())
        await settle()
        problems = [certificates.problem()]
        for _ in range(2):
            certificates.rotate()
            problems.append(certificates.problem())
            clock.advance(2)
            await settle()
            problems.append(certificates.problem())
        running.cancel()
        return problems

    before = "a new connection gets the certificate before"
    assert asyncio.run(scene()) == ["", before, "", before, ""]
