"""Which API server the flags of a command lead to."""

import pytest

from podium.client.endpoints import find_endpoint
from podium.clock import FakeClock
from podium.errors import CredentialsError

CONFIG = """
clusters: [{name: c, cluster: {server: "https://a"}}, {name: d, cluster: {server: "https://b"}}]
contexts: [{name: c, context: {cluster: c}}, {name: d, context: {cluster: d}}]
current-context: c
"""


@pytest.mark.parametrize(
    ("flags", "server"),
    [
        pytest.param({}, "https://a", id="the-current-context"),
        pytest.param({"context": "d"}, "https://b", id="another-context"),
        pytest.param({"master": "https://m/"}, "https://m", id="an-address-wins"),
    ],
)
def test_with_a_file(tmp_path, flags, server):
    (tmp_path / "config").write_text(CONFIG)

    assert find_endpoint(FakeClock(), tmp_path / "config", **flags).server == server


def test_with_an_address_alone():
    assert find_endpoint(FakeClock(), master="http://127.0.0.1:8080/").source == "--master"


def test_with_nothing_at_all(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    with pytest.raises(CredentialsError, match="give a kubeconfig with --kubeconfig"):
        find_endpoint(FakeClock())


@pytest.mark.parametrize("wrong", ["nonsense", "127.0.0.1:8080", "https://[::1", "http://a:99999"])
def test_an_address_that_is_none(tmp_path, wrong):
    (tmp_path / "config").write_text(CONFIG)

    for file in (None, tmp_path / "config"):
        with pytest.raises(CredentialsError, match=r"--master: server is .*write it as https://"):
            find_endpoint(FakeClock(), file, master=wrong)
