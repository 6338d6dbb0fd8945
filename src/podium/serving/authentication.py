"""Finds the user of a request: named by a proxy, by a client certificate, or by a token.

The order and the rules are those of kube-scheduler. A request without credentials is anonymous; one
with credentials that cannot be verified is refused.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID, ObjectIdentifier

from podium.clock import Clock
from podium.errors import ApiError
from podium.serving.expiring_cache import ExpiringCache
from podium.serving.key_pair import utc_now
from podium.serving.options import RequestHeaderOptions
from podium.serving.reviews import Reviews
from podium.serving.trust import Authorities, Proxies, Trust
from podium.serving.users import ANONYMOUS, User

CREDENTIAL_ID: Final = "authentication.kubernetes.io/credential-id"
_UID: Final = ObjectIdentifier("1.3.6.1.4.1.57683.2")
_BEARER: Final = "bearer"
_DER: Final = 2  # _ssl.ENCODING_DER


class Unauthenticated(Exception):
    """Something was presented that cannot be verified; the message is for the log."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The certificate that a client has shown, with the intermediate ones it came with."""

    certificate: x509.Certificate
    intermediates: tuple[x509.Certificate, ...] = ()


class Authenticator:
    """Finds the user of a request. ``trust`` returns the authorities that count at the moment."""

    def __init__(
        self,
        clock: Clock,
        trust: Callable[[], Trust],
        reviews: Reviews | None,
        cache_seconds: float,
    ) -> None:
        self._clock = clock
        self._trust = trust
        self._reviews = reviews
        self._secret = secrets.token_bytes(32)  # tokens are not kept, only keyed digests of them
        self._tokens = ExpiringCache[tuple[User | None]](clock, lambda _: cache_seconds)

    async def identify(self, request: web.Request) -> User:
        """Return the user; raise ``Unauthenticated`` if none of what is presented is valid."""
        trust, faults = self._trust(), list[str]()
        peer = peer_of(request) if trust.pem() else None
        if peer is not None:
            found = self._user_of_peer(peer, request, trust, faults)
            if found is not None:
                return found.authenticated()
        token = bearer_token(request)
        if token and self._reviews is not None:
            user = await self._user_of_token(token, self._reviews, faults)
            if user is not None:
                return user.authenticated()
        if faults:
            raise Unauthenticated("; ".join(faults))
        return ANONYMOUS

    def _user_of_peer(
        self, peer: Peer, request: web.Request, trust: Trust, faults: list[str]
    ) -> User | None:
        named = self._user_of_proxy(peer, request, trust.proxies, faults) if trust.proxies else None
        if named is not None or trust.clients is None:
            return named
        if not self._is_issued(peer, trust.clients):
            faults.append("the client certificate has expired or is of another authority")
            return None
        return user_of_certificate(peer.certificate)

    def _user_of_proxy(
        self, peer: Peer, request: web.Request, proxies: Proxies, faults: list[str]
    ) -> User | None:
        if not self._is_issued(peer, proxies.authorities):
            faults.append("the client certificate is not one of a proxy")
            return None
        name, allowed = common_name(peer.certificate), proxies.headers.allowed_names
        if allowed and name not in allowed:
            faults.append(f"subject with cn={name} is not in the allowed list")
            return None
        return user_of_headers(request, proxies.headers)

    def _is_issued(self, peer: Peer, authorities: Authorities) -> bool:
        now = utc_now(self._clock.now())
        return authorities.have_issued(peer.certificate, peer.intermediates, now)

    async def _user_of_token(self, token: str, reviews: Reviews, faults: list[str]) -> User | None:
        key = hashlib.blake2b(token.encode(errors="replace"), key=self._secret).digest()

        async def ask() -> tuple[User | None]:
            return (await reviews.user_of(token),)

        try:
            (user,) = await self._tokens.get(key, ask)
        except ApiError as error:
            faults.append(f"the token cannot be reviewed: {error}")
            return None
        if user is None:
            faults.append("invalid bearer token")
        return user


def bearer_token(request: web.Request) -> str:
    """Return the token of the ``Authorization`` header, or nothing."""
    scheme, token, *_ = [*request.headers.get("Authorization", "").strip().split(" "), ""]
    return token if scheme.lower() == _BEARER else ""


def peer_of(request: web.Request) -> Peer | None:
    """Return the certificate that the client has shown; None without one."""
    transport = request.transport
    tls = transport.get_extra_info("ssl_object") if transport is not None else None
    shown = tls.getpeercert(binary_form=True) if tls is not None else None
    if not shown:
        return None
    try:
        chain = [x509.load_der_x509_certificate(each) for each in _chain(tls)]
        return Peer(x509.load_der_x509_certificate(shown), tuple(chain))
    except ValueError as error:
        raise Unauthenticated(f"the client certificate cannot be read: {error}") from error


def _chain(tls: Any) -> list[bytes]:
    """Return the certificates that the client has sent; public in Python from 3.13 on."""
    if hasattr(tls, "get_unverified_chain"):
        return list(tls.get_unverified_chain())
    found = tls._sslobj.get_unverified_chain() or ()
    return [bytes(each.public_bytes(_DER)) for each in found]


def common_name(certificate: x509.Certificate) -> str:
    return _last(certificate, NameOID.COMMON_NAME)


def user_of_certificate(certificate: x509.Certificate) -> User | None:
    """Return the user that a certificate names: its common name, in its organizations' groups."""
    name = common_name(certificate)
    if not name:
        return None
    organizations = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    groups = tuple(str(each.value) for each in organizations)
    digest = certificate.fingerprint(SHA256()).hex()
    return User(name, _last(certificate, _UID), groups, {CREDENTIAL_ID: (f"X509SHA256={digest}",)})


def _last(certificate: x509.Certificate, kind: ObjectIdentifier) -> str:
    found = certificate.subject.get_attributes_for_oid(kind)
    return str(found[-1].value) if found else ""


def user_of_headers(request: web.Request, names: RequestHeaderOptions) -> User | None:
    """Return the user that a proxy has named in the headers of a request."""
    headers = request.headers
    name = next((headers[each] for each in names.usernames if headers.get(each)), "")
    if not name:
        return None
    uid = next((headers[each] for each in names.uids if headers.get(each)), "")
    groups = [one for each in names.groups for one in headers.getall(each, []) if one]
    extra: dict[str, tuple[str, ...]] = {}
    for prefix in names.extra_prefixes:
        for header, value in headers.items():
            if header.lower().startswith(prefix.lower()):
                key = unquote(header[len(prefix) :].lower())
                extra[key] = (*extra.get(key, ()), value)
    return User(name, uid, tuple(groups), extra)
