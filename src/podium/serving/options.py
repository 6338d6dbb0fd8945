"""What flags say about serving; `podium scheduler` fills it in, `app.process` hands it on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

DEFAULT_PORT: Final = 10259


@dataclass(frozen=True, slots=True)
class KeyPairFiles:
    """The files of a certificate and its key, and the server names that it is for.

    Without names, those in the certificate count.
    """

    certificate: str
    key: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsOptions:
    """Which certificates to show, and which versions, cipher suites and curves to accept.

    ``files`` is None for a certificate of our own: kept in memory, or in ``directory``.
    """

    files: KeyPairFiles | None = None
    directory: str = ""
    by_name: tuple[KeyPairFiles, ...] = ()
    min_version: str = ""
    cipher_suites: tuple[str, ...] = ()
    curves: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeaderOptions:
    """Headers in which a trusted proxy names the user; ``authority`` is a file."""

    authority: str = ""
    usernames: tuple[str, ...] = ("x-remote-user",)
    uids: tuple[str, ...] = ()
    groups: tuple[str, ...] = ("x-remote-group",)
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)
    allowed_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationOptions:
    """How to find out who sends a request."""

    kubeconfig: str = ""
    skips_lookup: bool = False
    tolerates_lookup_failure: bool = True
    cache_seconds: float = 10.0
    client_authority: str = ""  # the path of a file
    request_header: RequestHeaderOptions = field(default_factory=RequestHeaderOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationOptions:
    """How to find out what the sender of a request may do."""

    kubeconfig: str = ""
    open_paths: tuple[str, ...] = ("/healthz", "/readyz", "/livez")
    allowed_seconds: float = 10.0
    denied_seconds: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOptions:
    """Where to serve: with TLS, and on loopback without; a port of 0 serves nothing."""

    bind_address: str = "0.0.0.0"
    secure_port: int = DEFAULT_PORT
    plain_port: int = 0
    shares_port: bool = False
    tls: TlsOptions = field(default_factory=TlsOptions)
    authentication: AuthenticationOptions = field(default_factory=AuthenticationOptions)
    authorization: AuthorizationOptions = field(default_factory=AuthorizationOptions)
