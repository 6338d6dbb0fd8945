import contextlib
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium.api import quantity
from podium.api.quantity import MAX_INT64, MIN_INT64, Style
from podium.errors import InvalidQuantity

MULTIPLIERS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "e3": Fraction(1000),
    "E-2": Fraction(1, 100),
}


def away_from_zero(amount: Fraction) -> int:
    return ceil(amount) if amount >= 0 else -ceil(-amount)


@pytest.mark.parametrize(
    ("text", "milli", "value"),
    [
        pytest.param("1n", 1, 1, id="nano"),
        pytest.param("100u", 1, 1, id="micro"),
        pytest.param("0.5m", 1, 1, id="half-a-milli"),
        pytest.param("1.5", 1500, 2, id="fraction"),
        pytest.param("0.1Gi", 107374182400, 107374183, id="binary-fraction"),
        pytest.param("1.1Ki", 1126400, 1127, id="binary-fraction-small"),
        pytest.param("1e3", 1000000, 1000, id="exponent"),
        pytest.param("1E3", 1000000, 1000, id="upper-exponent"),
        pytest.param("1k", 1000000, 1000, id="kilo"),
        pytest.param("12e6", 12000000000, 12000000, id="exponent-6"),
        pytest.param("1e-3", 1, 1, id="negative-exponent"),
        pytest.param("1E", MAX_INT64, 10**18, id="exa-not-exponent"),
        pytest.param("-1.5", -1500, -2, id="negative-away-from-zero"),
        pytest.param("9Ei", MAX_INT64, MAX_INT64, id="binary-capped"),
        pytest.param("1e30", MAX_INT64, MAX_INT64, id="clamped"),
        pytest.param("-1e30", MIN_INT64, MIN_INT64, id="clamped-below"),
        pytest.param(" 2 ", 2000, 2, id="surrounding-blanks"),
        pytest.param("010", 10000, 10, id="leading-zeros"),
        pytest.param(3, 3000, 3, id="int"),
        pytest.param(0.1, 100, 1, id="float-by-its-text"),
        pytest.param(1e21, MAX_INT64, MAX_INT64, id="big-float"),
        pytest.param("1e999999999", MAX_INT64, MAX_INT64, id="absurd-exponent"),
        pytest.param("1e-999999999", 1, 1, id="absurdly-small"),
        *(pytest.param(text, 0, 0, id=f"no-digits-{text}") for text in (".", "+", "-", "Ki", "m")),
    ],
)
def test_parse(text, milli, value):
    nano = quantity.parse(text)

    assert (quantity.milli(nano), quantity.value(nano)) == (milli, value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *(
            pytest.param(text, "must match the regular expression", id=f"format-{text!r}")
            for text in ("", " ", "1 2", "0x10", "1_000", "1.2.3", "abc", "KI", "Mb", "1e3Ki", "١")
        ),
        *(
            pytest.param(text, "unable to parse quantity's suffix", id=f"suffix-{text}")
            for text in ("K", "1K", "i", "e", "1e", "1Ki5", "--1", "1m-3", "1e99999999999999999999")
        ),
        pytest.param("1" * 5000, "unable to parse numeric part", id="too-many-digits"),
        pytest.param(float("nan"), "must match the regular expression", id="nan"),
    ],
)
def test_parse_refuses(text, reason):
    with pytest.raises(InvalidQuantity, match=reason):
        quantity.parse(text)


def test_a_long_wrong_text_is_refused_at_once():
    with pytest.raises(InvalidQuantity):
        quantity.parse("1" * 200_000 + "x")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param("0.5m", "1m", id="half"),
        pytest.param("1n", "1m", id="nano"),
        pytest.param("0.0001Ki", "103m", id="binary"),
        pytest.param("1500m", "1500m", id="exact"),
        pytest.param("-0.5m", "-1m", id="negative"),
    ],
)
def test_stored_rounds_up_to_milli(text, stored):
    assert quantity.stored(text) == quantity.parse(stored)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "1500m"),
        ("1000000", "1M"),
        ("2500000k", "2500M"),
        ("1e19", "10e18"),
        ("1.5e3", "1500"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("0.1Gi", "107374182400m"),
        ("1.1Ki", "1126400m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000Ki", "1000Ki"),
        ("8Gi", "8Gi"),
        ("9Ei", "9223372036854775807"),
        ("0.5Ki", "512"),
        ("-0", "0"),
        ("0", "0"),
        ("Ki", "0"),
        ("+1", "+1"),
        ("010", "010"),
        ("1E3", "1E3"),
        ("10000E3", "10e6"),
        ("1.Gi", "1.Gi"),
        ("1000E", "1e21"),
    ],
)
def test_canonical(text, expected):
    assert quantity.canonical(text) == expected


numbers = st.from_regex(r"[+-]?[0-9]{1,9}(\.[0-9]{0,12})?", fullmatch=True)


@given(number=numbers, suffix=st.sampled_from(sorted(MULTIPLIERS)))
@example(number="0.0000000001", suffix="n")
def test_parse_is_exact_arithmetic(number, suffix):
    exact = Fraction(number.rstrip(".")) * MULTIPLIERS[suffix]

    assert quantity.parse(number + suffix) == away_from_zero(exact * 10**9)


@given(st.integers(-(10**28), 10**28))
def test_value_and_milli_round_away_from_zero(nano):
    def clamped(number):
        return max(MIN_INT64, min(MAX_INT64, number))

    assert quantity.value(nano) == clamped(away_from_zero(Fraction(nano, 10**9)))
    assert quantity.milli(nano) == clamped(away_from_zero(Fraction(nano, 10**6)))


@given(nano=st.integers(-(10**24), 10**24), style=st.sampled_from(Style))
def test_format_can_be_read_back(nano, style):
    text = quantity.format(nano, style)

    assert quantity.parse(text) == nano
    if style is not Style.BINARY_SI or text.endswith("i"):
        # Without its suffix a binary amount is read as a decimal one, whose text may be shorter.
        assert quantity.canonical(text) == text


@given(number=numbers, suffix=st.sampled_from(sorted(MULTIPLIERS)))
def test_canonical_keeps_the_amount(number, suffix):
    text = number + suffix

    assert quantity.parse(quantity.canonical(text)) == quantity.parse(text)


@given(st.text(max_size=12) | st.from_regex(r"[-+0-9.eEinumkKMGTP]{0,10}", fullmatch=True))
def test_any_text_parses_or_is_refused(text):
    with contextlib.suppress(InvalidQuantity):
        assert isinstance(quantity.parse(text), int)
