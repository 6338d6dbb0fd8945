"""Arithmetic, comparisons and texts, against slow models in plain Python."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium.cel import BASE, compile_expression, types
from podium.cel.values import MAX_INT, MAX_UINT, MIN_INT, UInt, equal
from podium.errors import EvaluationError

ENVIRONMENT = BASE.with_variables({"x": types.DYN, "y": types.DYN, "z": types.DYN})
INTS = st.integers(MIN_INT, MAX_INT) | st.sampled_from([0, 1, -1, MIN_INT, MAX_INT])
UINTS = st.integers(0, MAX_UINT).map(UInt)


def evaluate(text, **values):
    return compile_expression(text, ENVIRONMENT, 10_000_000).program.evaluate(values)


def truncated(left, right):
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) is (right < 0) else -quotient


MODELS = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": truncated,
    "%": lambda left, right: left - truncated(left, right) * right,
}


@pytest.mark.parametrize("operator", MODELS)
@given(left=INTS, right=INTS)
@example(left=MIN_INT, right=-1)
def test_integers_overflow(operator, left, right):
    zero = {"/": "division by zero", "%": "modulus by zero"}
    try:
        found = evaluate(f"x {operator} y", x=left, y=right)
    except EvaluationError as error:
        found = str(error)
    if right == 0 and operator in zero:
        assert found == zero[operator]
        return
    expected = MODELS[operator](left, right)
    overflows = not MIN_INT <= expected <= MAX_INT or (
        operator == "%" and left == MIN_INT and right == -1
    )
    assert found == ("integer overflow" if overflows else expected)


@pytest.mark.parametrize("operator", ["+", "-", "*"])
@given(left=UINTS, right=UINTS)
def test_unsigned_integers_overflow(operator, left, right):
    expected = MODELS[operator](int(left), int(right))
    try:
        found = evaluate(f"x {operator} y", x=left, y=right)
    except EvaluationError as error:
        found = str(error)
    if 0 <= expected <= MAX_UINT:
        assert (type(found), found) == (UInt, expected)
    else:
        assert found == "unsigned integer overflow"


NUMBERS = INTS | UINTS | st.floats(allow_nan=False)


@given(left=NUMBERS, right=NUMBERS)
def test_numbers_of_different_types_are_ordered_as_one(left, right):
    less, equals, greater = (evaluate(f"x {sign} y", x=left, y=right) for sign in ("<", "==", ">"))

    assert [less, equals, greater].count(True) == 1
    assert evaluate("x <= y", x=left, y=right) is not greater
    assert evaluate("y == x", x=left, y=right) is equals


SCALARS = st.none() | st.booleans() | INTS | UINTS | st.floats() | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(left=VALUES, right=VALUES)
def test_equality_is_symmetric_and_the_opposite_of_inequality(left, right):
    assert equal(left, right) is equal(right, left)
    assert evaluate("x != y", x=left, y=right) is not equal(left, right)
    assert evaluate("x in [y]", x=left, y=right) is equal(left, right)


def test_bools_are_not_numbers():
    both = "{dyn(true): 'a', dyn(1): 'b'}"
    assert evaluate(
        f"{both}[true] == 'a' && {both}[1] == 'b' && {both}.map(k, k) == [dyn(true), dyn(1)]"
    )
    assert evaluate("x == y", x=True, y=1) is False
    assert evaluate("x in {1: 2}", x=True) is False
    assert evaluate("[x].exists(v, v == 1)", x=True) is False


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@given(text=TEXTS, part=TEXTS, offset=st.integers(0, 10))
@example(text="日本語日本", part="日", offset=1)
@example(text="a\u0301", part="\u0301", offset=0)
def test_texts_are_made_of_characters(text, part, offset):
    assert evaluate("x.size()", x=text) == len(text)
    assert evaluate("x.indexOf(y)", x=text, y=part) == text.find(part)
    assert evaluate("x.lastIndexOf(y)", x=text, y=part) == text.rfind(part)
    assert evaluate("x.contains(y)", x=text, y=part) is (part in text)
    assert evaluate("x.split(y).join(y) == x", x=text, y=part or "-")
    assert evaluate("string(bytes(x)) == x", x=text)
    if offset <= len(text):
        assert evaluate("x.substring(y)", x=text, y=offset) == text[offset:]
        assert evaluate("x.charAt(y)", x=text, y=offset) == text[offset : offset + 1]


@given(text=TEXTS)
def test_a_quoted_text_reads_as_the_same_text(text):
    quoted = evaluate("strings.quote(x)", x=text)

    assert evaluate(quoted) == text


@given(text=TEXTS)
def test_only_ascii_letters_change_case(text):
    assert evaluate("x.upperAscii()", x=text) == "".join(
        char.upper() if char.isascii() else char for char in text
    )


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_reads_as_the_same_double(value):
    text = evaluate("string(x)", x=value)

    assert float(text) == value
    assert evaluate("double(string(x))", x=value) == value
    assert math.copysign(1, float(text)) == math.copysign(1, value)


@given(items=st.lists(INTS, max_size=8))
def test_lists(items):
    assert evaluate("x.sort()", x=items) == sorted(items)
    assert evaluate("x.isSorted()", x=items) is (items == sorted(items))
    assert evaluate("x.reverse()", x=items) == items[::-1]
    assert evaluate("x.distinct()", x=items) == list(dict.fromkeys(items))
    assert evaluate("x.filter(i, i > 0).map(i, i / 2)", x=items) == [i // 2 for i in items if i > 0]
    assert evaluate("x.sortBy(i, i % 3).size() == x.size()", x=items)
