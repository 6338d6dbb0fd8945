"""Where an API server is and how to prove who we are: what `kubeconfig.py` and `in_cluster.py`
find out, and `http.py` uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from podium.errors import CredentialsError
from podium.tls import Certificate, Tls


class Login(Protocol):
    """Credentials that may change while we run: a token in a file, an exec plugin."""

    async def token(self) -> str:
        """The token to send now, "" for none; ``CredentialsError`` when there is none to be had."""

    def refuse(self) -> bool:
        """The API did not accept the last token; whether asking again may bring another."""

    def certificate(self) -> Certificate | None:
        """The client certificate that came with the token."""


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


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server as one user sees it."""

    server: str  # https://host:port, with a path where the API is not at the root
    source: str  # for messages: the file and the context, or where else this comes from
    tls: Tls = field(default_factory=Tls)
    login: Login = field(default_factory=FixedLogin)
    impersonate: Mapping[str, str] = field(default_factory=dict)  # headers
    namespace: str = "default"


def server_address(text: str, source: str) -> str:
    """The address as requests are sent to it; ``CredentialsError`` for one that leads nowhere."""
    if not _is_address(text):
        hint = "write it as https://host:port"
        raise CredentialsError(f'{source}: server is "{text}"; {hint}')
    return text.rstrip("/")


def _is_address(text: str) -> bool:
    """A user and a query count as wrong, too: half of the requests would go without them."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    is_plain = text.isprintable() and " " not in text
    is_whole = parts.scheme in ("http", "https") and is_host(host) and port != 0
    return is_plain and is_whole and not (parts.username or parts.query or parts.fragment)


def is_host(name: str) -> bool:
    """Whether resolvers and TLS take this for a name at all."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False
