"""Convert resource quantities such as "100m" and "1Gi" to exact integers and back.

A parsed quantity is an int that counts nano units, the finest unit that a quantity can have. Sums,
maxima and comparisons are therefore exact; only ``value`` and ``milli`` round, and only totals.
"""

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from podium.errors import InvalidQuantity

NANO = 10**9
MILLI = 10**6
MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)

_WRONG_FORMAT = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_WRONG_NUMBER = "unable to parse numeric part of quantity"
_WRONG_SUFFIX = "unable to parse quantity's suffix"

# As loose as upstream's parser, unlike the expression in its message: digits may be missing.
# Possessive, because a long text that is wrong at its end would take quadratic time otherwise.
_GRAMMAR = re.compile(r"([+-]?+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)")
_EXPONENT = re.compile("[eE]([+-]?[0-9]{1,18})")
# Far more than int64 holds, and small enough to compute with.
_MAX_DIGITS = 1000
_MAX_EXPONENT = 2000

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIXES = ("", *_BINARY)


class Style(Enum):
    """How a quantity is written; remembered from its suffix."""

    DECIMAL_SI = "DecimalSI"
    DECIMAL_EXPONENT = "DecimalExponent"
    BINARY_SI = "BinarySI"


class _Parts(NamedTuple):
    """A parsed text: ``±digits × 10^-decimals × base^exponent``."""

    sign: int
    digits: str
    decimals: int
    base: int
    exponent: int
    style: Style


@lru_cache(maxsize=65536)
def parse(quantity: str | int | float) -> int:
    """Return the exact amount in nano units; a finer fraction is rounded up, away from zero."""
    if isinstance(quantity, int):
        return quantity * NANO
    parts = _take_apart(str(quantity).strip())
    amount = int(parts.digits) * NANO * int(parts.base ** max(0, parts.exponent))
    divisor = int(10**parts.decimals) * int(parts.base ** max(0, -parts.exponent))
    amount = -(-amount // divisor)
    if parts.style is Style.BINARY_SI:
        amount = min(amount, MAX_INT64 * NANO)
    return parts.sign * amount


@lru_cache(maxsize=65536)
def stored(quantity: str | int | float) -> int:
    """Return nano units as the API server stores them: rounded up to milli units."""
    return _ceil(parse(quantity), MILLI) * MILLI


@lru_cache(maxsize=65536)
def value(nano: int) -> int:
    """Return whole units, rounded up (away from zero), within int64."""
    return _clamped(_ceil(nano, NANO))


@lru_cache(maxsize=65536)
def milli(nano: int) -> int:
    """Return thousandths, rounded up (away from zero), within int64."""
    return _clamped(_ceil(nano, MILLI))


def canonical(quantity: str | int | float) -> str:
    """Return the text as the API server shows it, which echoes what looks canonical to it."""
    text = str(quantity).strip()
    parts = _take_apart(text)
    return text if _is_echoed(parts) else format(parse(text), parts.style)


def style(quantity: str | int | float) -> Style:
    """Return how a quantity is written."""
    return _take_apart(str(quantity).strip()).style


def plus(left: str | int | None, right: str | int) -> str:
    """Return a sum as text, written as its first part is; without a first part, the second."""
    if left is None:
        return canonical(right)
    return format(parse(left) + parse(right), _take_apart(str(left).strip()).style)


def format(nano: int, style: Style = Style.DECIMAL_SI) -> str:
    """Return the canonical text of an amount."""
    if nano == 0:
        return "0"
    if style is Style.BINARY_SI and abs(nano) >= 1024 * NANO and nano % NANO == 0:
        return _binary_text(nano // NANO)
    return _decimal_text(nano, style)


def _ceil(amount: int, unit: int) -> int:
    return -(-amount // unit) if amount >= 0 else amount // unit


def _clamped(number: int) -> int:
    if MIN_INT64 <= number <= MAX_INT64:
        return number
    return MAX_INT64 if number > 0 else MIN_INT64


def _take_apart(text: str) -> _Parts:
    match = _GRAMMAR.fullmatch(text)
    if not text or match is None:
        raise InvalidQuantity(_WRONG_FORMAT)
    sign, whole, fraction, suffix = match.groups(default="")
    digits = (whole.lstrip("0") or "0") + fraction
    if len(digits) > _MAX_DIGITS:
        raise InvalidQuantity(_WRONG_NUMBER)
    base, exponent, style = _interpret(suffix)
    return _Parts(-1 if sign == "-" else 1, digits, len(fraction), base, exponent, style)


def _interpret(suffix: str) -> tuple[int, int, Style]:
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], Style.DECIMAL_SI
    if suffix in _BINARY:
        return 2, _BINARY[suffix], Style.BINARY_SI
    match = _EXPONENT.fullmatch(suffix)
    if match is None:
        raise InvalidQuantity(_WRONG_SUFFIX)
    exponent = max(-_MAX_EXPONENT, min(_MAX_EXPONENT, int(match[1])))
    return 10, exponent, Style.DECIMAL_EXPONENT


def _is_echoed(parts: _Parts) -> bool:
    """Whether the API server's fast path takes the text for canonical, as it does too often."""
    length = len(parts.digits)
    if parts.style is Style.BINARY_SI:
        fits = length + parts.exponent * 3 // 10 + 1 <= 15
        return not parts.decimals and fits and int(parts.digits) % 8 != 0
    scale = parts.exponent - parts.decimals
    plain = parts.digits[0] != "0" and not parts.digits.endswith("000")
    return length <= 18 and scale >= -9 and scale % 3 == 0 and plain


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < len(_BINARY):
        number //= 1024
        power += 1
    return f"{number}{_BINARY_SUFFIXES[power]}"


def _decimal_text(nano: int, style: Style) -> str:
    mantissa, exponent = nano, -9
    while mantissa % 10 == 0:
        mantissa //= 10
        exponent += 1
    mantissa *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if style is not Style.DECIMAL_EXPONENT and exponent in _DECIMAL_SUFFIXES:
        return f"{mantissa}{_DECIMAL_SUFFIXES[exponent]}"
    return f"{mantissa}e{exponent}" if exponent else str(mantissa)
