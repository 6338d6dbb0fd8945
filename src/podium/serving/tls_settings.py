"""TLS versions, cipher suites and curves: their names in Go's flags, and in OpenSSL."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from typing import Final

from podium.errors import did_you_mean

VERSIONS: Final = {
    "VersionTLS10": ssl.TLSVersion.TLSv1,
    "VersionTLS11": ssl.TLSVersion.TLSv1_1,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}
DEFAULT_VERSION: Final = "VersionTLS12"

# Suites of TLS 1.3 cannot be chosen, in Go as in Python; they are accepted and always offered.
_OF_TLS_1_3: Final = (
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
)
# In the order in which the server prefers them.
_SECURE: Final = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
}
_INSECURE: Final = {
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA": "DES-CBC3-SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA": "ECDHE-RSA-DES-CBC3-SHA",
    "TLS_RSA_WITH_RC4_128_SHA": "RC4-SHA",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA": "ECDHE-ECDSA-RC4-SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA": "ECDHE-RSA-RC4-SHA",
}
SUITES: Final = {**_SECURE, **_INSECURE, **dict.fromkeys(_OF_TLS_1_3, "")}
# What Go offers by default for TLS 1.2.
_DEFAULT_SUITES: Final = tuple(dict.fromkeys(_SECURE.values()))

# By Go's CurveID. Python can set one curve; the hybrid exchange has no name there.
CURVES: Final = {23: "prime256v1", 24: "secp384r1", 25: "secp521r1", 29: "X25519"}
_HYBRID: Final = (4587, 4588, 4589)
_MOST_CURVE: Final = 65535


def problems_of(
    min_version: str, suites: tuple[str, ...], curves: tuple[int, ...]
) -> Iterator[tuple[str, str]]:
    """Yield the flag and what is wrong with it, in kube-scheduler's words and more."""
    if min_version and min_version not in VERSIONS:
        hint = did_you_mean(min_version, VERSIONS)
        yield "--tls-min-version", f'unknown tls version "{min_version}"{hint}'
    for name in suites:
        if name not in SUITES:
            hint = did_you_mean(name, SUITES)
            yield "--tls-cipher-suites", f"Cipher suite {name} not supported or doesn't exist{hint}"
        elif _is_missing(name):
            yield "--tls-cipher-suites", f"this machine's OpenSSL does not have {name}; remove it"
    yield from (("--tls-curve-preferences", problem) for problem in _curve_problems(curves))


def _curve_problems(curves: tuple[int, ...]) -> Iterator[str]:
    for number in dict.fromkeys(curves):
        if not 0 < number <= _MOST_CURVE:
            yield f"curve preference {number} is out of range (must be 1-{_MOST_CURVE})"
        elif curves.count(number) > 1:
            yield f"duplicate curve preference {number}"
        elif number not in CURVES and number not in _HYBRID:
            yield f"curve preference {number} is not supported; use 23, 24, 25 or 29"
    if curves and len(set(curves) & CURVES.keys()) != 1:
        yield (
            "podium can offer all key exchanges or exactly one of 23, 24, 25 and 29; "
            "give one of them, or leave the flag out"
        )


def _is_missing(name: str) -> bool:
    if not SUITES[name]:
        return False
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(SUITES[name])
    except ssl.SSLError:
        return True
    return False


def apply(
    context: ssl.SSLContext, min_version: str, suites: tuple[str, ...], curves: tuple[int, ...]
) -> None:
    """Set the least version, the cipher suites of TLS 1.2, and the curve."""
    context.minimum_version = VERSIONS[min_version or DEFAULT_VERSION]
    chosen = [SUITES[name] for name in suites if SUITES[name]] or _DEFAULT_SUITES
    if suites and not any(SUITES[name] for name in suites):
        context.minimum_version = ssl.TLSVersion.TLSv1_3  # no suite of TLS 1.2 is wanted
    context.set_ciphers(":".join(chosen))
    for number in curves:
        if number in CURVES:
            context.set_ecdh_curve(CURVES[number])
