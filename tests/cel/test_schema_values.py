"""JSON of custom resources as values, and lists in which order does not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.cel.arithmetic import add
from podium.cel.schema_values import to_value
from podium.cel.values import Duration, KeyedList, Timestamp, contains, equal, size
from podium.errors import EvaluationError
from podium.release import LATEST

HOUR = 3600 * 10**9
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a-b", "c"],
    "items": {"type": "object", "properties": {"a-b": {"type": "string"}, "c": {}}},
}


def text(form):
    return {"type": "string", "format": form}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        pytest.param(1, {"type": "number"}, 1.0, id="whole-number"),
        pytest.param("1h", text("duration"), Duration(HOUR), id="duration"),
        pytest.param("2 days 1 hr", text("duration"), Duration(49 * HOUR), id="period"),
        pytest.param("1970-01-02", text("date"), Timestamp(24 * HOUR), id="date"),
        pytest.param("1970-01-01T01:00:00Z", text("date-time"), Timestamp(HOUR), id="time"),
        pytest.param("_-8=", text("byte"), b"\xff\xef", id="bytes"),
        pytest.param("x", text("uuid"), "x", id="other-format"),
        pytest.param(None, {"type": "string", "nullable": True}, None, id="null"),
        pytest.param(
            {"a-b": 1, "c": None},
            {"type": "object", "properties": {"a-b": {"type": "integer"}, "c": {}}},
            {"a__dash__b": 1},
            id="object",
        ),
        pytest.param(
            {"a-b": None},
            {"type": "object", "additionalProperties": {"type": "string", "nullable": True}},
            {"a-b": None},
            id="map",
        ),
        pytest.param({"x": [1]}, {"type": "object"}, {"x": [1]}, id="unknown-fields"),
    ],
)
def test_conversions(value, schema, expected):
    found = to_value(value, schema, LATEST)

    assert equal(found, expected)
    assert type(found) is type(expected) or isinstance(found, dict)


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        ("soon", text("date"), "Invalid date formatted string soon"),
        ("2024-13-01", text("date"), "Invalid date formatted string 2024-13-01"),
        ("soon", text("date-time"), "Invalid date-time formatted string soon"),
        ("long", text("duration"), "Invalid duration long"),
        ("+/+/", text("byte"), r"Invalid byte formatted string \+/\+/"),
        ("x", {"type": "integer"}, "invalid data, expected integer"),
        ([1], {"type": "object"}, "invalid data, expected object"),
    ],
)
def test_what_cannot_be_converted(value, schema, message):
    with pytest.raises(EvaluationError, match=message):
        to_value(value, schema, LATEST)


def test_a_keyword_is_found_under_both_names():
    schema = {"type": "object", "properties": {"namespace": {"type": "string"}}}
    found = to_value({"namespace": "x"}, schema, LATEST)

    assert found["namespace"] == found["__namespace__"] == "x"
    with pytest.raises(KeyError):
        found["in"]


def test_elements_with_equal_keys_are_the_same():
    one = [{"a-b": "x", "c": 1}, {"a-b": "y", "c": 2}]
    left = to_value(one, KEYED, LATEST)
    other = to_value(one[::-1], KEYED, LATEST)

    assert equal(left, other)
    assert not equal(left, to_value([one[0], {"a-b": "y", "c": 3}], KEYED, LATEST))
    assert equal(add(left, other), left)
    changed = to_value([{"a-b": "x", "c": 1, "d": "new"}], KEYED, LATEST)
    assert list(add(left, changed)) == [{"a__dash__b": "x", "c": 1, "d": "new"}, left[1]]


def test_elements_of_a_set_are_scalars():
    with pytest.raises(EvaluationError, match="only supported on lists of scalar values"):
        equal(KeyedList([[1]]), [[1]])


scalars = st.one_of(st.booleans(), st.integers(), st.text(max_size=3), st.floats(allow_nan=False))


@given(st.lists(scalars, unique_by=lambda one: (type(one), one)), st.randoms())
def test_a_set_has_no_order(items, random):
    shuffled = random.sample(items, len(items))

    assert equal(KeyedList(items), shuffled)
    assert equal(add(KeyedList(items), shuffled), KeyedList(items))
    assert size(KeyedList(items)) == len(items)
    assert all(contains(KeyedList(items), item) for item in items)


def test_a_plain_list_on_the_left_has_an_order():
    assert not equal([1, 2], KeyedList([2, 1]))
    assert add([1], KeyedList([1])) == [1, 1]
