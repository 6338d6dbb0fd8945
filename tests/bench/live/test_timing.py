"""Rates and waits of measured pods."""

import pytest

from podium.bench.live.timing import Times
from podium.bench.live.usage import Usage
from podium.bench.measure import Reference


@pytest.fixture
def reference():
    made = Reference(1)
    made.measure()
    return made


def test_rates_and_waits(reference):
    times = Times()
    bound = [10 + 0.5 * number for number in range(1, 12)]  # two a second
    times.add([10.0] * 11, bound)

    result = times.result("Case/Small", 5, Usage(1.5, 2_000), reference)

    assert result.pods_per_second == 2.0
    assert result.steady_pods_per_second == 2.0
    assert result.bind_p50_ms == 3000.0
    assert result.bind_p99_ms == pytest.approx(5500.0, rel=0.02)
    assert (result.pods, result.nodes) == (11, 5)
    assert (result.scheduler_cpu_seconds, result.peak_memory_bytes) == (1.5, 2_000)


def test_a_straggler_does_not_change_the_steady_rate(reference):
    times = Times()
    times.add([0.0] * 21, [*range(1, 21), 1000])

    result = times.result("Case/Small", 5, None, reference)

    assert result.steady_pods_per_second == 1.0
    assert result.pods_per_second < 0.1


def test_operations_add_up_and_pauses_between_them_do_not(reference):
    times = Times()
    times.add([0.0, 0.0], [1.0, 2.0])
    times.add([100.0, 100.0], [101.0, 102.0])

    assert times.result("Case/Small", 5, None, reference).pods_per_second == 1.0


def test_pods_that_exist_before_wait_since_the_beginning(reference):
    times = Times()
    times.add([0.0, 1.0, 2.0], [11.0, 12.0, 13.0], begun=10.0)

    result = times.result("Case/Small", 5, None, reference)

    assert result.pods_per_second == 1.0
    assert (result.bind_p50_ms, result.created_pods_per_second) == (2000.0, 1.5)


def test_nothing_measured_is_no_fault(reference):
    result = Times().result("Case/Empty", 0, None, reference)

    assert (result.pods_per_second, result.bind_p99_ms) == (0.0, 0.0)
    assert result.scheduler_cpu_seconds is None
