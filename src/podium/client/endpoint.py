"""Where an API server is, and the credentials for it: found by `kubeconfig.py` and `endpoints.py`,
used by `http.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from podium.errors import CredentialsError
from podium.tls import Certificate, Tls


class Login(Protocol):
    """Credentials that may change while the process runs: a token in a file, an exec plugin."""

    async def token(self) -> str:
        """Return the token to send now, "" for none; raise ``CredentialsError`` if it fails."""

    def refuse(self) -> bool:
        """Note that the API refused the last token; return whether there may be another one."""

    def certificate(self) -> Certificate | None:
        """Return the client certificate that came with the token, if any."""


@dataclass(frozen=True, slots=True)
class FixedLogin:
    """A token that never changes; "" for none."""

    fixed: str = ""

    async def token(self) -> str:
        return self.fixed

    def refuse(self) -> bool:
        return False

    def certificate(self) -> None:
        return None


# Opens a connection for the protocol that the function makes.
Dial = Callable[
    [Callable[[], asyncio.BaseProtocol]],
    Awaitable[tuple[asyncio.BaseTransport, asyncio.BaseProtocol]],
]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server as one user sees it."""

    server: str  # https://host:port, with a path where the API is not at the root
    source: str  # for messages: the file and the context, or where else this comes from
    tls: Tls = field(default_factory=Tls)
    login: Login = field(default_factory=FixedLogin)
    impersonate: Mapping[str, str] = field(default_factory=dict)  # headers
    namespace: str = "default"
    dial: Dial | None = None  # how to connect, if not over TCP: to a server in this process


def server_address(text: str, source: str) -> str:
    """Return the address without a slash at its end; raise ``CredentialsError`` if it is wrong."""
    if not _is_address(text):
        hint = "write it as https://host:port"
        raise CredentialsError(f'{source}: server is "{text}"; {hint}')
    return text.rstrip("/")


def _is_address(text: str) -> bool:
    """An address with a user or a query is refused: half of the requests would not have them."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    is_plain = text.isprintable() and " " not in text
    is_whole = parts.scheme in ("http", "https") and is_host(host) and port != 0
    return is_plain and is_whole and not (parts.username or parts.query or parts.fragment)


def is_host(name: str) -> bool:
    """Whether resolvers and TLS accept this as a name."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False
