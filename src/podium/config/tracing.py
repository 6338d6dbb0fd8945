"""``TracingConfiguration``, as kube-apiserver reads it: where spans go, and how many."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from podium.config import document
from podium.config.decode import decode
from podium.config.load import text_of
from podium.config.problems import Problems
from podium.config.wire import Wire

GROUP: Final = "apiserver.config.k8s.io"
VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1", f"{GROUP}/v1alpha1")
KIND: Final = "TracingConfiguration"
SCHEMES: Final = ("dns", "unix", "unix-abstract")
MILLION: Final = 1_000_000


class TracingConfiguration(Wire, frozen=True, kw_only=True):
    """``endpoint`` is of a collector for OTLP over gRPC, without TLS, as upstream.

    Without ``sampling_rate_per_million`` nothing is sampled, as upstream: a scheduling attempt has
    no parent span that could ask for it.
    """

    api_version: str
    kind: str
    endpoint: str = "localhost:4317"
    sampling_rate_per_million: int = 0


def load_tracing(path: str) -> TracingConfiguration:
    """Read a file; all mistakes are collected into one ``ConfigError``."""
    value, problems = document.read(text_of(path))
    problems.raise_if_any(path)
    found = decode(value, TracingConfiguration, "", problems)
    if found is not None:
        _check(found, problems)
    problems.raise_if_any(path)
    assert found is not None  # otherwise there was a problem
    return found


def _check(found: TracingConfiguration, problems: Problems) -> None:
    if found.api_version not in VERSIONS:
        problems.add("apiVersion", f'"{found.api_version}" is not known; use {VERSIONS[0]}')
    if found.kind != KIND:
        problems.add("kind", f'"{found.kind}" is not {KIND}')
    _check_rate(found.sampling_rate_per_million, problems)
    _check_endpoint(found.endpoint, problems)


def _check_rate(rate: int, problems: Problems) -> None:
    path = "samplingRatePerMillion"
    if rate < 0:
        problems.invalid(path, rate, "sampling rate must be positive")
    if rate > MILLION:
        detail = "sampling rate per million must be less than or equal to one million"
        problems.invalid(path, rate, detail)


def _check_endpoint(endpoint: str, problems: Problems) -> None:
    try:
        url = urlsplit(endpoint if "//" in endpoint else f"dns://{endpoint}")
        is_complete = bool(url.netloc or url.path.strip("/"))
    except ValueError as error:
        problems.invalid("endpoint", endpoint, str(error))
        return
    if url.scheme not in SCHEMES:
        options = "Options are none, dns, unix, or unix-abstract"
        problems.invalid("endpoint", endpoint, f"unsupported scheme: {url.scheme}.  {options}")
    elif not is_complete:
        problems.invalid("endpoint", endpoint, "no host or path; write it as localhost:4317")
