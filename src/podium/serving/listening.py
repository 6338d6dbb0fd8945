"""Sockets to serve on."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final

from podium.errors import ServingError

_BACKLOG: Final = 128


def listen(host: str, port: int, *, shares_port: bool = False) -> socket.socket:
    """Listen; an unspecified address stands for all, IPv4 and IPv6, as in Go.

    Raise ``ServingError`` if the address cannot be used.
    """
    is_any = ipaddress.ip_address(host).is_unspecified and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if is_any or ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # As Go does it: a restarted scheduler need not wait for old connections to time out.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shares_port:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if is_any else 1)
        listening.bind(("::" if is_any else host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ServingError(unusable_address(host, port, error)) from error
    return listening


def unusable_address(host: str, port: int, error: OSError) -> str:
    """Return a message for an address that cannot be used."""
    if error.errno == errno.EADDRINUSE:
        return (
            f"{host}:{port} is taken, most likely by another scheduler: end that one, "
            "choose another port, or port 0 to serve nothing"
        )
    if error.errno == errno.EACCES:
        return f"cannot listen on {host}:{port}: permission denied; choose a port from 1024 on"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"cannot listen on {host}:{port}: no address of this machine; use 0.0.0.0 for all"
    return f"cannot listen on {host}:{port}: {error.strerror or error}"
