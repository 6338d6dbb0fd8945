"""Posts JSON to one extender, with limits on the time and size of its reply."""

from __future__ import annotations

from typing import Final

import aiohttp

from podium import config
from podium.clock import Clock, Deadline
from podium.errors import CredentialsError, ExtenderError
from podium.files import read_small
from podium.tls import Certificate, Tls

_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=None)  # Deadline does it, by our clock
# A reply repeats at most the nodes of the request, with a message for each.
LEAST_LIMIT: Final = 16 << 20
_PER_BYTE_SENT: Final = 2


class Transport:
    """A pool of connections to one extender. It may be built anywhere, but has one event loop."""

    def __init__(self, settings: config.Extender, clock: Clock) -> None:
        self._url = settings.url_prefix.rstrip("/")
        self._seconds = settings.http_timeout
        self._clock = clock
        tls = tls_of(settings)
        self._server_name = tls.server_name or None
        self._context = tls.context(_source(settings))
        self._session: aiohttp.ClientSession | None = None

    async def post(self, verb: str, body: bytes) -> bytes:
        """Return the body of a successful reply; raise ``ExtenderError`` for anything else."""
        url = f"{self._url}/{verb}"
        try:
            async with Deadline(self._clock, self._seconds):
                return await self._exchange(verb, url, body)
        except TimeoutError as error:
            why = f"no reply within {self._seconds:g} s"
            raise _failed(verb, url, why) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failed(verb, url, str(error) or type(error).__name__) from error

    async def _exchange(self, verb: str, url: str, body: bytes) -> bytes:
        async with self._open().post(url, data=body, server_hostname=self._server_name) as answer:
            if answer.status != 200:
                text = f"failed {verb} with extender at URL {url}, code {answer.status}"
                raise ExtenderError(text)
            most = max(LEAST_LIMIT, _PER_BYTE_SENT * len(body))
            received = bytearray()
            async for chunk in answer.content.iter_any():
                received += chunk
                if len(received) > most:
                    raise _failed(verb, url, f"its reply has more than {most} bytes")
            return bytes(received)

    def _open(self) -> aiohttp.ClientSession:
        """Create the session at the first call, because it belongs to the running event loop."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._context),
                timeout=_NO_TIMEOUT,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={
                    "Accept-Encoding": "identity",
                    "Content-Type": "application/json",
                    "User-Agent": "podium",
                },
            )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def tls_of(settings: config.Extender) -> Tls:
    """Return TLS settings; as upstream, ``enableHTTPS`` without a CA accepts any certificate."""
    given = settings.tls or config.TLSConfig()
    authority = given.ca_data or _read(settings, given.ca_file)
    chain = given.cert_data or _read(settings, given.cert_file)
    key = given.key_data or _read(settings, given.key_file)
    return Tls(
        ca=authority,
        skip_verify=given.insecure or (settings.enable_https and not authority),
        server_name=given.server_name,
        certificate=Certificate(chain, key) if chain or key else None,
    )


def _read(settings: config.Extender, path: str) -> bytes:
    try:
        return read_small(path) if path else b""
    except OSError as error:
        raise CredentialsError(f"{_source(settings)}: {error}") from error


def _source(settings: config.Extender) -> str:
    return f"extender {settings.url_prefix}"


def _failed(verb: str, url: str, why: str) -> ExtenderError:
    return ExtenderError(f"failed {verb} with extender at URL {url}: {why}")
