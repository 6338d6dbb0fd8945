import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.times import micro_time_text, parse_time, time_text
from podium.errors import InvalidTime


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        pytest.param("1970-01-01T00:00:00Z", 0, id="epoch"),
        pytest.param("1970-01-01T00:00:00.000000001Z", 1, id="nanosecond"),
        pytest.param("1970-01-01T00:00:01.5Z", 1_500_000_000, id="fraction"),
        pytest.param("1970-01-01T01:00:00+01:00", 0, id="east"),
        pytest.param("1969-12-31T23:30:00-00:30", 0, id="west"),
        pytest.param("1969-12-31T23:59:59Z", -1_000_000_000, id="before-epoch"),
        pytest.param("2024-02-29T12:00:00.123456789Z", 1709208000123456789, id="leap-day"),
    ],
)
def test_parse_time(text, nanoseconds):
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2024-01-01", "2024-13-01T00:00:00Z", "2024-01-01T00:00:00", "٢"]
)
def test_parse_time_refuses(text):
    with pytest.raises(InvalidTime):
        parse_time(text)


@given(st.integers(0, 10**16))
def test_what_is_written_can_be_read(microseconds):
    seconds = microseconds / 1e6

    assert parse_time(time_text(seconds)) == int(seconds) * 10**9
    assert abs(parse_time(micro_time_text(seconds)) - microseconds * 1000) <= 1000


def test_texts():
    assert time_text(1_709_208_000.9) == "2024-02-29T12:00:00Z"
    assert micro_time_text(1_709_208_000.5) == "2024-02-29T12:00:00.500000Z"
