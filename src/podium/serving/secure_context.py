"""The TLS context of the secure port: each new connection gets the current certificates."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from podium.errors import ServingError
from podium.serving import tls_settings
from podium.serving.key_pair import KeyPair, names_of
from podium.serving.options import TlsOptions
from podium.serving.trust import Trust
from podium.tls import Certificate, load_certificate

# X509_V_FLAG_NO_CHECK_TIME, which the module ssl does not name. `Authorities` checks the dates, so
# that a client with an expired certificate gets HTTP status 401, as upstream answers it.
_NO_CHECK_TIME: Final = 0x200000


class SecureContext(ssl.SSLContext):
    """A context whose certificates change while it is in use; open connections keep theirs.

    asyncio asks its context for a TLS object once for each connection, and gets one of ``current``.
    """

    current: ssl.SSLContext

    def __new__(cls) -> SecureContext:
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        return self.current.wrap_bio(*args, **options)


@dataclass(frozen=True, slots=True)
class Content:
    """What a context is made of; ``by_name`` are the pairs for server names, with these names."""

    pair: KeyPair
    by_name: tuple[tuple[KeyPair, tuple[str, ...]], ...]
    trust: Trust


def build(content: Content, options: TlsOptions) -> ssl.SSLContext:
    """Make a context; raise ``ServingError`` if a certificate, key or authority is unusable."""
    context = _context(content.pair, content.trust, options)
    by_name = {}
    explicit = {}
    for pair, names in reversed(content.by_name):  # the first of several counts
        named = _context(pair, content.trust, options)
        explicit.update(dict.fromkeys(names, named))
        by_name.update(dict.fromkeys(() if names else names_of(pair.leaf()), named))
    by_name.update(explicit)
    if by_name:
        context.sni_callback = _Chooser(by_name)
    return context


class _Chooser:
    """Chooses the context for the server name that a client asks for."""

    def __init__(self, contexts_by_name: Mapping[str, ssl.SSLContext]) -> None:
        self._contexts_by_name = {name.lower(): one for name, one in contexts_by_name.items()}

    def __call__(self, tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        found = self._find((name or "").lower().rstrip("."))
        if found is not None:
            tls.context = found

    def _find(self, name: str) -> ssl.SSLContext | None:
        """Try the name itself, then ``*`` in place of its labels, from the left, as Go does."""
        labels = name.split(".")
        candidates = [name, *(".".join(["*"] * n + labels[n:]) for n in range(1, len(labels) + 1))]
        known = self._contexts_by_name
        return next((known[each] for each in candidates if each in known), None)


def _context(pair: KeyPair, trust: Trust, options: TlsOptions) -> ssl.SSLContext:
    pair.leaf()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls_settings.apply(context, options.min_version, options.cipher_suites, options.curves)
    context.set_alpn_protocols(["http/1.1"])
    # A resumed connection would not show its intermediate certificates again.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    try:
        load_certificate(context, Certificate(pair.chain, pair.key))
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = f"the serving certificate and its key cannot be used: {error}"
        raise ServingError(f"{pair.source}: {why}") from error
    _trust(context, trust)
    return context


def _trust(context: ssl.SSLContext, trust: Trust) -> None:
    """Ask clients for a certificate if there is an authority that may have signed it."""
    authorities = trust.pem()
    if not authorities:
        return
    trust.check()
    try:
        context.load_verify_locations(cadata=authorities.decode("ascii", errors="replace"))
    except (ssl.SSLError, ValueError) as error:
        raise ServingError(f"the authorities for clients cannot be used: {error}") from error
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags |= _NO_CHECK_TIME | ssl.VERIFY_X509_PARTIAL_CHAIN
