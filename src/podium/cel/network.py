"""IP addresses and networks as values of CEL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface
from typing import ClassVar, Final

from podium.cel import types
from podium.cel.environment import Library, function, library, overload
from podium.cel.types import Type
from podium.cel.values import quoted
from podium.errors import EvaluationError

_Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class IP:
    address: _Address
    cel_type: ClassVar[Type] = types.parse_type("net.IP")
    go_name: ClassVar[str] = "cel.IP"
    equals_only_itself: ClassVar[bool] = True

    @property
    def cel_size(self) -> int:
        return 4 if self.address.version == 4 else 16


@dataclass(frozen=True, slots=True)
class CIDR:
    """A network as it was written: bits after the prefix are kept."""

    address: _Address
    prefix: int
    cel_type: ClassVar[Type] = types.parse_type("net.CIDR")
    go_name: ClassVar[str] = "cel.CIDR"
    equals_only_itself: ClassVar[bool] = True

    @property
    def cel_size(self) -> int:
        return -(-self.prefix // 8)

    def contains(self, other: _Address) -> bool:
        if other.version != self.address.version:
            return False
        shift = self.address.max_prefixlen - self.prefix
        return int(other) >> shift == int(self.address) >> shift

    def contains_network(self, other: CIDR) -> bool:
        return self.prefix <= other.prefix and self.contains(other.address)

    def masked(self) -> CIDR:
        shift = self.address.max_prefixlen - self.prefix
        return CIDR(type(self.address)(int(self.address) >> shift << shift), self.prefix)


def parse_ip(text: str) -> IP:
    try:
        found = ip_address(text)
    except ValueError:
        raise EvaluationError(
            f"IP Address {quoted(text)} parse error during conversion from string: {_reason(text)}"
        ) from None
    if "%" in text:
        raise EvaluationError(f"IP address {quoted(text)} with zone value is not allowed")
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return IP(found)


def _reason(text: str) -> str:
    """Say what is wrong with an address as Go's package netip does."""
    wrong = _wrong_ipv4(text) if "." in text and ":" not in text else "unable to parse IP"
    return f"ParseAddr({quoted(text)}): {wrong}"


def _wrong_ipv4(text: str) -> str:
    fields = text.split(".")
    for index, part in enumerate(fields[:4]):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        rest = ".".join((part[len(digits) :], *fields[index + 1 :]))
        if digits[:1] == "0" and len(digits) > 1:
            return "IPv4 field has octet with leading zero"
        if digits and int(digits[:4]) > 255:
            return "IPv4 field has value >255"
        if len(digits) < len(part):
            return f"unexpected character (at {quoted(rest)})"
        if not digits:
            return f"IPv4 field must have at least one digit (at {quoted(rest)})"
    return "IPv4 address too long" if len(fields) > 4 else "IPv4 address too short"


def parse_cidr(text: str) -> CIDR:
    address, slash, prefix = text.partition("/")
    wrong = "network address parse error during conversion from string: "
    if not slash:
        reason = f"netip.ParsePrefix({quoted(text)}): no '/'"
        raise EvaluationError(f"{wrong * 2}{reason}")
    try:
        found = ip_interface(text)
        if not prefix.isdigit() or (len(prefix) > 1 and prefix[0] == "0") or "%" in address:
            raise ValueError
    except ValueError:
        reason = f"netip.ParsePrefix({quoted(text)}): bad bits after slash: {quoted(prefix)}"
        if not _is(parse_ip, address):
            reason = f"netip.ParsePrefix({quoted(text)}): {_reason(address)}"
        elif prefix.isdigit() and prefix[0] != "0":
            reason = f"netip.ParsePrefix({quoted(text)}): prefix length out of range"
        raise EvaluationError(f"{wrong * 2}{reason}") from None
    if isinstance(found.ip, IPv6Address) and found.ip.ipv4_mapped:
        raise EvaluationError(f"{wrong}IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return CIDR(found.ip, found.network.prefixlen)


def _is(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return str(parse_ip(text).address) == text


def _is_link_local_group(ip: IP) -> bool:
    """Whether an address is in 224.0.0.0/24, or in ff02::/16 with any flags."""
    if ip.address.version == 4:
        return int(ip.address) >> 8 == 0xE00000
    return int(ip.address) >> 112 & 0xFF0F == 0xFF02


def _is_global_unicast(ip: IP) -> bool:
    found = ip.address
    broadcast = found.version == 4 and int(found) == 2**32 - 1
    special = found.is_unspecified or found.is_loopback or found.is_multicast
    return not (special or broadcast or _is_link_local(ip))


def _is_link_local(ip: IP) -> bool:
    return ip.address.is_link_local


def _ids(name: str) -> str:
    return "ip_" + "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


_PREDICATES: Final[dict[str, Callable[[IP], bool]]] = {
    "isUnspecified": lambda ip: ip.address.is_unspecified,
    "isLoopback": lambda ip: ip.address.is_loopback,
    "isLinkLocalMulticast": _is_link_local_group,
    "isLinkLocalUnicast": _is_link_local,
    "isGlobalUnicast": _is_global_unicast,
}

ADDRESSES: Final[Library] = library(
    function(
        "ip",
        overload("string_to_ip", "(string) -> net.IP", parse_ip),
        overload("cidr_ip", "net.CIDR.() -> net.IP", lambda cidr: IP(cidr.address)),
    ),
    function("family", overload("ip_family", "net.IP.() -> int", lambda ip: ip.address.version)),
    function("ip.isCanonical", overload("ip_is_canonical", "(string) -> bool", _is_canonical)),
    function("isIP", overload("is_ip", "(string) -> bool", lambda text: _is(parse_ip, text))),
    *(
        function(name, overload(_ids(name), "net.IP.() -> bool", predicate))
        for name, predicate in _PREDICATES.items()
    ),
    function(
        "string",
        overload("ip_to_string", "(net.IP) -> string", lambda ip: str(ip.address)),
        overload(
            "cidr_to_string", "(net.CIDR) -> string", lambda cidr: f"{cidr.address}/{cidr.prefix}"
        ),
    ),
    function("cidr", overload("string_to_cidr", "(string) -> net.CIDR", parse_cidr)),
    function("isCIDR", overload("is_cidr", "(string) -> bool", lambda text: _is(parse_cidr, text))),
    function(
        "containsIP",
        overload(
            "cidr_contains_ip_string",
            "net.CIDR.(string) -> bool",
            lambda cidr, text: cidr.contains(parse_ip(text).address),
        ),
        overload(
            "cidr_contains_ip_ip",
            "net.CIDR.(net.IP) -> bool",
            lambda cidr, ip: cidr.contains(ip.address),
        ),
    ),
    function(
        "containsCIDR",
        overload(
            "cidr_contains_cidr_string",
            "net.CIDR.(string) -> bool",
            lambda cidr, text: cidr.contains_network(parse_cidr(text)),
        ),
        overload("cidr_contains_cidr", "net.CIDR.(net.CIDR) -> bool", CIDR.contains_network),
    ),
    function(
        "prefixLength",
        overload("cidr_prefix_length", "net.CIDR.() -> int", lambda cidr: cidr.prefix),
    ),
    function("masked", overload("cidr_masked", "net.CIDR.() -> net.CIDR", CIDR.masked)),
    named={"net.IP": IP.cel_type, "net.CIDR": CIDR.cel_type},
)
