"""Client certificates on the secure port, and the authorities that they are checked against."""

import asyncio
import contextlib
import ssl

import pytest
from aiohttp import ClientError

from podium.errors import Forbidden, NotFound, PodiumError, Unreachable
from podium.serving import delegation, secure_port
from podium.serving.options import (
    AuthenticationOptions,
    KeyPairFiles,
    RequestHeaderOptions,
    TlsOptions,
)
from tests.support.secure_serving import delegating, kubeconfig, options, with_reviewer
from tests.support.serving import Authority, Running, client_context, written


def test_client_certificates(tmp_path):
    clients, proxies, strangers = Authority("clients"), Authority("proxies"), Authority("strangers")
    between = Authority("between", parent=clients)
    (tmp_path / "clients.pem").write_bytes(clients.pem)
    (tmp_path / "proxies.pem").write_bytes(proxies.pem)
    header = RequestHeaderOptions(
        authority=str(tmp_path / "proxies.pem"), allowed_names=("front-proxy",)
    )
    files = {"client_authority": str(tmp_path / "clients.pem"), "request_header": header}
    named = {"X-Remote-User": "monitor", "X-Remote-Group": "g"}
    masters = ("system:masters",)
    cases = [
        ("of a master", clients.issue("root", masters), {}, 200),
        ("of a user without rights", clients.issue("poor"), {}, 403),
        ("of a user with rights", clients.issue("monitor"), {}, 200),
        ("through an intermediate authority", between.issue("monitor"), {}, 200),
        ("without a name", clients.issue(""), {}, 401),
        ("expired", clients.issue("root", masters, days=-1), {}, 401),
        ("of a proxy that names a user", proxies.issue("front-proxy"), named, 200),
        ("of a proxy that names nobody", proxies.issue("front-proxy"), {}, 401),
        ("of another proxy", proxies.issue("other"), named, 401),
        ("of a proxy as a master", proxies.issue("front-proxy", masters), {}, 401),
        ("of a user who plays proxy", clients.issue("front-proxy"), named, 403),
        ("of a server", clients.issue("root", masters, server=True), {}, "refused"),
        ("of a stranger", strangers.issue("root", masters), {}, "refused"),
        ("none, with the headers of a proxy", None, named, 403),
    ]

    async def answered(running, pair, headers):
        context = client_context(tmp_path, pair)
        with contextlib.suppress(ClientError, ssl.SSLError):
            return (await running.ask("/metrics", headers=headers, ssl=context))[0]
        return "refused"

    async def scenario(running, reviewer):
        found = {what: await answered(running, pair, headers) for what, pair, headers, _ in cases}
        assert found == {what: expected for what, _, _, expected in cases}

    with_reviewer(tmp_path, scenario, **files)


def test_a_client_that_tls_refuses_is_logged_once(tmp_path, caplog):
    """Clients only see that their connection ends, and choose how often that happens."""
    (tmp_path / "clients.pem").write_bytes(Authority("clients").pem)
    stranger = Authority("strangers").issue("stranger")

    async def scenario(running, reviewer):
        for _ in range(3):
            assert not await is_known(running, client_context(tmp_path, stranger))
        lines = [each.getMessage() for each in caplog.records]
        [line] = [each for each in lines if not each.startswith("configmap")]
        why = (
            "no known authority vouches for its certificate: unable to get local issuer certificate"
        )
        assert line == f"TLS refused a client why='{why}' client='127.0.0.1'"

    with_reviewer(tmp_path, scenario, client_authority=str(tmp_path / "clients.pem"))


async def is_known(running, context):
    with contextlib.suppress(ClientError, ssl.SSLError):
        close = {"Connection": "close"}
        return (await running.ask("/configz", ssl=context, headers=close))[0] == 200
    return False


def test_authorities_are_looked_up_in_the_cluster_and_renewed(tmp_path, monkeypatch):
    monkeypatch.setattr(secure_port, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(secure_port, "LOOK_UP_SECONDS", 0.05)
    first, second = Authority("first"), Authority("second")
    of_first = client_context(tmp_path, first.issue("of-first", ("system:masters",)))
    of_second = client_context(tmp_path, second.issue("of-second", ("system:masters",)))

    async def scenario(running, reviewer):
        assert not await is_known(running, of_first)  # there is nothing in the ConfigMap yet
        for bundle, known in ((first.pem, (True, False)), (second.pem, (False, True))):
            reviewer.config_map = {"client-ca-file": bundle.decode()}
            async with asyncio.timeout(30):
                while (await is_known(running, of_first), await is_known(running, of_second)) != (
                    known
                ):
                    await asyncio.sleep(0.01)
        reviewer.config_map = {"client-ca-file": "garbage"}
        await asyncio.sleep(0.2)
        assert await is_known(running, of_second)

    with_reviewer(tmp_path, scenario)


def test_a_broken_certificate_does_not_keep_an_authority(tmp_path, monkeypatch, caplog):
    """An authority that was stolen must not count any more, whatever else is wrong."""
    monkeypatch.setattr(secure_port, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(secure_port, "LOOK_UP_SECONDS", 0.01)
    first, second = Authority("first"), Authority("second")
    of_first = client_context(tmp_path, first.issue("root", ("system:masters",)))
    of_second = client_context(tmp_path, second.issue("root2", ("system:masters",)))
    tls = TlsOptions(files=KeyPairFiles(*written(first.issue("serving", server=True), tmp_path)))

    async def scenario(running, reviewer):
        async def comes_to_know(authority, context):
            reviewer.config_map = {"client-ca-file": authority.pem.decode()}
            async with asyncio.timeout(30):
                while not await is_known(running, context):
                    await asyncio.sleep(0.01)

        await comes_to_know(first, of_first)
        (tmp_path / "tls.crt").write_bytes(b"junk")
        await comes_to_know(second, of_second)
        assert not await is_known(running, of_first)

    with_reviewer(tmp_path, scenario, tls=tls)
    assert caplog.text.count("what was loaded before stays in use") == 1


def test_a_lookup_that_must_succeed(tmp_path):
    path = kubeconfig(tmp_path, "http://127.0.0.1:9")
    choice = delegating(path, tolerates_lookup_failure=False)

    async def run():
        with pytest.raises(PodiumError, match="unable to look up configmap kube-system/extension"):
            await Running().secured(choice).__aenter__()

    asyncio.run(run())


@pytest.mark.parametrize("flag", ["clients", "proxies"])
def test_an_authority_that_cannot_be_read(flag, tmp_path):
    path = str(tmp_path / "authority.pem")
    header = RequestHeaderOptions(authority=path if flag == "proxies" else "")
    authentication = AuthenticationOptions(
        skips_lookup=True,
        client_authority=path if flag == "clients" else "",
        request_header=header,
    )

    async def run():
        for content, message in ((None, "cannot be read"), (b"junk", "no readable PEM cert")):
            if content:
                (tmp_path / "authority.pem").write_bytes(content)
            with pytest.raises(PodiumError, match=message):
                await Running().secured(options(authentication=authentication)).__aenter__()

    asyncio.run(run())


def test_a_lookup_that_fails_in_any_way_is_tried_again(tmp_path, monkeypatch, caplog):
    """An authority that replaces another is noticed after errors that are not podium's."""
    monkeypatch.setattr(secure_port, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(secure_port, "LOOK_UP_SECONDS", 0.01)
    faults = [OSError("too many open files"), TimeoutError("slow"), ValueError("odd")]
    look_up = delegation.look_up

    async def failing(connection):
        if faults:
            raise faults.pop(0)
        return await look_up(connection)

    authority = Authority()
    of_root = client_context(tmp_path, authority.issue("root", ("system:masters",)))

    async def scenario(running, reviewer):
        monkeypatch.setattr(delegation, "look_up", failing)
        reviewer.config_map = {"client-ca-file": authority.pem.decode()}
        async with asyncio.timeout(30):
            while not await is_known(running, of_root):
                await asyncio.sleep(0.01)

    with_reviewer(tmp_path, scenario)
    assert "OSError: too many open files; none of them counts" in caplog.text


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        pytest.param(Forbidden("no", 403), "bind the Role extension-apiserver", id="forbidden"),
        pytest.param(NotFound("none", 404), "kube-apiserver writes it", id="missing"),
        pytest.param(Unreachable("gone"), "gone; none of them counts", id="no-connection"),
    ],
)
def test_a_lookup_that_fails_says_what_to_do(error, remedy, tmp_path, monkeypatch, caplog):
    async def failing(connection):
        raise error

    monkeypatch.setattr(delegation, "look_up", failing)

    async def scenario(running, reviewer):
        assert (await running.ask("/livez"))[0] == 200

    with_reviewer(tmp_path, scenario)
    assert remedy in caplog.text


def test_authorities_that_were_found_count_while_the_lookup_fails(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(secure_port, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(secure_port, "LOOK_UP_SECONDS", 0.01)
    authority = Authority()
    of_root = client_context(tmp_path, authority.issue("root", ("system:masters",)))
    failed = asyncio.Event()

    async def failing(connection):
        failed.set()
        raise Unreachable("gone")

    async def scenario(running, reviewer):
        reviewer.config_map = {"client-ca-file": authority.pem.decode()}
        async with asyncio.timeout(30):
            while not await is_known(running, of_root):
                await asyncio.sleep(0.01)
            monkeypatch.setattr(delegation, "look_up", failing)
            await failed.wait()
        assert await is_known(running, of_root)

    with_reviewer(tmp_path, scenario)
    assert "gone; those known before still count" in caplog.text
