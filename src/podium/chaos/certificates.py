"""Certificates that are replaced while a secure port uses them, and what new connections then get.

The port is the real one, with its files; connections are handshakes in memory.
"""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from podium.clock import Clock
from podium.serving.key_pair import KeyPair, utc_now
from podium.serving.options import (
    AuthenticationOptions,
    KeyPairFiles,
    ServingOptions,
    TlsOptions,
)
from podium.serving.secure_port import SecurePort
from podium.serving.self_signed import self_signed


class ReplacedCertificates:
    """A secure port whose serving certificate and authority for clients are two pairs in turns.

    The authority that has signed a pair is the one for clients while the other pair is served.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        now = utc_now(clock.now())
        self._pairs = [self_signed(["podium"], now) for _ in range(2)]
        self._folder = folder
        self.rotations = -1  # the first pair replaces nothing
        self.rotate()
        files = KeyPairFiles(str(folder / "serving.crt"), str(folder / "serving.key"))
        clients = AuthenticationOptions(
            skips_lookup=True, client_authority=str(folder / "clients.crt")
        )
        options = ServingOptions(tls=TlsOptions(files=files), authentication=clients)
        self._port = SecurePort(options, clock)

    async def run(self) -> None:
        """Keep the port current until this is cancelled."""
        await self._port.open()
        await self._port.run()

    def rotate(self) -> None:
        """Replace all three files."""
        self.rotations += 1
        pair, other = self._now()
        (self._folder / "serving.crt").write_bytes(pair.chain)
        (self._folder / "serving.key").write_bytes(pair.key)
        (self._folder / "clients.crt").write_bytes(_certificates(other)[1])

    def problem(self) -> str:
        """Return how a new connection differs from the files; empty if it does not."""
        pair, other = self._now()
        context = self._port.context.current
        if _shown_by(context) != _der(_certificates(pair)[0]):
            return "a new connection gets the certificate before"
        if context.get_ca_certs(binary_form=True) != [_der(_certificates(other)[1])]:
            return "clients are judged by the authority before"
        return ""

    def _now(self) -> tuple[KeyPair, KeyPair]:
        pairs = self._pairs
        return pairs[self.rotations % 2], pairs[(self.rotations + 1) % 2]


def _certificates(pair: KeyPair) -> list[bytes]:
    """Return the certificate of the server and that of its authority, as PEM."""
    found = x509.load_pem_x509_certificates(pair.chain)
    return [each.public_bytes(Encoding.PEM) for each in found]


def _der(pem: bytes) -> bytes:
    return ssl.PEM_cert_to_DER_cert(pem.decode())


def _shown_by(context: ssl.SSLContext) -> bytes:
    """Return the certificate that a client sees, from a handshake without a network."""
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asking.check_hostname, asking.verify_mode = False, ssl.CERT_NONE
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = asking.wrap_bio(back, there)
    server = context.wrap_bio(there, back, server_side=True)
    for end in (client, server, client):
        with contextlib.suppress(ssl.SSLWantReadError):  # then the other end is next
            end.do_handshake()
    return client.getpeercert(binary_form=True) or b""
