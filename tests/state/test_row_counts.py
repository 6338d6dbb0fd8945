import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.state.row_counts import RowCounts

MOST = 20_000
close_together, far_apart = st.integers(0, 200), st.integers(0, MOST)


@given(st.lists(close_together, max_size=300) | st.lists(far_apart, max_size=300), st.data())
def test_against_a_dict(added, data):
    """Added one by one and taken away in any order: counts, rows and total follow."""
    counts, model = RowCounts(), {}
    for row in added:
        counts.add(row, 1)
        model[row] = model.get(row, 0) + 1
    for row in data.draw(st.permutations(added))[: len(added) // 2]:
        counts.add(row, -1)
        model[row] -= 1
    model = {row: count for row, count in model.items() if count}

    assert counts.items() == model
    assert sorted(counts.rows().tolist()) == sorted(model)
    assert counts.total == sum(model.values())
    out = np.full(MOST + 1, 10)
    counts.add_to(out)
    assert out.tolist() == [10 + model.get(row, 0) for row in range(MOST + 1)]


def test_few_rows_among_many_take_little_memory():
    """A group of a hundred pods in a cluster of 50,000 nodes."""
    tracemalloc.start()
    counts = RowCounts()
    for row in range(49_900, 50_000):
        counts.add(row, 1)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert counts.total == 100
    assert size < 20_000


def test_many_rows_and_back_to_none():
    counts = RowCounts()
    for amount in (1, -1):
        for row in range(1000):
            counts.add(row, amount)

    assert (counts.items(), counts.total, counts.rows().tolist()) == ({}, 0, [])


def test_amounts_larger_than_one():
    counts = RowCounts()
    counts.add(3, 5)
    counts.add(3, -2)

    assert counts.items() == {3: 3}
    assert counts.total == 3


def test_rows_beyond_the_output_have_no_count_there():
    counts = RowCounts()
    for row in range(100):
        counts.add(row, 1)
    for row in range(50, 100):
        counts.add(row, -1)
    out = np.zeros(50, np.int64)
    counts.add_to(out)

    assert out.tolist() == [1] * 50


many = st.lists(close_together, max_size=300) | st.lists(far_apart, max_size=300)


@given(many, many)
def test_all_counts_of_another_one(mine, others):
    counts, other, model = RowCounts(), RowCounts(), RowCounts()
    for row in mine:
        counts.add(row, 1)
        model.add(row, 1)
    for row in others:
        other.add(row, 1)
        model.add(row, 1)

    counts.add_all(other, 1)
    assert (counts.items(), counts.total) == (model.items(), model.total)
    counts.add(7, 1)  # the two share nothing
    assert other.total == len(others)

    counts.add_all(other, -1)
    counts.add(7, -1)
    assert counts.items() == Counter(mine)
    assert counts.total == len(mine)


@pytest.mark.parametrize("rows", [3, 40, 100], ids=["one-by-one", "at-once", "as-an-array"])
def test_counts_are_added_to_an_array(rows):
    counts, out = RowCounts(), np.ones(1000, np.int64)
    for row in range(rows):
        counts.add(9 * row, row + 1)

    counts.add_to(out)

    assert out[: 9 * rows : 9].tolist() == [row + 2 for row in range(rows)]
    assert int(out.sum()) == 1000 + counts.total
