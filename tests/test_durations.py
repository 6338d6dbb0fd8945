"""Go's durations, by its own examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("15s", 15.0, id="seconds"),
        pytest.param("1m30s", 90.0, id="minutes-and-seconds"),
        pytest.param("15m0s", 900.0, id="as-go-prints-it"),
        pytest.param("100ms", 0.1, id="milliseconds"),
        pytest.param("1.5h", 5400.0, id="fraction"),
        pytest.param(".5s", 0.5, id="no-leading-digit"),
        pytest.param("3µs", 3e-06, id="micro-sign"),
        pytest.param("3μs", 3e-06, id="greek-mu"),
        pytest.param("0", 0.0, id="zero-needs-no-unit"),
        pytest.param("-2s", -2.0, id="negative"),
        pytest.param("+2s", 2.0, id="signed"),
    ],
)
def test_parse(text, seconds):
    assert durations.parse(text) == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", 'time: invalid duration ""', id="empty"),
        pytest.param("15", 'time: missing unit in duration "15"', id="no-unit"),
        pytest.param("1m30", 'time: missing unit in duration "1m30"', id="last-part-without-unit"),
        pytest.param("1d", 'time: unknown unit "d" in duration "1d"', id="days"),
        pytest.param("s", 'time: invalid duration "s"', id="no-number"),
        pytest.param("-", 'time: invalid duration "-"', id="sign-only"),
        pytest.param("1 s", 'time: unknown unit " s" in duration "1 s"', id="space"),
        pytest.param("9999999h", 'time: invalid duration "9999999h"', id="over-64-bits"),
        pytest.param("٣s", 'time: invalid duration "٣s"', id="other-digits"),
    ],
)
def test_parse_refuses(text, message):
    with pytest.raises(ValueError, match="time:") as error:
        durations.parse(text)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (15, "15s"),
        (90, "1m30s"),
        (900, "15m0s"),
        (3600, "1h0m0s"),
        (0.1, "100ms"),
        (1.5, "1.5s"),
        (0.0015, "1.5ms"),
        (2e-6, "2µs"),
        (1e-9, "1ns"),
        (-2.5, "-2.5s"),
    ],
)
def test_format(seconds, text):
    assert durations.format(seconds) == text


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_what_is_printed_can_be_read(nanoseconds):
    seconds = nanoseconds / 1e9

    assert durations.parse(durations.format(seconds)) == pytest.approx(seconds, abs=1e-9)
