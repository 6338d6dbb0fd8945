"""Which authorities are trusted to sign the certificates of clients and of proxies."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from podium.errors import ServingError
from podium.serving.options import RequestHeaderOptions

_MOST_INTERMEDIATES = 4


@dataclass(frozen=True)
class Authorities:
    """A bundle of certificates that may sign others, as PEM; ``source`` names it in messages."""

    pem: bytes
    source: str

    @functools.cached_property
    def certificates(self) -> Sequence[x509.Certificate]:
        """The certificates of the bundle; raise ``ServingError`` if it cannot be read."""
        try:
            return x509.load_pem_x509_certificates(self.pem)
        except ValueError:
            raise ServingError(f"{self.source}: no readable PEM certificates") from None

    def have_issued(
        self,
        certificate: x509.Certificate,
        intermediates: Sequence[x509.Certificate],
        now: datetime,
    ) -> bool:
        """Whether one of them has signed the certificate, perhaps through intermediates.

        TLS has verified the certificate already, but against all bundles at once: this finds out
        which one. Dates are checked here, so that an expired certificate gets an HTTP answer.
        """
        if not _is_valid(certificate, now):
            return False
        if any(_signed(certificate, each, now) for each in self.certificates):
            return True
        others = [each for each in intermediates if each != certificate]
        return any(
            _signed(certificate, each, now) and self.have_issued(each, others, now)
            for each in others[:_MOST_INTERMEDIATES]
        )


def _signed(certificate: x509.Certificate, issuer: x509.Certificate, now: datetime) -> bool:
    if certificate.issuer != issuer.subject or not _is_authority(issuer):
        return False
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return _is_valid(issuer, now)


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except (x509.ExtensionNotFound, ValueError):
        return False
    return constraints.value.ca


def _is_valid(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies that may name users, and the headers in which they do."""

    authorities: Authorities
    headers: RequestHeaderOptions


@dataclass(frozen=True, slots=True)
class Trust:
    """Everything that client certificates are checked against; None where there is nothing."""

    clients: Authorities | None = None
    proxies: Proxies | None = None

    def pem(self) -> bytes:
        """Return all authorities, for TLS; empty if no client certificate can be verified."""
        bundles = [self.clients, self.proxies.authorities if self.proxies else None]
        return b"\n".join(each.pem for each in bundles if each is not None)

    def check(self) -> None:
        """Raise ``ServingError`` if a bundle cannot be read."""
        for bundle in (self.clients, self.proxies.authorities if self.proxies else None):
            if bundle is not None:
                _ = bundle.certificates
