"""A certificate of our own, for a scheduler that is not given one: in memory, or in --cert-dir."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podium.errors import ServingError
from podium.logs import get_logger
from podium.serving.key_pair import KeyPair, as_ip, read_pair
from podium.serving.options import KeyPairFiles

log = get_logger(__name__)

PAIR_NAME: Final = "kube-scheduler"  # the name of the files in --cert-dir
VALID_FOR: Final = timedelta(days=365)
_KEY_BITS: Final = 2048
_EXPONENT: Final = 65537
_PEM: Final = serialization.Encoding.PEM


def own_pair(directory: str, bind_address: str, now: datetime) -> Callable[[], KeyPair]:
    """Return what reads our own pair: the one of the directory, made if it is not there yet."""
    if not directory:
        pair = self_signed(hosts_of(bind_address), now)
        log.info("Generated self-signed cert in-memory")
        return lambda: pair
    base = os.path.join(directory, PAIR_NAME)
    files = KeyPairFiles(f"{base}.crt", f"{base}.key")
    if not (os.path.exists(files.certificate) and os.path.exists(files.key)):
        _write(self_signed(hosts_of(bind_address), now), files)
        log.info(f"Generated self-signed cert ({files.certificate}, {files.key})")
    return lambda: read_pair(files)


def hosts_of(bind_address: str) -> list[str]:
    """Return the names and addresses of our own certificate, as kube-scheduler chooses them."""
    is_any = ipaddress.ip_address(bind_address).is_unspecified
    return ["localhost", "127.0.0.1", *([] if is_any else [bind_address])]


def _write(pair: KeyPair, files: KeyPairFiles) -> None:
    """Write a new pair; the key is readable for its owner only."""
    try:
        Path(files.certificate).parent.mkdir(parents=True, exist_ok=True)
        for path, content, mode in (
            (files.certificate, pair.chain, 0o644),
            (files.key, pair.key, 0o600),
        ):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
    except OSError as error:
        where = f"{error.filename}: {error.strerror}"
        raise ServingError(
            f"--cert-dir: the self-signed certificate cannot be written: {where}"
        ) from error


def self_signed(hosts: Sequence[str], now: datetime) -> KeyPair:
    """Make a pair for these names and addresses: signed by an authority that is thrown away."""
    host, stamp = hosts[0], int(now.timestamp())
    authority_key, key = _new_key(), _new_key()
    authority_name = _name(f"{host}-ca@{stamp}")
    authority = (
        _builder(authority_name, authority_name, authority_key, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    leaf = (
        _builder(_name(f"{host}@{stamp}"), authority_name, key, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([_general_name(each) for each in dict.fromkeys(hosts)]),
            critical=False,
        )
        .sign(authority_key, hashes.SHA256())
    )
    chain = leaf.public_bytes(_PEM) + authority.public_bytes(_PEM)
    return KeyPair(chain, _pem_of(key), "the self-signed certificate")


def _new_key() -> rsa.RSAPrivateKey:
    # RSA, as upstream: cipher suites that --tls-cipher-suites names may need it.
    return rsa.generate_private_key(_EXPONENT, _KEY_BITS)


def _pem_of(key: rsa.RSAPrivateKey) -> bytes:
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(_PEM, form, serialization.NoEncryption())


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: rsa.RSAPrivateKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # clients' clocks may be behind
        .not_valid_after(now + VALID_FOR)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    address = as_ip(host)
    return x509.DNSName(host) if address is None else x509.IPAddress(address)
