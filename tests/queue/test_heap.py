"""Pods in order: the same as sorting a list, whatever was pushed, moved and removed before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.plugins.priority_sort import PrioritySort
from podium.queue.heap import PodHeap
from podium.testing.builders import pod
from tests.support.toys import Toy

NAMES = [f"p{number}" for number in range(6)]
steps = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "push", "remove", "pop"]),
        st.sampled_from(NAMES),
        st.integers(0, 2),
    ),
    max_size=60,
)


def by_number(queued):
    return queued.attempts


@given(steps=steps)
def test_like_a_sorted_list(steps):
    heap, slow, pods = PodHeap(by_number), [], {}
    for step, name, number in steps:
        key = f"default/{name}"
        if step == "push":
            queued = pods.setdefault(key, fwk.QueuedPod.of(pod(name)))
            queued.attempts = number
            heap.push(queued)
            slow.extend([] if key in slow else [key])
        elif step == "remove":
            assert heap.remove(key) is (pods[key] if key in slow else None)
            slow = [other for other in slow if other != key]
        else:
            expected = min(slow, key=lambda key: pods[key].attempts, default=None)
            popped = heap.pop()
            assert (popped and popped.key) == expected
            slow = [other for other in slow if other != expected]
        heap.check_invariants()
        assert len(heap) == len(slow)
        assert {queued.key for queued in heap} == set(slow)
        assert all((f"default/{name}" in heap) == (f"default/{name}" in slow) for name in NAMES)


def test_what_left_does_not_pile_up():
    heap, queued = PodHeap(by_number), fwk.QueuedPod.of(pod("p"))
    for attempts in range(1000):
        queued.attempts = attempts
        heap.push(queued)

    assert len(heap) == 1
    assert len(heap._heap) < 100


class NewestFirst(Toy, fwk.QueueSortPlugin):
    """Only says which of two comes first."""

    def less(self, first, second):
        return first.timestamp > second.timestamp


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        pytest.param(NewestFirst("N"), "dbca", id="less-alone-equals-as-they-came"),
        pytest.param(PrioritySort(fwk.NoArgs(), None), "bacd", id="with-a-sort-key"),
    ],
)
def test_any_queue_sort_orders(plugin, expected):
    heap = PodHeap(plugin.sort_key)
    for name, priority, timestamp in (("a", 1, 1.0), ("b", 2, 2.0), ("c", 1, 2.0), ("d", 1, 3.0)):
        heap.push(fwk.QueuedPod.of(pod(name, priority=priority), timestamp))

    heap.check_invariants()
    assert "".join(heap.pop().pod.name for _ in range(4)) == expected


numbers = st.integers(-2, 2)


@given(st.tuples(numbers, numbers), st.tuples(numbers, numbers))
def test_sort_key_says_what_less_says(first, second):
    plugin = PrioritySort(fwk.NoArgs(), None)
    one, other = (fwk.QueuedPod.of(pod(priority=p), t) for p, t in (first, second))

    assert (plugin.sort_key(one) < plugin.sort_key(other)) is plugin.less(one, other)
