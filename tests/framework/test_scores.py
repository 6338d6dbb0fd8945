import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.framework.scores import round_half_away, uniform_value, zeros

numbers = st.integers(-(10**15), 10**15)


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [(7, 2, 3), (-7, 2, -3), (6, 2, 3), (-6, 2, -3), (0, 5, 0), (-1, 5, 0), (1, 5, 0)],
)
def test_idiv_truncates(numerator, denominator, expected):
    assert fwk.idiv(numerator, denominator) == expected
    assert fwk.idiv(np.array([numerator]), denominator).tolist() == [expected]


@given(st.lists(numbers), st.integers(1, 10**6))
def test_both_forms_of_idiv_agree(values, denominator):
    array = np.array(values, np.int64)

    assert fwk.idiv(array, denominator).tolist() == [fwk.idiv(v, denominator) for v in values]


def test_idiv_takes_a_denominator_per_place():
    assert fwk.idiv(np.array([9, -9]), np.array([2, 4])).tolist() == [4, -2]


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, 0), (0.49, 0), (0.5, 1), (1.5, 2), (2.5, 3), (99.99, 100)]
)
def test_halves_go_up(value, expected):
    assert round_half_away(value) == expected
    assert round_half_away(np.array([value])).tolist() == [expected]


@pytest.mark.parametrize(
    ("scores", "reverse", "expected"),
    [
        pytest.param([1, 2, 4], False, [25, 50, 100], id="highest-becomes-top"),
        pytest.param([1, 2, 3], False, [33, 66, 100], id="cut-not-rounded"),
        pytest.param([0, 0], False, [0, 0], id="nothing-to-tell-apart"),
        pytest.param([0, 0], True, [100, 100], id="nothing-reversed"),
        pytest.param([0, 1, 3], True, [100, 67, 0], id="lowest-wins"),
        pytest.param([], False, [], id="no-nodes"),
        pytest.param([], True, [], id="no-nodes-reversed"),
        pytest.param([7, 7], False, [100, 100], id="all-equal"),
    ],
)
def test_scale(scores, reverse, expected):
    assert fwk.scale(np.array(scores, np.int64), reverse=reverse).tolist() == expected


def test_scale_to_another_top():
    assert fwk.scale(np.array([5, 10]), top=10).tolist() == [5, 10]


@given(st.lists(st.integers(0, 10**12), min_size=1), st.booleans())
def test_scaled_scores_are_in_range(scores, reverse):
    scaled = fwk.scale(np.array(scores, np.int64), reverse=reverse)

    assert 0 <= scaled.min() <= scaled.max() <= 100


def test_zeros_are_shared_and_cannot_be_changed():
    shared = zeros(3)

    assert shared.tolist() == [0, 0, 0]
    assert shared.dtype == np.int64
    assert np.shares_memory(zeros(3), shared)
    assert uniform_value(shared) == 0
    with pytest.raises(ValueError, match="read-only"):
        shared[0] = 1
