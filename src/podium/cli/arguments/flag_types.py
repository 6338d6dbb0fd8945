"""The types of kube-scheduler's flags: how each is read, shown in help texts, and logged."""

from __future__ import annotations

import argparse
import csv
import io
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
class FlagType:
    """``read`` parses a flag's text; ``show`` is the inverse, for help texts and documentation.

    ``log`` is the text of kube-scheduler's ``FLAG:`` lines where that differs from ``show``.
    Values of list types add up when a flag is repeated; for all others the last one counts.
    """

    name: str
    read: Callable[[str], Any]
    show: Callable[[Any], str] = str
    log: Callable[[Any], str] | None = None
    is_list: bool = False
    is_boolean: bool = False

    def logged(self, value: Any) -> str:
        return (self.log or self.show)(value)


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
    try:
        return [_int32(part) for part in _list(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a list of integers: write it as 1,2'
        ) from None


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
    return text == "raw" or _boolean(text)


def _join(values: list[Any]) -> str:
    return ",".join(map(str, values))


def _join_levels(values: list[tuple[str, int]]) -> str:
    return ",".join(f"{pattern}={level}" for pattern, level in values)


def _bracketed(values: list[Any]) -> str:
    """``[a,"b,c"]``: as pflag prints a list, quoted as in a CSV file."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return f"[{line.getvalue()}]"


def _by_component(gates: list[str]) -> str:
    """``:A=true,kube:B=false``: gates with their component, sorted by it."""
    named = [gate if ":" in gate else f":{gate}" for gate in gates]
    return ",".join(sorted(named, key=lambda gate: gate.partition(":")[0]))


TEXT: Final = FlagType("string", str)
FILE: Final = FlagType("path", str)
BOOLEAN: Final = FlagType("bool", _boolean, lambda value: str(value).lower(), is_boolean=True)
VERSION: Final = FlagType("bool or raw", _version, BOOLEAN.show, is_boolean=True)
INTEGER: Final = FlagType("int", int)
INT32: Final = FlagType("int32", _int32)
FLOAT: Final = FlagType("float", float, "{:g}".format)
DURATION: Final = FlagType("duration", _duration, durations.format)
QUANTITY: Final = FlagType("quantity", _quantity)
IP: Final = FlagType("ip", _ip)
LIST: Final = FlagType("list", _list, _join, _bracketed, is_list=True)
INTEGERS: Final = FlagType("int list", _ints, _join, _bracketed, is_list=True)
REPEATED: Final = FlagType("repeated", lambda text: [text], _join, _bracketed, is_list=True)
CERTIFICATES: Final = FlagType(
    "repeated", REPEATED.read, _join, lambda values: f"[{';'.join(values)}]", is_list=True
)
GATES: Final = FlagType("list", _list, _join, _by_component, is_list=True)
LEVELS: Final = FlagType("pattern=N,…", _levels, _join_levels, is_list=True)
