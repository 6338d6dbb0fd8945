"""Which connections the secure port accepts: versions, cipher suites, what is not TLS."""

import asyncio
import contextlib
import ssl

import pytest
from aiohttp import ClientError

from podium.serving.options import TlsOptions
from tests.support.secure_serving import options
from tests.support.serving import Running, client_context, with_server


@pytest.mark.parametrize(
    ("tls", "client", "works"),
    [
        pytest.param({}, {"maximum_version": ssl.TLSVersion.TLSv1_2}, True, id="tls-1.2"),
        pytest.param(
            {"min_version": "VersionTLS13"},
            {"maximum_version": ssl.TLSVersion.TLSv1_2},
            False,
            id="tls-1.3-wanted",
        ),
        pytest.param(
            {"cipher_suites": ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",)},
            {
                "maximum_version": ssl.TLSVersion.TLSv1_2,
                "ciphers": "ECDHE-RSA-AES128-GCM-SHA256",
            },
            False,
            id="another-suite",
        ),
        pytest.param(
            {"cipher_suites": ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",)},
            {
                "maximum_version": ssl.TLSVersion.TLSv1_2,
                "ciphers": "ECDHE-RSA-AES256-GCM-SHA384",
            },
            True,
            id="the-suite",
        ),
        pytest.param(
            {"cipher_suites": ("TLS_AES_128_GCM_SHA256",)},
            {"maximum_version": ssl.TLSVersion.TLSv1_2},
            False,
            id="no-suite-of-tls-1.2",
        ),
    ],
)
def test_versions_and_cipher_suites(tls, client, works):
    async def scenario(running):
        context = client_context()
        context.maximum_version = client["maximum_version"]
        if "ciphers" in client:
            context.set_ciphers(client["ciphers"])
        try:
            found = (await running.ask("/livez", ssl=context))[0] == 200
        except ClientError:
            found = False
        assert found == works

    with_server(scenario, Running().secured(options(TlsOptions(**tls))))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET /metrics HTTP/1.1\r\n\r\n", id="plain-http"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="preface-of-http-2"),
        pytest.param(b"\x16\x03\x01\xff\xff" + b"\x00" * 500, id="broken-handshake"),
    ],
)
def test_what_is_no_handshake_is_closed(sent):
    async def scenario(running):
        reader, writer = await asyncio.open_connection(running.host, running.port)
        writer.write(sent)
        with contextlib.suppress(ConnectionError):
            assert b"HTTP/1.1 200" not in await asyncio.wait_for(reader.read(), 20)
        writer.close()
        assert (await running.ask("/livez"))[0] == 200

    with_server(scenario, Running().secured(options()))
