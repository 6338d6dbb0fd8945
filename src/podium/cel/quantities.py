"""Kubernetes' quantities as values of CEL."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar, Final

from podium.api import quantity
from podium.cel import types
from podium.cel.environment import Library, function, library, overload
from podium.cel.types import Type
from podium.cel.values import MAX_INT, MIN_INT
from podium.errors import EvaluationError, InvalidQuantity

QUANTITY: Final = types.struct("kubernetes.Quantity")
# Digits, and what makes a number a fraction: a point, small units, a negative exponent.
_NUMBER: Final = re.compile(r"[+-]?([0-9]*)(\.[0-9]+|\.?[mun]$|\.?[eE]-)?")
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount, in nano units.

    Whether it counts as an integer depends, as upstream, on how it is written.
    """

    nano: int
    is_whole: bool = field(compare=False)
    cel_type: ClassVar[Type] = QUANTITY
    go_name: ClassVar[str] = "cel.Quantity"
    equals_only_itself: ClassVar[bool] = True


def parse_quantity(text: str) -> Quantity:
    try:
        # The API's parser refuses what surrounds a number, ours trims it.
        if text != text.strip():
            quantity.parse(f"{text.strip()}!")
        return Quantity(quantity.parse(text), _is_whole(text))
    except InvalidQuantity as error:
        raise EvaluationError(str(error)) from None


def is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except EvaluationError:
        return False
    return True


def _compared(left: int, right: int) -> int:
    return (left > right) - (left < right)


def _is_whole(text: str) -> bool:
    """Whether a text is written as an integer that upstream needs no big numbers for."""
    found = _NUMBER.match(text)
    digits = found[1].lstrip("0") if found else ""
    return found is not None and not found[2] and len(digits) <= _MOST_DIGITS


def _amount(nano: int) -> Quantity:
    return Quantity(nano, is_whole=True)


def _is_integer(value: Quantity) -> bool:
    amount, rest = divmod(value.nano, quantity.NANO)
    return value.is_whole and rest == 0 and MIN_INT <= amount <= MAX_INT


def _integer(value: Quantity) -> int:
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return value.nano // quantity.NANO


QUANTITIES: Final[Library] = library(
    function(
        "quantity",
        overload("string_to_quantity", "(string) -> kubernetes.Quantity", parse_quantity),
    ),
    function("isQuantity", overload("is_quantity_string", "(string) -> bool", is_quantity)),
    function(
        "sign",
        overload(
            "quantity_sign", "(kubernetes.Quantity) -> int", lambda value: _compared(value.nano, 0)
        ),
    ),
    function(
        "isGreaterThan",
        overload(
            "quantity_is_greater_than",
            "kubernetes.Quantity.(kubernetes.Quantity) -> bool",
            lambda left, right: left.nano > right.nano,
        ),
    ),
    function(
        "isLessThan",
        overload(
            "quantity_is_less_than",
            "kubernetes.Quantity.(kubernetes.Quantity) -> bool",
            lambda left, right: left.nano < right.nano,
        ),
    ),
    function(
        "compareTo",
        overload(
            "quantity_compare_to",
            "kubernetes.Quantity.(kubernetes.Quantity) -> int",
            lambda left, right: _compared(left.nano, right.nano),
        ),
    ),
    function(
        "asApproximateFloat",
        overload(
            "quantity_get_float",
            "kubernetes.Quantity.() -> double",
            lambda value: value.nano / quantity.NANO,
        ),
    ),
    function("asInteger", overload("quantity_get_int", "kubernetes.Quantity.() -> int", _integer)),
    function(
        "isInteger", overload("quantity_is_integer", "kubernetes.Quantity.() -> bool", _is_integer)
    ),
    function(
        "add",
        overload(
            "quantity_add",
            "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
            lambda left, right: _amount(left.nano + right.nano),
        ),
        overload(
            "quantity_add_int",
            "kubernetes.Quantity.(int) -> kubernetes.Quantity",
            lambda left, right: _amount(left.nano + right * quantity.NANO),
        ),
    ),
    function(
        "sub",
        overload(
            "quantity_sub",
            "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
            lambda left, right: _amount(left.nano - right.nano),
        ),
        overload(
            "quantity_sub_int",
            "kubernetes.Quantity.(int) -> kubernetes.Quantity",
            lambda left, right: _amount(left.nano - right * quantity.NANO),
        ),
    ),
)
