"""The flags about serving: what they are read as, and what is wrong with them."""

import pytest

from podium.cli import serving_options
from podium.cli.arguments.parser import Parser
from podium.cli.arguments.scheduler_flags import Given, add_options
from podium.config.problems import Problems
from podium.errors import ConfigError
from podium.serving.options import KeyPairFiles, ServingOptions


def given(*words):
    parser = Parser(allow_abbrev=False)
    add_options(parser)
    return Given(parser.parse_args(words))


def test_defaults_are_those_of_the_options():
    assert serving_options.read(given()) == ServingOptions()


def test_all_flags_are_read():
    read = serving_options.read(
        given(
            *("--bind-address=localhost", "--secure-port=1", "--permit-port-sharing"),
            *("--tls-cert-file=c", "--tls-private-key-file=k", "--cert-dir=d"),
            *("--tls-sni-cert-key=a,b", "--tls-sni-cert-key=c,d:x,*.y"),
            *("--tls-min-version=VersionTLS13", "--tls-curve-preferences=29"),
            *("--client-ca-file=ca", "--requestheader-client-ca-file=proxies"),
            *("--requestheader-allowed-names=p,q", "--requestheader-username-headers=U"),
            *("--authentication-skip-lookup", "--authentication-token-webhook-cache-ttl=7s"),
            *("--authorization-kubeconfig=z", "--authorization-always-allow-paths=/a,/b*"),
        ),
        plain_port=2,
    )

    assert (read.bind_address, read.secure_port, read.plain_port) == ("127.0.0.1", 1, 2)
    assert read.shares_port
    assert read.tls.files == KeyPairFiles("c", "k")
    assert read.tls.by_name == (KeyPairFiles("a", "b"), KeyPairFiles("c", "d", ("x", "*.y")))
    assert (read.tls.min_version, read.tls.curves) == ("VersionTLS13", (29,))
    authentication = read.authentication
    assert (authentication.client_authority, authentication.cache_seconds) == ("ca", 7)
    assert authentication.skips_lookup
    header = authentication.request_header
    assert (header.authority, header.allowed_names) == ("proxies", ("p", "q"))
    assert header.usernames == ("U",)
    assert read.authorization.kubeconfig == "z"
    assert read.authorization.open_paths == ("/a", "/b*")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["--secure-port=-1"],
            "--secure-port: -1 must be between 0 and 65535, inclusive. 0 for turning off secure",
            id="port",
        ),
        pytest.param(
            ["--tls-cert-file=x"],
            "--tls-private-key-file: missing filename for serving cert",
            id="no-key",
        ),
        pytest.param(
            ["--tls-private-key-file=x"],
            "--tls-cert-file: missing filename for serving cert",
            id="no-certificate",
        ),
        pytest.param(
            ["--tls-min-version=VersionTLS99"],
            'unknown tls version "VersionTLS99"; did you mean',
            id="version",
        ),
        pytest.param(
            ["--tls-cipher-suites=TLS_FOO"],
            "Cipher suite TLS_FOO not supported or doesn't exist",
            id="suite",
        ),
        pytest.param(
            ["--tls-curve-preferences=0"],
            "curve preference 0 is out of range (must be 1-65535)",
            id="curve-out-of-range",
        ),
        pytest.param(
            ["--tls-curve-preferences=29,29"], "duplicate curve preference 29", id="curve-twice"
        ),
        pytest.param(
            ["--tls-curve-preferences=99"], "curve preference 99 is not supported", id="curve"
        ),
        pytest.param(["--tls-curve-preferences=23,24"], "exactly one of 23", id="two-curves"),
        pytest.param(
            ["--tls-sni-cert-key=a"],
            '"a": expected comma separated certificate and key file paths',
            id="no-key-by-name",
        ),
        pytest.param(
            ["--tls-sni-cert-key=a,b:"], '"a,b:": empty names list is not allowed', id="no-names"
        ),
        pytest.param(
            ["--requestheader-username-headers= "],
            'empty value in "requestheader-username-headers"',
            id="header",
        ),
        pytest.param(
            ["--authorization-always-allow-paths=/a*b"],
            'only trailing * allowed in "/a*b"',
            id="path",
        ),
    ],
)
def test_mistakes(words, message):
    problems = Problems()
    serving_options.check(given(*words), problems)
    with pytest.raises(ConfigError) as raised:
        problems.raise_if_any("the command line")

    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("port", "message"),
    [
        pytest.param(70000, "--plain-http-port: 70000 must be between 0 and 65535", id="range"),
        pytest.param(10259, "--plain-http-port: must differ from --secure-port", id="the-same"),
    ],
)
def test_mistakes_in_the_plain_port(port, message):
    with pytest.raises(ConfigError, match=message):
        serving_options.read(given(), port)
