"""The types of kube-scheduler's flags: how each is read, and how its default is shown."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from podium import durations
from podium.api import quantity
from podium.errors import InvalidQuantity

_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")
_FALSE: Final = ("0", "f", "F", "false", "FALSE", "False")
_INT32: Final = 2**31


@dataclass(frozen=True, slots=True)
class Kind:
    """``read`` turns what is given into a value, ``show`` a value into what would be given.

    What is given several times is added up when the values are lists.
    """

    name: str
    read: Callable[[str], Any]
    show: Callable[[Any], str] = str
    is_list: bool = False
    is_boolean: bool = False


def _boolean(text: str) -> bool:
    if text not in (*_TRUE, *_FALSE):
        raise argparse.ArgumentTypeError(f"must be true or false, not {text!r}")
    return text in _TRUE


def _duration(text: str) -> float:
    try:
        return durations.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _quantity(text: str) -> int:
    try:
        return quantity.value(quantity.parse(text))
    except InvalidQuantity as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _int32(text: str) -> int:
    number = int(text)
    if not -_INT32 <= number < _INT32:
        raise argparse.ArgumentTypeError(f"{text} is out of range")
    return number


def _ip(text: str) -> str:
    if text != "localhost":
        try:
            ipaddress.ip_address(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f'failed to parse IP: "{text}"') from None
    return text


def _list(text: str) -> list[str]:
    return text.split(",") if text else []


def _ints(text: str) -> list[int]:
    return [_int32(part) for part in _list(text)]


def _levels(text: str) -> list[tuple[str, int]]:
    found = []
    for part in _list(text):
        pattern, equals, level = part.rpartition("=")
        if not pattern or not equals or not level.isdecimal():
            hint = "comma-separated list of pattern=N"
            raise argparse.ArgumentTypeError(f"syntax error in {part!r}: expect {hint}")
        found.append((pattern, int(level)))
    return found


def _version(text: str) -> bool:
    if text != "raw":
        return _boolean(text)
    return True


def _join(values: list[Any]) -> str:
    return ",".join(map(str, values))


TEXT: Final = Kind("string", str)
FILE: Final = Kind("path", str)
BOOLEAN: Final = Kind("bool", _boolean, lambda value: str(value).lower(), is_boolean=True)
VERSION: Final = Kind("bool or raw", _version, BOOLEAN.show, is_boolean=True)
INTEGER: Final = Kind("int", int)
INT32: Final = Kind("int32", _int32)
FLOAT: Final = Kind("float", float, "{:g}".format)
DURATION: Final = Kind("duration", _duration, durations.format)
QUANTITY: Final = Kind("quantity", _quantity)
IP: Final = Kind("ip", _ip)
LIST: Final = Kind("list", _list, _join, is_list=True)
INTEGERS: Final = Kind("int list", _ints, _join, is_list=True)
REPEATED: Final = Kind("repeated", lambda text: [text], _join, is_list=True)
LEVELS: Final = Kind("pattern=N,…", _levels, _join, is_list=True)
