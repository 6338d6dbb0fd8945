import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.state.column import Column, Interned, grown, packed


def test_equal_objects_are_stored_once():
    column = Column.of(["x", "y", "x"])

    assert column.values == ["x", "y"]
    assert column.index.tolist() == [0, 1, 0]
    assert (list(column), len(column)) == (["x", "y", "x"], 3)


def test_no_objects():
    column = Column.of([])

    assert (list(column), len(column)) == ([], 0)
    assert column.map(str).to_array(np.bool_).tolist() == []


def test_uniform_and_where():
    assert list(Column.uniform("x", 3)) == ["x"] * 3
    assert list(Column.where(np.array([True, False]), "yes", "no")) == ["yes", "no"]


def test_each_distinct_object_is_judged_once():
    judged = []
    column = Column.of([3, 4, 3, 3]).map(lambda value: judged.append(value) or value * 2)

    assert judged == [3, 4]
    assert column.to_array(np.int64).tolist() == [6, 8, 6, 6]


@given(st.integers(1, 14).flatmap(lambda bits: st.lists(st.integers(0, 2**bits - 1)).map(
    lambda numbers: (bits, numbers))))  # fmt: skip
def test_packed_is_one_number_per_row(drawn):
    bits, numbers = drawn
    array = np.array(numbers, np.int64)
    flags = [(array >> place & 1).astype(np.bool_) for place in range(bits)]

    column = packed(flags)

    assert list(column) == numbers
    assert sorted(column.values) == sorted(set(numbers))


def test_interned_objects_are_numbered():
    column = Interned(())
    column.grow(3)
    for row, value in enumerate([("a",), (), ("a",)]):
        column.set(row, value)

    assert [column.values[number] for number in column.numbers] == [("a",), (), ("a",)]
    assert column.numbers[0] == column.numbers[2]


def test_interned_objects_that_nobody_has_make_room():
    column = Interned(())
    column.grow(2)
    for number in range(1000):
        column.set(0, (number,))

    assert column.values[column.numbers[0]] == (999,)
    assert column.values[column.numbers[1]] == ()
    assert len(column.values) < 10


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4))))
def test_interned_against_a_list(writes):
    column, model = Interned(0), [0] * 4
    column.grow(2)
    column.grow(4)
    for row, value in writes:
        column.set(row, value)
        model[row] = value

        assert [column.values[number] for number in column.numbers.tolist()] == model


@pytest.mark.parametrize(("shape", "fill"), [((2,), 7), ((3, 2), 0)])
def test_grown_keeps_what_was_there(shape, fill):
    array = np.arange(np.prod(shape)).reshape(shape)
    larger = grown(array, 5, fill)

    assert larger.shape == (*shape[:-1], 5)
    assert np.array_equal(larger[..., :2], array)
    assert (larger[..., 2:] == fill).all()
