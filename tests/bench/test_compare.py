"""Schedulers in turns: their order, their ratios, and those that fail."""

import pytest

from podium.bench.compare import Turns
from podium.bench.report import ComparisonTable
from podium.errors import WorkloadFailed
from tests.support.live_results import result


class Schedulers:
    """Gives out results by name, and notes the order of the runs."""

    def __init__(self, **results):
        self.results = {name: list(found) for name, found in results.items()}
        self.order = []

    def measure(self, name):
        self.order.append(name)
        found = self.results[name].pop(0)
        if isinstance(found, str):
            raise WorkloadFailed(found)
        return found

    def compare(self, rounds):
        return Turns(list(self.results), self.measure).run("Case/Small", rounds)


def test_every_second_round_goes_the_other_way():
    schedulers = Schedulers(podium=[result()] * 3, other=[result()] * 3)

    schedulers.compare(3)

    assert schedulers.order == ["podium", "other", "other", "podium", "podium", "other"]


def test_ratios_are_those_of_the_medians():
    schedulers = Schedulers(
        podium=[result(300, 1), result(500, 2), result(400, 9)],
        other=[result(100, 8), result(90, 8), result(200, 8)],
    )

    podium, other = schedulers.compare(3).schedulers

    assert (podium.pods_per_second_ratio, podium.cpu_seconds_ratio) == (1.0, 1.0)
    assert (other.pods_per_second_ratio, other.cpu_seconds_ratio) == (4.0, 0.25)
    assert [run.pods_per_second for run in other.runs] == [100, 90, 200]


def test_unknown_cpu_has_no_ratio():
    comparison = Schedulers(podium=[result()], other=[result(cpu_seconds=None)]).compare(1)

    assert comparison.schedulers[1].cpu_seconds_ratio is None
    assert comparison.schedulers[1].pods_per_second_ratio == 1.0


@pytest.mark.parametrize("failing", ["podium", "other"])
def test_a_scheduler_that_fails_is_left_out_and_the_other_goes_on(failing):
    results = {"podium": [result()] * 3, "other": [result()] * 3}
    results[failing] = [result(), "it died"]
    schedulers = Schedulers(**results)

    comparison = schedulers.compare(3)

    assert comparison.failures == [f"Case/Small: {failing}: it died"]
    assert schedulers.order.count(failing) == 2
    (other,) = (one for one in comparison.schedulers if one.scheduler != failing)
    assert len(other.runs) == 3
    assert other.median is not None


def test_the_table_has_a_line_for_each_scheduler():
    comparison = Schedulers(podium=[result(1234, 0.5)], other=["it died"]).compare(1)
    table = ComparisonTable(["Case/Small"], ["podium", "other"])

    lines = [table.header(), *table.row(comparison).splitlines()]

    titles = "workload scheduler pods/s ratio steady/s created/s p99 ms CPU s ratio memory MB"
    assert " ".join(lines[0].split()) == titles
    assert [line.split() for line in lines[1:]] == [
        ["Case/Small", "podium", "1,234", "1.00", "1,234", "500", "2", "0.50", "1.00", "1"],
        ["Case/Small", "other", *"--------"],
    ]
    assert len(set(map(len, lines))) == 1
