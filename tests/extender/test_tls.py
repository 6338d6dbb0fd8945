"""Extenders over HTTPS: whom to trust, under what name, and who we are."""

import pytest

from podium import config
from podium.clock import FakeClock
from podium.errors import CredentialsError, ExtenderError
from podium.extender import HttpExtender
from podium.testing.builders import pod
from tests.support.extender_process import CERTIFICATES, ask

WEB = pod("web")
NAME = "podium.test"  # what the server's certificate is for


def path(name):
    return str(CERTIFICATES / name)


def data(name):
    return (CERTIFICATES / name).read_bytes()


def bind(secure_server, **settings):
    told = secure_server.told(bind={"reply": {}})
    ask(told.extender(bind_verb="bind", **settings), "bind", WEB, "a")
    (call,) = told.calls()
    return call


@pytest.mark.parametrize(
    "settings",
    [
        {"tls": config.TLSConfig(ca_file=path("ca.pem"), server_name=NAME)},
        {"tls": config.TLSConfig(ca_data=data("ca.pem"), server_name=NAME)},
        {
            "tls": config.TLSConfig(
                ca_data=data("ca.pem"), ca_file=path("client.pem"), server_name=NAME
            )
        },
        {"tls": config.TLSConfig(insecure=True)},
        {"enable_https": True},
        {"enable_https": True, "tls": config.TLSConfig(ca_file=path("ca.pem"), server_name=NAME)},
    ],
    ids=["ca-file", "ca-data", "data-win", "insecure", "https-without-ca", "https-with-ca"],
)
def test_a_server_that_is_trusted(secure_server, settings):
    assert bind(secure_server, **settings)["verb"] == "bind"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"tls": config.TLSConfig(server_name=NAME)},
        {"tls": config.TLSConfig(ca_file=path("ca.pem"))},
        {"tls": config.TLSConfig(ca_file=path("ca.pem"), server_name="other.test")},
        {"enable_https": True, "tls": config.TLSConfig(ca_file=path("ca.pem"))},
    ],
    ids=["unknown-authority", "name-alone", "address-as-name", "other-name", "https-with-ca"],
)
def test_a_server_that_is_not_trusted(secure_server, settings):
    with pytest.raises(ExtenderError, match="certificate verify failed"):
        bind(secure_server, **settings)


@pytest.mark.parametrize(
    "tls",
    [
        config.TLSConfig(insecure=True, cert_file=path("client.pem"), key_file=path("client.key")),
        config.TLSConfig(insecure=True, cert_data=data("client.pem"), key_data=data("client.key")),
    ],
    ids=["files", "data"],
)
def test_a_client_certificate_is_shown(secure_server, tls):
    assert "podium test client" in bind(secure_server, tls=tls)["client"]


def test_without_one_none_is_shown(secure_server):
    assert bind(secure_server, enable_https=True)["client"] in ("None", "{}")


def test_https_in_the_settings_does_not_change_the_address(server):
    assert bind(server, enable_https=True)["client"] == ""


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        pytest.param(config.TLSConfig(ca_file="nowhere.pem"), "nowhere.pem", id="no-file"),
        pytest.param(config.TLSConfig(ca_data=b"x"), "not readable as PEM", id="no-authority"),
        pytest.param(config.TLSConfig(cert_data=data("client.pem")), "cannot be used", id="no-key"),
        pytest.param(
            config.TLSConfig(cert_data=data("client.pem"), key_data=data("server.key")),
            "cannot be used",
            id="another-key",
        ),
    ],
)
def test_settings_that_cannot_be_used(tls, message):
    settings = config.Extender(url_prefix="https://gpu.test/x", tls=tls)

    with pytest.raises(CredentialsError, match=message) as error:
        HttpExtender(settings, FakeClock())

    assert "extender https://gpu.test/x: " in str(error.value)
