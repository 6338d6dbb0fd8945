"""The flags about serving: read into options, with kube-scheduler's words about mistakes."""

from __future__ import annotations

from typing import Final

from podium.cli.arguments.scheduler_flags import Given
from podium.config.problems import Problems
from podium.serving import tls_settings
from podium.serving.options import (
    AuthenticationOptions,
    AuthorizationOptions,
    KeyPairFiles,
    RequestHeaderOptions,
    ServingOptions,
    TlsOptions,
)

SOURCE: Final = "the command line"
MOST_PORTS: Final = 65535
_HEADERS: Final = ("username-headers", "uid-headers", "group-headers", "extra-headers-prefix")


def read(given: Given, plain_port: int = 0) -> ServingOptions:
    """Return what the flags say about serving; ``check`` has found no mistakes in them.

    Raise ``ConfigError`` if plain HTTP cannot have this port.
    """
    _check_plain_port(plain_port, given.value("secure-port"))
    host = given.value("bind-address")
    return ServingOptions(
        bind_address="127.0.0.1" if host == "localhost" else host,
        secure_port=given.value("secure-port"),
        plain_port=plain_port,
        shares_port=given.value("permit-port-sharing"),
        tls=_tls(given),
        authentication=_authentication(given),
        authorization=AuthorizationOptions(
            kubeconfig=given.value("authorization-kubeconfig"),
            open_paths=tuple(given.value("authorization-always-allow-paths")),
            allowed_seconds=given.value("authorization-webhook-cache-authorized-ttl"),
            denied_seconds=given.value("authorization-webhook-cache-unauthorized-ttl"),
        ),
    )


def _tls(given: Given) -> TlsOptions:
    certificate, key = given.value("tls-cert-file"), given.value("tls-private-key-file")
    return TlsOptions(
        files=KeyPairFiles(certificate, key) if certificate or key else None,
        directory=given.value("cert-dir"),
        by_name=tuple(map(_named_pair, given.value("tls-sni-cert-key"))),
        min_version=given.value("tls-min-version"),
        cipher_suites=tuple(given.value("tls-cipher-suites")),
        curves=tuple(given.value("tls-curve-preferences")),
    )


def _named_pair(text: str) -> KeyPairFiles:
    """Read ``a.crt,a.key:a.example.com,*.example.com``."""
    files, _, names = text.partition(":")
    certificate, _, key = files.partition(",")
    return KeyPairFiles(certificate, key, tuple(names.split(",")) if names else ())


def _authentication(given: Given) -> AuthenticationOptions:
    def listed(name: str) -> tuple[str, ...]:
        return tuple(each.strip() for each in given.value(f"requestheader-{name}"))

    return AuthenticationOptions(
        kubeconfig=given.value("authentication-kubeconfig"),
        skips_lookup=given.value("authentication-skip-lookup"),
        tolerates_lookup_failure=given.value("authentication-tolerate-lookup-failure"),
        cache_seconds=given.value("authentication-token-webhook-cache-ttl"),
        client_authority=given.value("client-ca-file"),
        request_header=RequestHeaderOptions(
            authority=given.value("requestheader-client-ca-file"),
            usernames=listed("username-headers"),
            uids=listed("uid-headers"),
            groups=listed("group-headers"),
            extra_prefixes=listed("extra-headers-prefix"),
            allowed_names=listed("allowed-names"),
        ),
    )


def _check_plain_port(port: int, secure_port: int) -> None:
    problems = Problems()
    if not 0 <= port <= MOST_PORTS:
        between = f"must be between 0 and {MOST_PORTS}, inclusive. 0 for turning off plain HTTP"
        problems.add("--plain-http-port", f"{port} {between}")
    elif port and port == secure_port:
        problems.add("--plain-http-port", "must differ from --secure-port")
    problems.raise_if_any(SOURCE)


def check(given: Given, problems: Problems) -> None:
    """Add every mistake in these flags; files are read when the scheduler starts."""
    _check_port(given.value("secure-port"), problems)
    for flag, problem in tls_settings.problems_of(
        given.value("tls-min-version"),
        tuple(given.value("tls-cipher-suites")),
        tuple(given.value("tls-curve-preferences")),
    ):
        problems.add(flag, problem)
    if bool(given.value("tls-cert-file")) != bool(given.value("tls-private-key-file")):
        missing = "--tls-private-key-file" if given.value("tls-cert-file") else "--tls-cert-file"
        problems.add(missing, "missing filename for serving cert: give both flags or neither")
    for text in given.value("tls-sni-cert-key"):
        _check_named_pair(text, problems)
    for name in _HEADERS:
        flag = f"requestheader-{name}"
        if not all(each.strip() for each in given.value(flag)):
            problems.add(f"--{flag}", f'empty value in "{flag}"')
    for path in given.value("authorization-always-allow-paths"):
        if "*" in path[:-1]:
            flag = "--authorization-always-allow-paths"
            problems.add(flag, f'only trailing * allowed in "{path}"')


def _check_port(port: int, problems: Problems) -> None:
    if not 0 <= port <= MOST_PORTS:
        between = f"must be between 0 and {MOST_PORTS}, inclusive. 0 for turning off secure port"
        problems.add("--secure-port", f"{port} {between}")


def _check_named_pair(text: str, problems: Problems) -> None:
    files, colon, names = text.partition(":")
    if colon and not names:
        problems.add("--tls-sni-cert-key", f'"{text}": empty names list is not allowed')
    if files.count(",") != 1 or not all(files.split(",")):
        expected = "expected comma separated certificate and key file paths"
        problems.add("--tls-sni-cert-key", f'"{text}": {expected}')
