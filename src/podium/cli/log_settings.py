"""How `podium scheduler` writes its logs: flags, and the feature gates that allow them."""

from __future__ import annotations

from podium.cli.arguments.scheduler_flags import Given
from podium.config.feature_gates import FeatureGates
from podium.config.problems import Problems
from podium.log_streams import Streams
from podium.logs import JSON, TEXT, write_logs

ALPHA = "LoggingAlphaOptions"
BETA = "LoggingBetaOptions"


def check(given: Given, problems: Problems) -> None:
    """Find what is wrong whatever the feature gates are."""
    form = given.value("logging-format")
    if form not in ("", TEXT, JSON):
        detail = f"Unsupported log format; use {TEXT} or {JSON}"
        problems.invalid("--logging-format", form, detail)
    if form == JSON and given.value("vmodule"):
        problems.add("--vmodule", "Forbidden: Only supported for text log format")
    if given.value("log-flush-frequency") <= 0:
        problems.add("--log-flush-frequency", "Must be greater than zero")


def check_gates(given: Given, gates: FeatureGates, problems: Problems) -> None:
    """Find the options whose feature gate is off."""
    if given.value("logging-format") == JSON and not gates.enabled(BETA):
        text = f"Forbidden: Log format {JSON} is disabled, see {BETA} feature"
        problems.add("--logging-format", text)
    for form in (TEXT, JSON):
        for flag in (f"log-{form}-split-stream", f"log-{form}-info-buffer-size"):
            if given.value(flag) and not gates.enabled(ALPHA):
                problems.add(f"--{flag}", f"Forbidden: Feature {ALPHA} is disabled")


def write(given: Given, gates: FeatureGates) -> None:
    """Write logs as the flags say; text if the gate of JSON is off and no format is given."""
    form = given.value("logging-format")
    if not gates.enabled(BETA):
        form = TEXT
    streams = {each: _streams(given, each) for each in (TEXT, JSON)}
    write_logs(given.value("v"), form, dict(given.value("vmodule")), streams)


def _streams(given: Given, form: str) -> Streams:
    return Streams(
        given.value(f"log-{form}-split-stream"),
        given.value(f"log-{form}-info-buffer-size"),
        given.value("log-flush-frequency"),
    )
