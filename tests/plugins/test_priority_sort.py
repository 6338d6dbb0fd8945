import pytest

from podium import framework as fwk
from podium.plugins.priority_sort import PrioritySort
from podium.testing.builders import pod


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param((10, 5.0), (1, 2.0), True, id="higher-priority-first"),
        pytest.param((1, 2.0), (10, 5.0), False, id="lower-priority-later"),
        pytest.param((1, 2.0), (1, 5.0), True, id="earlier-first"),
        pytest.param((1, 5.0), (1, 2.0), False, id="later-last"),
        pytest.param((1, 2.0), (1, 2.0), False, id="equal-are-not-less"),
        pytest.param((None, 2.0), (-1, 1.0), True, id="no-priority-is-0"),
    ],
)
def test_less(first, second, expected):
    one, other = (
        fwk.QueuedPod.of(pod(priority=priority), timestamp)
        for priority, timestamp in (first, second)
    )

    assert PrioritySort(fwk.NoArgs(), None).less(one, other) is expected
