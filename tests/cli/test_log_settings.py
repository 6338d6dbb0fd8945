"""Which log flags need which feature gate, and how logs are then written."""

import json
import subprocess
import sys

import pytest

from podium.cli.scheduler_configuration import check
from podium.errors import ConfigError
from tests.cli.test_scheduler_flags import given

ALPHA = "--feature-gates=LoggingAlphaOptions=true"
NO_BETA = "--feature-gates=LoggingBetaOptions=false"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(
            ["--log-text-split-stream"],
            "--log-text-split-stream: Forbidden: Feature LoggingAlphaOptions is disabled",
            id="text-split",
        ),
        pytest.param(
            ["--log-json-info-buffer-size=1Ki"],
            "--log-json-info-buffer-size: Forbidden: Feature LoggingAlphaOptions is disabled",
            id="json-buffer",
        ),
        pytest.param(
            [NO_BETA, "--logging-format=json"],
            "--logging-format: Forbidden: Log format json is disabled, see LoggingBetaOptions",
            id="json",
        ),
        pytest.param(
            ["--log-flush-frequency=0s"], "Must be greater than zero", id="flush-frequency"
        ),
    ],
)
def test_refused(words, told):
    with pytest.raises(ConfigError) as raised:
        check(given(*words))

    assert told in str(raised.value)


@pytest.mark.parametrize(
    "words",
    [
        [ALPHA, "--log-text-split-stream", "--log-text-info-buffer-size=1Ki"],
        [ALPHA, "--log-json-split-stream", "--log-json-info-buffer-size=512"],
        [NO_BETA, "--logging-format=text"],
        ["--log-json-split-stream=false", "--log-text-info-buffer-size=0"],
        ["--feature-gates=ContextualLogging=false"],
    ],
)
def test_accepted(words):
    check(given(*words))


def logged(tmp_path, *words):
    """What a scheduler that only writes its configuration logs: one info line."""
    command = [sys.executable, "-m", "podium", "scheduler", f"--write-config-to={tmp_path}/c"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "is_json", "to_stdout"),
    [
        pytest.param([], True, False, id="default-of-a-pipe"),
        pytest.param([NO_BETA], False, False, id="text-without-the-beta-options"),
        pytest.param([ALPHA, "--log-json-split-stream"], True, True, id="split"),
        pytest.param(
            [ALPHA, "--log-json-split-stream", "--log-json-info-buffer-size=1Mi"],
            True,
            True,
            id="written-at-the-end",
        ),
    ],
)
def test_the_process_logs_where_and_how_it_is_told(tmp_path, words, is_json, to_stdout):
    out, err = logged(tmp_path, *words)

    line, other = (out, err) if to_stdout else (err, out)
    assert other == ""
    assert "Wrote configuration" in line
    assert is_json is line.startswith("{")
    if is_json:
        assert json.loads(line)["level"] == "info"
