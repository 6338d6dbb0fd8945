"""Servers of health and metrics with certificates of any kind, and clients of them."""

import asyncio
import datetime
import ssl
from pathlib import Path

import aiohttp
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podium.clock import LoopClock
from podium.live.endpoints import Shown
from podium.live.health import Health
from podium.live.serving import Server
from podium.metrics import Metrics
from podium.serving.key_pair import KeyPair

_CURVE = ec.SECP256R1()
PEM = serialization.Encoding.PEM
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


class Authority:
    """A certificate authority, or an intermediate one that ``parent`` has signed."""

    def __init__(self, name="authority", parent=None, days=2, curve=_CURVE):
        self._curve = curve
        self.key = ec.generate_private_key(curve)
        self.name = name
        self._parent = parent
        self.certificate = self._signed(
            (parent or self).key,
            (parent or self).name,
            [(NameOID.COMMON_NAME, name)],
            (x509.BasicConstraints(ca=True, path_length=None),),
            (self.key, days),
        )

    @property
    def pem(self):
        return self.certificate.public_bytes(PEM)

    def issue(self, name, organizations=(), names=(), days=2, server=False):
        """A pair for this common name; it has expired if ``days`` is negative."""
        key = ec.generate_private_key(self._curve)
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        extensions = [
            x509.BasicConstraints(ca=False, path_length=None),
            x509.ExtendedKeyUsage([usage]),
        ]
        if names:
            extensions.append(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]))
        subject = [
            *((NameOID.ORGANIZATION_NAME, each) for each in organizations),
            *([(NameOID.COMMON_NAME, name)] if name else []),
        ]
        leaf = self._signed(self.key, self.name, subject, extensions, (key, days))
        chain = leaf.public_bytes(PEM) + (self.pem if self._parent else b"")
        form = serialization.PrivateFormat.PKCS8
        return KeyPair(chain, key.private_bytes(PEM, form, serialization.NoEncryption()), name)

    def _signed(self, signing_key, issuer, subject, extensions, key_and_days):
        key, days = key_and_days
        attributes = [x509.NameAttribute(oid, value) for oid, value in subject]
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name(attributes))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - 10 * DAY)
            .not_valid_after(NOW + days * DAY)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(signing_key, hashes.SHA256())


def written(pair, folder, stem="tls"):
    """The files of a pair: those of its certificate and of its key."""
    paths = Path(folder, f"{stem}.crt"), Path(folder, f"{stem}.key")
    for path, content in zip(paths, (pair.chain, pair.key), strict=True):
        path.write_bytes(content)
    return tuple(map(str, paths))


def client_context(folder=None, pair=None, trust=None):
    """A client's TLS, which shows a certificate and verifies the server's if it can."""
    context = ssl.create_default_context(cadata=trust.decode() if trust else None)
    if trust is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if pair is not None:
        context.load_cert_chain(*written(pair, folder, f"client-{pair.source}"))
    return context


class Running:
    """A server whose health tests change, and a client of it."""

    def __init__(self, **shown):
        self.stopping = False
        self.metrics = Metrics()
        health = Health(
            is_stopping=lambda: self.stopping,
            is_synced=lambda: True,
            watches=lambda: None,
            event_loop=lambda: None,
        )
        document = {"componentconfig": {"kind": "KubeSchedulerConfiguration"}}
        self.shown = Shown(
            health=health,
            metrics=self.metrics,
            clock=LoopClock(),
            configuration=lambda: document,
            **shown,
        )
        self.server = Server(self.shown)
        self.options = None

    def secured(self, options):
        self.options = options
        return self

    async def __aenter__(self):
        try:
            if self.options is None:
                self.host, self.port = await self.server.start("127.0.0.1", 0)
                self.url = f"http://{self.host}:{self.port}"
            else:
                self.host, self.port = await self.server.start_secure(self.options)
                self.url = f"https://{self.host}:{self.port}"
        except BaseException:
            await self.server.stop()
            raise
        self.session = aiohttp.ClientSession(self.url)
        return self

    async def __aexit__(self, *_):
        await self.session.close()
        await self.server.stop()

    async def ask(self, path, method="GET", **options):
        """The code, text and headers of an answer, over a connection that may be kept."""
        if self.options is not None:
            options.setdefault("ssl", client_context())
        async with self.session.request(method, path, **options) as answer:
            return answer.status, await answer.text(), answer.headers


def with_server(scenario, running=None):
    async def run():
        async with running or Running() as started:
            await scenario(started)

    asyncio.run(run())
