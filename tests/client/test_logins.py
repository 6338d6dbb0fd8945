"""Credentials that change: token files, service accounts, exec plugins."""

import asyncio
import json
import os
import sys

import pytest

from podium.client.endpoints import in_cluster
from podium.client.logins import (
    GROUP,
    REREAD_SECONDS,
    TIMEOUT_SECONDS,
    ExecLogin,
    Program,
    TokenFile,
)
from podium.clock import FakeClock
from podium.errors import CredentialsError
from podium.tls import Certificate


def token(login):
    return asyncio.run(login.token())


# --- token files ----------------------------------------------------------------------------------


def test_a_renewed_token_is_read_after_a_minute(tmp_path):
    clock, path = FakeClock(), tmp_path / "token"
    path.write_text("one\n")
    login = TokenFile(path, clock, "here")
    assert token(login) == "one"

    path.write_text("two")
    clock.advance(REREAD_SECONDS - 1)
    assert token(login) == "one"
    clock.advance(1)
    assert token(login) == "two"


def test_a_refused_token_is_read_at_once(tmp_path):
    path = tmp_path / "token"
    path.write_text("one")
    login = TokenFile(path, FakeClock(), "here")
    token(login)
    assert not login.refuse()  # the same again: no use

    path.write_text("two")

    assert login.refuse()
    assert token(login) == "two"


@pytest.mark.parametrize("spoil", [os.unlink, lambda path: path.write_text("")])
def test_a_token_outlives_its_file(tmp_path, spoil):
    clock, path = FakeClock(), tmp_path / "token"
    path.write_text("one")
    login = TokenFile(path, clock, "here")
    token(login)

    spoil(path)
    clock.advance(REREAD_SECONDS)

    assert token(login) == "one"


def test_without_a_token_it_says_where_one_should_be(tmp_path):
    with pytest.raises(CredentialsError, match=r"here: the token file cannot be read: .*token"):
        token(TokenFile(tmp_path / "token", FakeClock(), "here"))
    (tmp_path / "token").write_text(" ")
    with pytest.raises(CredentialsError, match=r"here: the token file .*token is empty"):
        token(TokenFile(tmp_path / "token", FakeClock(), "here"))


# --- in a pod -------------------------------------------------------------------------------------


def test_a_pod_finds_its_server(tmp_path):
    (tmp_path / "ca.crt").write_text("ca")
    (tmp_path / "token").write_text("secret")
    (tmp_path / "namespace").write_text("kube-system")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}

    found = in_cluster(FakeClock(), environment, tmp_path)

    assert (found.server, found.tls.ca) == ("https://[fd00::1]:443", b"ca")
    assert (token(found.login), found.namespace) == ("secret", "kube-system")


def test_elsewhere_it_says_what_to_do(tmp_path):
    with pytest.raises(CredentialsError, match=r"does not run in a pod: .*--kubeconfig"):
        in_cluster(FakeClock(), {}, tmp_path)
    environment = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(CredentialsError, match="the service account of this pod: cannot be read"):
        in_cluster(FakeClock(), environment, tmp_path)
    environment["KUBERNETES_SERVICE_PORT"] = "tcp://10.0.0.1:443"
    with pytest.raises(CredentialsError, match="the service account of this pod: server is"):
        in_cluster(FakeClock(), environment, tmp_path)


# --- exec plugins ---------------------------------------------------------------------------------


def plugin(script, **changes):
    """An exec plugin that is a line of Python; it counts its runs in the file $RUNS."""
    fields = {
        "api_version": f"{GROUP}/v1",
        "command": sys.executable,
        "args": ("-c", script),
        "env": {},
        "install_hint": "",
        "source": "here",
    }
    return Program(**fields | changes)


def printing(**status):
    found = {"apiVersion": f"{GROUP}/v1", "kind": "ExecCredential", "status": status}
    return f"import os; open(os.environ['RUNS'], 'a').write('x'); print({json.dumps(found)!r})"


def test_an_answer_is_kept_until_it_expires(tmp_path):
    clock, runs = FakeClock(1_700_000_000), tmp_path / "runs"
    script = printing(token="secret", expirationTimestamp="2023-11-14T22:14:20Z")  # in a minute
    login = ExecLogin(plugin(script, env={"RUNS": str(runs)}), clock)

    assert [token(login), token(login)] == ["secret", "secret"]
    assert runs.read_text() == "x"
    clock.advance(60)
    token(login)
    assert runs.read_text() == "xx"


def test_a_refused_answer_is_asked_for_again(tmp_path):
    runs = tmp_path / "runs"
    login = ExecLogin(plugin(printing(token="a"), env={"RUNS": str(runs)}), FakeClock())
    token(login)

    assert login.refuse()
    assert not login.refuse()  # asked for already
    token(login)

    assert runs.read_text() == "xx"


def test_many_requests_ask_once(tmp_path):
    runs = tmp_path / "runs"
    login = ExecLogin(plugin(printing(token="a"), env={"RUNS": str(runs)}), FakeClock())

    async def ask():
        return await asyncio.gather(*(login.token() for _ in range(5)))

    assert asyncio.run(ask()) == ["a"] * 5
    assert runs.read_text() == "x"


def test_it_may_bring_a_certificate(tmp_path):
    script = printing(clientCertificateData="crt", clientKeyData="key")
    login = ExecLogin(plugin(script, env={"RUNS": str(tmp_path / "runs")}), FakeClock())

    assert token(login) == ""
    assert login.certificate() == Certificate(b"crt", b"key")


def test_it_hears_of_the_cluster(tmp_path):
    script = (
        "import json, os; info = json.loads(os.environ['KUBERNETES_EXEC_INFO']); "
        "print(json.dumps({**info, 'status': {'token': info['spec']['cluster']['server']}}))"
    )
    program = plugin(script, cluster={"server": "https://a"})

    assert token(ExecLogin(program, FakeClock())) == "https://a"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param("print('hello')", "it did not print an ExecCredential", id="no-json"),
        pytest.param("print('{}')", "it did not print an ExecCredential", id="no-credential"),
        pytest.param(
            r"""import os; os.write(1, b'{"kind":"\xff"}')""",
            "it did not print an Exec",
            id="no-text",
        ),
        pytest.param(
            "import sys; sys.exit('log in first')",
            "it ended with code 1: log in first",
            id="exit-code",
        ),
        pytest.param(
            printing().replace(f"{GROUP}/v1", "v7"), "it printed ExecCredential of v7", id="version"
        ),
        pytest.param(printing(), "it printed neither a token nor a client certificate", id="empty"),
        pytest.param(
            printing(token="a", expirationTimestamp="soon"),
            "its expirationTimestamp is not a time",
            id="no-time",
        ),
    ],
)
def test_what_a_plugin_gets_wrong(tmp_path, script, expected):
    login = ExecLogin(plugin(script, env={"RUNS": str(tmp_path / "runs")}), FakeClock())

    with pytest.raises(CredentialsError, match=f"here: exec plugin .*: {expected}"):
        token(login)


def test_a_missing_plugin_comes_with_its_hint():
    program = plugin("", command="no-such-program", install_hint="Install it.")

    with pytest.raises(CredentialsError, match=r"it cannot be run: .*; Install it\."):
        token(ExecLogin(program, FakeClock()))


@pytest.mark.parametrize("wrong", [{"args": ("a\0b",)}, {"env": {"A=B": "c"}}], ids=["nul", "name"])
def test_what_no_system_runs_is_told(wrong):
    with pytest.raises(CredentialsError, match="it cannot be run: "):
        token(ExecLogin(plugin("", **wrong), FakeClock()))


def test_a_plugin_that_hangs_is_ended(tmp_path):
    clock, ready = FakeClock(), tmp_path / "ready"
    os.mkfifo(ready)
    script = f"open({str(ready)!r}, 'w').close(); import threading; threading.Event().wait()"
    login = ExecLogin(plugin(script), clock)

    async def ask():
        asked = asyncio.ensure_future(login.token())
        await asyncio.to_thread(ready.read_text)  # until the plugin has started
        clock.advance(TIMEOUT_SECONDS)
        await asked

    with pytest.raises(CredentialsError, match="it did not end within 60 s"):
        asyncio.run(ask())
