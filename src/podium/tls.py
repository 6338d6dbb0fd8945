"""TLS settings: a certificate authority, a server name, a client certificate.

The client of the API and the extenders over HTTP make an ``ssl.SSLContext`` of them.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from podium.errors import CredentialsError


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate, with those that lead to its authority, and its key, as PEM."""

    chain: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Tls:
    """The rules to verify a server, and the client certificate to present to it."""

    ca: bytes = b""  # PEM; if empty, the authorities that this machine trusts
    skip_verify: bool = False
    server_name: str = ""
    certificate: Certificate | None = None

    def context(self, source: str) -> ssl.SSLContext:
        """Make a context; ``source`` names the settings in errors."""
        try:
            context = ssl.create_default_context(cadata=self.ca.decode() or None)
        except (ssl.SSLError, ValueError) as error:
            raise CredentialsError(
                f"{source}: the certificate authority is not readable as PEM: {error}"
            ) from error
        if self.skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate is not None:
            use_certificate(context, self.certificate, source)
        return context


def use_certificate(context: ssl.SSLContext, certificate: Certificate, source: str) -> None:
    """Present this client certificate on every new connection."""
    try:
        load_certificate(context, certificate)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise CredentialsError(
            f"{source}: the client certificate and its key cannot be used: {error}"
        ) from error


def load_certificate(context: ssl.SSLContext, certificate: Certificate) -> None:
    """Make the context show this certificate; raise ``OSError`` or ``ValueError`` if it cannot."""
    with _on_disk(certificate) as path:
        context.load_cert_chain(path)


@contextmanager
def _on_disk(certificate: Certificate) -> Iterator[str]:
    """Write a temporary file, because Python loads such certificates from files only."""
    handle, path = tempfile.mkstemp(prefix="podium-")  # readable for its owner only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate.chain + b"\n" + certificate.key)
        yield path
    finally:
        os.unlink(path)
