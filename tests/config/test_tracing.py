"""TracingConfiguration: what is read, and every mistake in a file at once."""

import pytest

from podium.config.tracing import load_tracing
from podium.errors import ConfigError

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"


@pytest.fixture
def load(tmp_path):
    def load_text(text):
        path = tmp_path / "tracing.yaml"
        path.write_text(text)
        return load_tracing(str(path))

    return load_text


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_defaults(load, version):
    found = load(HEAD.replace("v1\n", f"{version}\n"))

    assert found.endpoint == "localhost:4317"
    assert found.sampling_rate_per_million == 0


@pytest.mark.parametrize(
    "endpoint", ["collector:4317", "dns:///collector:4317", "unix:///run/otel.sock", "[::1]:4317"]
)
def test_endpoints(load, endpoint):
    found = load(f'{HEAD}endpoint: "{endpoint}"\nsamplingRatePerMillion: 1000000\n')

    assert (found.endpoint, found.sampling_rate_per_million) == (endpoint, 1_000_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "an object", id="empty"),
        pytest.param("[]", "an object", id="list"),
        pytest.param("{", "not readable as YAML", id="cut-off"),
        pytest.param("kind: TracingConfiguration", "Required value", id="no-version"),
        pytest.param(HEAD.replace("/v1", "/v9"), "is not known; use", id="version"),
        pytest.param(HEAD.replace("Tracing", "Egress"), "is not TracingConf", id="kind"),
        pytest.param(f"{HEAD}endpiont: a:1", 'did you mean "endpoint"', id="typing-error"),
        pytest.param(f"{HEAD}endpoint: 4317", "endpoint", id="number"),
        pytest.param(f"{HEAD}endpoint: ''", "no host or path", id="no-endpoint"),
        pytest.param(f"{HEAD}endpoint: https://a:1", "unsupported scheme: https", id="scheme"),
        pytest.param(f"{HEAD}endpoint: '//['", "Invalid value", id="no-address"),
        pytest.param(f"{HEAD}samplingRatePerMillion: -1", "must be positive", id="negative"),
        pytest.param(f"{HEAD}samplingRatePerMillion: 1000001", "one million", id="too-much"),
        pytest.param(f"{HEAD}samplingRatePerMillion: often", "samplingRate", id="no-number"),
        pytest.param(f"{HEAD}kind: again", "already", id="twice"),
    ],
)
def test_mistakes(load, text, expected):
    with pytest.raises(ConfigError, match=expected.replace("(", r"\(")):
        load(text)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_tracing(str(tmp_path))
