"""The certificates that the secure port shows: chosen by name, replaced, or unusable."""

import asyncio
import os
import ssl
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from podium.clock import FakeClock, give_way
from podium.errors import PodiumError
from podium.serving import secure_port
from podium.serving.options import KeyPairFiles, TlsOptions
from tests.support.secure_serving import bearer, options, with_reviewer
from tests.support.serving import Authority, Running, client_context, with_server, written


def shown_certificate(running, name=None):
    """The server's certificate, as a new connection gets it."""

    async def look():
        _, writer = await asyncio.open_connection(
            running.host, running.port, ssl=client_context(), server_hostname=name or ""
        )
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
        return found

    return look()


def der(pair):
    return ssl.PEM_cert_to_DER_cert(
        pair.chain.decode().split("-----END CERTIFICATE-----")[0] + ("-----END CERTIFICATE-----")
    )


def test_a_self_signed_certificate_is_for_localhost_and_kept_in_a_directory(tmp_path):
    directory = tmp_path / "certificates"
    choice = options(TlsOptions(directory=str(directory)))

    async def first(running):
        trust = (directory / "kube-scheduler.crt").read_bytes()
        context = client_context(trust=trust)
        assert (await running.ask("/livez", ssl=context))[0] == 200
        async with running.session.get(
            f"https://localhost:{running.port}/livez", ssl=context
        ) as answer:
            assert answer.status == 200

    with_server(first, Running().secured(choice))
    kept = (directory / "kube-scheduler.crt").read_bytes()
    assert (directory / "kube-scheduler.key").stat().st_mode & 0o777 == 0o600

    async def second(running):
        assert (directory / "kube-scheduler.crt").read_bytes() == kept

    with_server(second, Running().secured(choice))


def test_certificates_are_chosen_by_server_name(tmp_path):
    authority = Authority()
    pairs = {
        "usual": authority.issue("usual", server=True),
        "extracted": authority.issue("x", names=["a.example.com"], server=True),
        "explicit": authority.issue("y", names=["ignored.example.com"], server=True),
        "wild": authority.issue("z", names=["*.example.com"], server=True),
    }
    files = {name: written(pair, tmp_path, name) for name, pair in pairs.items()}
    tls = TlsOptions(
        files=KeyPairFiles(*files["usual"]),
        by_name=(
            KeyPairFiles(*files["extracted"]),
            KeyPairFiles(*files["explicit"], ("b.example.com",)),
            KeyPairFiles(*files["wild"]),
        ),
    )
    expected = {
        None: "usual",
        "other.org": "usual",
        "a.example.com": "extracted",
        "A.Example.Com": "extracted",
        "b.example.com": "explicit",
        "c.example.com": "wild",
        "ignored.example.com": "wild",
        "example.com": "usual",
    }

    async def scenario(running):
        by_bytes = {der(pair): name for name, pair in pairs.items()}
        found = {name: by_bytes[await shown_certificate(running, name)] for name in expected}
        assert found == expected

    with_server(scenario, Running().secured(options(tls)))


def test_certificates_are_replaced_under_load_without_a_failed_scrape(tmp_path, monkeypatch):
    monkeypatch.setattr(secure_port, "LOOK_SECONDS", 0.005)
    authority = Authority()
    pairs = [authority.issue(f"server-{n}", names=["localhost"], server=True) for n in range(6)]
    files = written(pairs[0], tmp_path)
    tls = TlsOptions(files=KeyPairFiles(*files))

    async def scenario(running, reviewer):
        over, codes = asyncio.Event(), []

        async def scrape(is_kept):
            while not over.is_set():
                headers = bearer("good") | ({} if is_kept else {"Connection": "close"})
                codes.append((await running.ask("/metrics", headers=headers))[0])

        scraping = [asyncio.ensure_future(scrape(n % 2)) for n in range(4)]
        for pair in pairs[1:]:
            half = len(pair.chain) // 2
            (tmp_path / "tls.crt").write_bytes(pair.chain[:half])  # half written
            await asyncio.sleep(0.02)
            written(pair, tmp_path)
            async with asyncio.timeout(30):
                while await shown_certificate(running) != der(pair):
                    await asyncio.sleep(0.005)
        over.set()
        await asyncio.gather(*scraping)
        assert len(codes) > 20
        assert set(codes) == {200}

    with_reviewer(tmp_path, scenario, tls=tls)


def test_a_bad_file_is_reported_once_and_the_old_certificate_stays(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(secure_port, "LOOK_SECONDS", 0.005)
    authority = Authority()
    first, second = (authority.issue(name, server=True) for name in ("first", "second"))
    tls = TlsOptions(files=KeyPairFiles(*written(first, tmp_path)))

    async def scenario(running):
        (tmp_path / "tls.key").write_bytes(second.key)
        await asyncio.sleep(0.2)
        assert await shown_certificate(running) == der(first)
        (tmp_path / "tls.crt").unlink()
        await asyncio.sleep(0.2)
        assert await shown_certificate(running) == der(first)

    with_server(scenario, Running().secured(options(tls)))
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    about = [line for line in said if "stays in use" in line]
    assert len(about) == 2
    assert "private key does not match public key" in about[0]
    assert "cannot be read" in about[1]


def test_an_expired_certificate_is_used_with_a_warning(tmp_path, caplog):
    pair = Authority().issue("old", server=True, days=-1)
    tls = TlsOptions(files=KeyPairFiles(*written(pair, tmp_path)))

    async def scenario(running):
        assert (await running.ask("/livez"))[0] == 200

    with_server(scenario, Running().secured(options(tls)))
    assert "the certificate expired at" in caplog.text
    assert "replace the file" in caplog.text


def test_a_certificate_that_expires_in_use_is_reported_once(tmp_path, caplog):
    pair = Authority().issue("soon", server=True, days=1)
    clock = FakeClock(time.time())

    async def scenario():
        tls = TlsOptions(files=KeyPairFiles(*written(pair, tmp_path)))
        port = secure_port.SecurePort(options(tls), clock)
        await port.open()
        running = asyncio.ensure_future(port.run())
        for _ in range(4):
            await give_way()
            clock.advance(86_400)
        running.cancel()
        await asyncio.wait({running})
        await port.close()

    asyncio.run(scenario())
    said = [record.getMessage() for record in caplog.records if "expired at" in record.getMessage()]
    assert len(said) == 1
    assert "tls.crt" in said[0]
    assert "replace the file" in said[0]


@pytest.mark.parametrize("is_key", [False, True], ids=["certificate", "key"])
def test_a_pipe_is_not_waited_for(is_key, tmp_path):
    """Nobody writes to it: reading it would stop everything that is served."""
    written(Authority().issue("good", server=True), tmp_path)
    pipe = tmp_path / ("tls.key" if is_key else "tls.crt")
    pipe.unlink()
    os.mkfifo(pipe)
    tls = TlsOptions(files=KeyPairFiles(str(tmp_path / "tls.crt"), str(tmp_path / "tls.key")))

    async def run():
        with pytest.raises(PodiumError, match=rf"{pipe}: Not a regular file"):
            await Running().secured(options(tls)).__aenter__()

    asyncio.run(run())


def bad_pairs():
    good, other = Authority().issue("good", server=True), Authority().issue("other", server=True)
    weak = Authority(curve=ec.SECP192R1()).issue("weak", server=True)
    too_small = "the serving certificate and its key cannot be used: .*KEY_TOO_SMALL"
    return [
        pytest.param(good.chain, other.key, "private key does not match", id="another-key"),
        pytest.param(b"", good.key, "is empty", id="empty"),
        pytest.param(b"junk", good.key, "no readable PEM certificate", id="no-certificate"),
        pytest.param(good.chain, b"junk", "no readable PEM private key", id="no-key"),
        pytest.param(good.chain[:300], good.key, "no readable PEM certificate", id="half"),
        pytest.param(good.key, good.chain, "no readable PEM certificate", id="swapped"),
        pytest.param(None, good.key, "cannot be read: ", id="missing"),
        pytest.param(weak.chain, weak.key, too_small, id="weak"),
    ]


@pytest.mark.parametrize(("chain", "key", "message"), bad_pairs())
def test_certificates_that_cannot_be_used(chain, key, message, tmp_path):
    files = tmp_path / "tls.crt", tmp_path / "tls.key"
    for path, content in zip(files, (chain, key), strict=True):
        if content is not None:
            path.write_bytes(content)
    tls = TlsOptions(files=KeyPairFiles(*map(str, files)))

    async def run():
        with pytest.raises(PodiumError, match=message) as raised:
            await Running().secured(options(tls)).__aenter__()
        assert "tls." in str(raised.value)  # the message names the file

    asyncio.run(run())
