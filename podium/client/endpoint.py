"""Where an API server is and how to prove who we are: what `kubeconfig.py` and `in_cluster.py`
find out, and `http.py` uses."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from podium.errors import CredentialsError


class Login(Protocol):
    """Credentials that may change while we run: a token in a file, an exec plugin."""

    async def token(self) -> str:
        """The token to send now, "" for none; ``CredentialsError`` when there is none to be had."""

    def refuse(self) -> bool:
        """The API did not accept the last token; whether asking again may bring another."""

    def certificate(self) -> Certificate | None:
        """The client certificate that came with the token."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A client certificate and its key, as PEM."""

    chain: bytes
    key: bytes


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
class Tls:
    """How a server shows that it is the right one, and what we show it."""

    ca: bytes = b""  # PEM; empty: the authorities that this machine trusts
    skip_verify: bool = False
    server_name: str = ""
    certificate: Certificate | None = None

    def context(self, source: str) -> ssl.SSLContext:
        """``source`` says in errors where these settings come from."""
        try:
            context = ssl.create_default_context(cadata=self.ca.decode() or None)
        except (ssl.SSLError, ValueError) as error:
            raise CredentialsError(
                f"podium: {source}: the certificate authority is not readable as PEM: {error}"
            ) from error
        if self.skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate is not None:
            show(context, self.certificate, source)
        return context


def show(context: ssl.SSLContext, certificate: Certificate, source: str) -> None:
    """Present this client certificate on every connection to come."""
    try:
        with _on_disk(certificate) as path:
            context.load_cert_chain(path)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise CredentialsError(
            f"podium: {source}: the client certificate and its key cannot be used: {error}"
        ) from error


@contextmanager
def _on_disk(certificate: Certificate) -> Iterator[str]:
    """Python loads client certificates from files only; this one lives for a moment."""
    handle, path = tempfile.mkstemp(prefix="podium-")  # readable for its owner only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate.chain + b"\n" + certificate.key)
        yield path
    finally:
        os.unlink(path)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server as one user sees it."""

    server: str  # https://host:port, with a path where the API is not at the root
    source: str  # for messages: the file and the context, or where else this comes from
    tls: Tls = field(default_factory=Tls)
    login: Login = field(default_factory=FixedLogin)
    impersonate: Mapping[str, str] = field(default_factory=dict)  # headers
    namespace: str = "default"
