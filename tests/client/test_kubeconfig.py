"""Kubeconfig files: which are read, how they merge, where their paths lead, what is wrong."""

import asyncio
import base64
import datetime
import os

import pytest
import yaml

from podium.client.endpoint import FixedLogin
from podium.client.kubeconfig import endpoint_of, load
from podium.client.logins import ExecLogin, TokenFile
from podium.clock import FakeClock
from podium.errors import CredentialsError
from podium.tls import Certificate

NO_ADDRESSES = [
    "https://[::1",
    "https://a:65536",
    "https://a:b",
    "https://a:0",
    "https://a b",
    "https://a\n",
    "https://a?b=c",
    "https://user:password@a",
    f"https://{'a' * 64}",
]


def config(server="https://a:6443", user=None, current="main", **cluster):
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "main", "context": {"cluster": "c", "user": "u"}}],
        "current-context": current,
    }


@pytest.fixture
def write(tmp_path):
    def write(content, name="config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


def endpoint(path, context=""):
    return endpoint_of(load(path), FakeClock(), context)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def test_a_context_leads_to_a_server(write):
    found = endpoint(write(config("https://a:6443/prefix/", {"token": "secret"})))

    assert found.server == "https://a:6443/prefix"
    assert found.login == FixedLogin("secret")
    assert found.namespace == "default"


def test_paths_are_relative_to_their_file(write, tmp_path):
    for name in ("ca", "crt", "key", "token"):
        write(name, f"pki/{name}.pem")
    user = {"client-certificate": "crt.pem", "client-key": "key.pem", "tokenFile": "token.pem"}
    path = write(config(user=user, **{"certificate-authority": "ca.pem"}), "pki/config")

    found = endpoint(path)

    assert found.tls.ca == b"ca"
    assert found.tls.certificate == Certificate(b"crt", b"key")
    assert isinstance(found.login, TokenFile)
    assert asyncio.run(found.login.token()) == "token"


def test_data_wins_over_files(write):
    cluster = {"certificate-authority": "nowhere", "certificate-authority-data": encoded("ca")}
    user = {"client-certificate-data": encoded("crt"), "client-key-data": encoded("key")}

    found = endpoint(write(config(user=user, **cluster)))

    assert (found.tls.ca, found.tls.certificate) == (b"ca", Certificate(b"crt", b"key"))


def test_tls_settings(write):
    cluster = {"insecure-skip-tls-verify": True, "tls-server-name": "other"}

    found = endpoint(write(config(**cluster)))

    assert (found.tls.skip_verify, found.tls.server_name) == (True, "other")


def test_impersonation_becomes_headers(write):
    user = {"as": "jane", "as-uid": "7", "as-groups": ["dev"]}

    assert endpoint(write(config(user=user))).impersonate == {
        "Impersonate-User": "jane",
        "Impersonate-Uid": "7",
        "Impersonate-Group": "dev",
    }


def test_an_exec_plugin_is_found(write):
    wanted = {"apiVersion": "client.authentication.k8s.io/v1", "command": "login", "args": None}

    assert isinstance(endpoint(write(config(user={"exec": wanted}))).login, ExecLogin)


def test_earlier_files_win(write):
    first = write(config("https://first", current=""), "first")
    second = config("https://second")
    second["contexts"].append({"name": "other", "context": {"cluster": "c2", "user": "u"}})
    second["clusters"].append({"name": "c2", "cluster": {"server": "https://third"}})
    paths = [first, write(second, "second"), first.parent / "missing"]

    found = load(None, {"KUBECONFIG": os.pathsep.join(map(str, paths))})

    assert endpoint_of(found, FakeClock()).server == "https://first"
    assert endpoint_of(found, FakeClock(), "other").server == "https://third"


def test_without_anything_it_is_the_file_in_the_home_directory(write, tmp_path):
    write(config("https://home"), ".kube/config")

    assert endpoint_of(load(None, {"HOME": str(tmp_path)}), FakeClock()).server == "https://home"


def test_kubectl_writes_null_for_nothing(write):
    text = "apiVersion: v1\nclusters: null\ncontexts: null\nusers: null\ncurrent-context: ''\n"

    with pytest.raises(
        CredentialsError, match="there is no current context; the files have no context"
    ):
        endpoint(write(text))


@pytest.mark.parametrize(
    ("content", "context", "expected"),
    [
        pytest.param("a: [", "", "not readable as YAML", id="no-yaml"),
        pytest.param("[1]", "", "not a kubeconfig", id="a-list"),
        pytest.param("[" * 5000, "", "not readable as YAML", id="deep"),
        pytest.param("a: 1\n---\nb: 1\n", "", "it has 2 documents, not one", id="two-documents"),
        pytest.param(
            {**config(), "current-context": datetime.date(2026, 1, 1)},
            "",
            'context "2026-01-01" does not exist',
            id="a-name-like-a-date",
        ),
        pytest.param(
            config(server=7), "", r"clusters\[0\].cluster.server: Expected `str`", id="wrong-type"
        ),
        pytest.param(
            config(), "other", 'context "other" does not exist; choose among: main', id="no-context"
        ),
        pytest.param(
            {**config(), "clusters": []},
            "",
            'context main: cluster "c" does not exist; the files have no cluster',
            id="no-cluster",
        ),
        pytest.param(
            {**config(), "users": [{"name": "v"}]},
            "",
            'context main: user "u" does not exist; choose among: v',
            id="no-user",
        ),
        pytest.param(
            config(server="a:6443"), "", 'server is "a:6443"; write it as https://', id="no-scheme"
        ),
        *(
            pytest.param(config(server=wrong), "", "(?s)server is .*write it as https://", id=wrong)
            for wrong in NO_ADDRESSES
        ),
        pytest.param(
            config(**{"tls-server-name": "a..b"}), "", 'tls-server-name is "a..b"; write', id="name"
        ),
        pytest.param(
            config(user={"as": "jane\r\nX: y"}),
            "",
            "Impersonate-User is not a line",
            id="two-lines",
        ),
        pytest.param(
            config(**{"certificate-authority": "gone.pem"}),
            "",
            "context main: certificate-authority cannot be read: .*gone.pem",
            id="missing-file",
        ),
        pytest.param(
            config(**{"certificate-authority-data": "!"}),
            "",
            "certificate-authority-data is not base64",
            id="no-base64",
        ),
        pytest.param(
            config(user={"client-key-data": encoded("x")}),
            "",
            "client-certificate is missing; give both or neither",
            id="half-a-certificate",
        ),
        pytest.param(
            config(user={"username": "u", "password": "p"}),
            "",
            "username and password is not supported; .* use a token",
            id="basic-authentication",
        ),
        pytest.param(
            config(user={"auth-provider": {"name": "gcp"}}),
            "",
            "auth-provider is not supported; use an exec plugin",
            id="auth-provider",
        ),
        pytest.param(
            config(**{"proxy-url": "http://p"}), "", "proxy-url is not supported", id="proxy"
        ),
        pytest.param(
            config(user={"exec": {"command": "x", "apiVersion": "v7"}}),
            "",
            'exec: apiVersion is "v7"; client.authentication.k8s.io/v1 or',
            id="exec-version",
        ),
        pytest.param(
            config(
                user={
                    "exec": {
                        "command": "x",
                        "apiVersion": "client.authentication.k8s.io/v1",
                        "interactiveMode": "Always",
                    }
                }
            ),
            "",
            "wants to ask a person.*interactiveMode: Never",
            id="exec-asks",
        ),
    ],
)
def test_what_is_wrong_is_told_with_the_file(write, content, context, expected):
    path = write(content)

    with pytest.raises(CredentialsError, match=expected) as refused:
        endpoint(path, context)

    assert str(refused.value).startswith(f"{path}")


def test_a_named_file_must_exist(tmp_path):
    with pytest.raises(CredentialsError, match="there is no such file"):
        load(tmp_path / "nowhere")
