"""CPU time and memory of a process."""

import os

import pytest

from podium.bench.live.usage import Usage, usage_of, usage_of_children

TICKS = os.sysconf("SC_CLK_TCK")


def test_a_process_as_the_system_tells(tmp_path):
    (tmp_path / "7").mkdir()
    fields = ["S", *(str(number) for number in range(1, 11)), str(3 * TICKS), str(TICKS), "99"]
    (tmp_path / "7" / "stat").write_text(f"7 (odd ) name) {' '.join(fields)}")
    (tmp_path / "7" / "status").write_text("Name:\todd\nVmPeak:\t 9 kB\nVmHWM:\t  20 kB\n")

    assert usage_of(7, tmp_path) == Usage(4.0, 20 * 1024)


def test_nobody_is_nothing(tmp_path):
    assert usage_of(7, tmp_path) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_this_process():
    used = usage_of(os.getpid())

    assert used.cpu_seconds > 0
    assert used.peak_memory_bytes > 1_000_000


def test_children_are_never_less_than_nothing():
    assert usage_of_children() >= Usage(0.0, 0)
