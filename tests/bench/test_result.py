"""Figures: the median of runs, and the lines they print as."""

import msgspec
import pytest

from podium.bench.measure import Meter, Reference
from podium.bench.report import IN_PROCESS, LIVE, Table
from podium.bench.result import LiveResult, Result, median_of, of_run
from podium.bench.thresholds import Threshold, with_threshold

RESULT = Result(
    name="Basic/500Nodes",
    nodes=500,
    pods=1000,
    pods_per_second=5000.0,
    cycle_p50_us=100.0,
    cycle_p99_us=300.0,
    cycle_mean_us=120.0,
    gc_pause_max_us=50.0,
    peak_memory_bytes=64_000_000,
    reference_us=10.0,
)
LIVE_RESULT = LiveResult(
    name="Basic/500Nodes",
    nodes=500,
    pods=1000,
    pods_per_second=400.0,
    steady_pods_per_second=450.0,
    created_pods_per_second=500.0,
    bind_p50_ms=80.0,
    bind_p99_ms=300.0,
    watch_breaks=0,
    scheduler_cpu_seconds=1.25,
    peak_memory_bytes=64_000_000,
    reference_us=10.0,
)


def test_median_is_by_field():
    faster = msgspec.structs.replace(RESULT, cycle_p50_us=80.0, cycle_p99_us=900.0)
    slower = msgspec.structs.replace(RESULT, cycle_p50_us=200.0, cycle_p99_us=400.0)

    middle = median_of([slower, faster, RESULT])

    assert (middle.cycle_p50_us, middle.cycle_p99_us) == (100.0, 400.0)
    assert middle.name == RESULT.name


def test_of_run_counts_measured_cycles_only():
    meter, reference = Meter(), Reference(10)
    reference.measure()
    meter.attempt("uid-a", 7_000, unfinished=False)
    with meter.measuring(2):
        meter.attempt("uid-b", 1_000, unfinished=False)
        meter.attempt("uid-c", 3_000, unfinished=False)

    result = of_run("Case/Small", 10, meter, reference)

    assert (result.pods, result.cycle_p50_us, result.cycle_mean_us) == (2, 2.0, 2.0)


def test_an_evicting_cycle_counts_with_the_placing_one():
    meter = Meter()
    with meter.measuring(1):
        meter.attempt("uid-a", 5_000, unfinished=True)
        meter.attempt("uid-b", 1_000, unfinished=False)
        meter.attempt("uid-a", 2_000, unfinished=False)

    assert list(meter.cycles) == [1_000, 7_000]


def test_nothing_measured_is_no_fault():
    reference = Reference(0)
    reference.measure()

    assert of_run("Case/Empty", 0, Meter(), reference).pods_per_second == 0.0


@pytest.mark.parametrize("name", ["Basic/500Nodes", "A/1"])
def test_table_lines_are_aligned(name):
    table = Table(["Basic/500Nodes", "A/1"], IN_PROCESS)

    line = table.row(msgspec.structs.replace(RESULT, name=name))

    assert len(line) == len(table.header())
    assert line.split() == [name, "5,000", "100", "300", "120", "12.00", "50", "64"]


@pytest.mark.parametrize(("threshold", "word"), [(300.0, "reached"), (1e6, "missed")])
def test_a_threshold_follows_the_line(threshold, word):
    result = with_threshold(LIVE_RESULT, Threshold(threshold))

    line = Table(["Basic/500Nodes"], LIVE).row(result)

    assert line.endswith(f"  threshold {threshold:g} {word}")


def test_live_lines_are_aligned():
    table = Table(["Basic/500Nodes"], LIVE)

    line = table.row(LIVE_RESULT)

    assert len(line) == len(table.header())
    assert line.split()[1:] == ["400", "450", "500", "80", "300", "0", "1.25", "64"]


def test_what_nobody_knows_is_a_dash():
    unknown = msgspec.structs.replace(
        LIVE_RESULT, scheduler_cpu_seconds=None, peak_memory_bytes=None
    )

    assert Table(["Basic/500Nodes"], LIVE).row(unknown).split()[-2:] == ["-", "-"]


def test_what_one_run_cannot_tell_is_told_by_none():
    unknown = msgspec.structs.replace(LIVE_RESULT, scheduler_cpu_seconds=None)

    middle = median_of([LIVE_RESULT, unknown, LIVE_RESULT])

    assert middle.scheduler_cpu_seconds is None
    assert middle.peak_memory_bytes == 64_000_000


def test_one_inexact_run_is_told():
    broken = msgspec.structs.replace(LIVE_RESULT, watch_breaks=2)

    assert median_of([LIVE_RESULT, broken, LIVE_RESULT]).watch_breaks == 2
