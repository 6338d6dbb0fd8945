"""A server's certificate with its key: read from files, and checked."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from podium.errors import ServingError
from podium.files import read_small
from podium.serving.options import KeyPairFiles

_PEM: Final = serialization.Encoding.PEM
_CERTIFICATE_HINT: Final = "it begins with -----BEGIN CERTIFICATE-----"
_KEY_HINT: Final = "it begins with -----BEGIN and ends in PRIVATE KEY-----"
_PAIR_HINT: Final = "give the key that the certificate was made with"
_DOMAIN: Final = re.compile(
    r"(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate chain and its key, both as PEM; ``source`` names it in messages."""

    chain: bytes
    key: bytes
    source: str

    def leaf(self) -> x509.Certificate:
        """Return the server's certificate; raise ``ServingError`` if the pair cannot be used."""
        try:
            leaf = x509.load_pem_x509_certificates(self.chain)[0]
        except ValueError:
            raise ServingError(
                f"{self.source}: no readable PEM certificate in the file; {_CERTIFICATE_HINT}"
            ) from None
        try:
            key = serialization.load_pem_private_key(self.key, None)
        except TypeError:
            raise ServingError(f"{self.source}: the key has a passphrase; remove it") from None
        except (ValueError, UnsupportedAlgorithm):
            raise ServingError(f"{self.source}: no readable PEM private key; {_KEY_HINT}") from None
        if _public_bytes(key.public_key()) != _public_bytes(leaf.public_key()):
            raise ServingError(
                f"{self.source}: private key does not match public key; {_PAIR_HINT}"
            )
        return leaf


def _public_bytes(key: object) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(_PEM, form)  # type: ignore[attr-defined, no-any-return]  # all have it


def read_pair(files: KeyPairFiles) -> KeyPair:
    """Read a pair from its files; raise ``ServingError`` if one cannot be read."""
    chain = read_file(files.certificate, "the certificate of the server")
    key = read_file(files.key, "the private key of the server")
    return KeyPair(chain, key, f"{files.certificate}, {files.key}")


def read_file(path: str, what: str) -> bytes:
    if not path:
        raise ServingError(f"{what} is missing: give both a certificate and a key")
    try:
        content = read_small(path)
    except OSError as error:
        raise ServingError(f"{what} cannot be read: {path}: {error.strerror or error}") from error
    if not content.strip():
        raise ServingError(f"{what} cannot be used: {path} is empty")
    return content


def validity_warning(leaf: x509.Certificate, now: datetime) -> str:
    """Return what clients will dislike about the certificate's dates; empty if it is valid."""
    if now > leaf.not_valid_after_utc:
        return f"the certificate expired at {leaf.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}"
    if now < leaf.not_valid_before_utc:
        return f"the certificate is not valid before {leaf.not_valid_before_utc:%Y-%m-%dT%H:%M:%SZ}"
    return ""


def names_of(leaf: x509.Certificate) -> list[str]:
    """Return the server names of a certificate, as SNI can carry them: no IP addresses."""
    names = [text for text in _common_names(leaf) if text == "*" or _is_domain(text)]
    try:
        alternatives = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return names
    return names + alternatives.value.get_values_for_type(x509.DNSName)


def _common_names(leaf: x509.Certificate) -> list[str]:
    return [str(name.value) for name in leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]


def _is_domain(text: str) -> bool:
    return bool(_DOMAIN.fullmatch(text)) and as_ip(text) is None


def as_ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def utc_now(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
