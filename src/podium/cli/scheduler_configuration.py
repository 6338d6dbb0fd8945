"""The configuration that `podium scheduler` runs with: its flags checked and laid over the file.

All mistakes in a command line are collected into one ``ConfigError``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import Any, Final, NamedTuple

from podium.cli import log_settings, serving_options
from podium.cli.arguments.scheduler_flags import Effect, Given
from podium.cli.serving_options import SOURCE
from podium.config import Configuration, export, feature_gates, validate
from podium.config.dump import dump
from podium.config.feature_gates import FeatureGates
from podium.config.load import Reading, read, read_default, text_of
from podium.config.problems import Problems
from podium.errors import ConfigError
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.legacy.convert import as_v1
from podium.logs import get_logger
from podium.release import LATEST, RELEASES, Release

log = get_logger(__name__)


_ELECTION: Final = "leader-elect"
_COMPONENT: Final = "kube"
_VERSION: Final = re.compile(r"(\d+)\.(\d+)(\.\d+)?")
_OLDEST_COMPATIBLE: Final = Release(LATEST.major, LATEST.minor - 3)
# By flag: the section and the field of the configuration that it sets.
_FIELDS: Final = {
    "kubeconfig": ("client_connection", "kubeconfig"),
    "kube-api-content-type": ("client_connection", "content_type"),
    "kube-api-qps": ("client_connection", "qps"),
    "kube-api-burst": ("client_connection", "burst"),
    "profiling": ("", "enable_profiling"),
    "contention-profiling": ("", "enable_contention_profiling"),
}


class Configured(NamedTuple):
    """A configuration with the flags laid over it, and where it comes from."""

    configuration: Configuration
    reading: Reading
    source: str
    registry: Registry
    digest: str = ""  # the SHA-256 of the file, as sha256sum prints it

    def written(self) -> dict[str, Any]:
        """Return it as kube-scheduler would write it; ``ConfigError`` if v1 cannot express it."""
        v1 = as_v1(self.reading, self.registry, self.source)
        return dump(v1, self.configuration, self.registry)

    def shown(self) -> dict[str, Any]:
        """Return it for ``/configz``: in podium's own form if v1 cannot express it."""
        try:
            written = self.written()
        except ConfigError:
            written = export.effective(self.configuration)
        file = {"path": self.source, "hash": f"sha256:{self.digest}"}
        return {"componentconfig": written, **({"file": file} if self.digest else {})}


def check(given: Given) -> FeatureGates:
    """Raise ``ConfigError`` for flags that podium cannot honour; return the feature gates."""
    problems = Problems()
    for flag in given.with_effect(Effect.REFUSED):
        problems.add(f"--{flag.name}", f"{flag.help}; leave it out")
    serving_options.check(given, problems)
    log_settings.check(given, problems)
    release = _emulated(given, problems)
    _check_versions(given, release, problems)
    problems.raise_if_any(SOURCE)
    gates = feature_gates.parse(given.value("feature-gates"), release)
    log_settings.check_gates(given, gates, problems)
    problems.raise_if_any(SOURCE)
    return gates


def _emulated(given: Given, problems: Problems) -> Release:
    """Return the release to behave as; messages are upstream's, the range is podium's."""
    flag = "--emulated-version"
    asked = _version(flag, given.value("emulated-version"), problems)
    if asked is None:
        return LATEST
    if asked not in RELEASES:
        between = f"is not between [{RELEASES[0]}, {RELEASES[-1]}]"
        problems.add(flag, f"emulation version {asked} {between}")
        return LATEST
    return asked


def _version(flag: str, settings: list[str], problems: Problems) -> Release | None:
    """Return the one version of the component kube that the flag gives, if any."""
    found: Release | None = None
    for setting in settings:
        component, equals, text = setting.strip().rpartition("=")
        if not setting.strip():
            continue
        if equals and component != _COMPONENT:
            problems.add(flag, f"component not registered: {component}; only {_COMPONENT} is")
            continue
        numbers = _VERSION.fullmatch(text.removeprefix("v"))
        if numbers is None:
            problems.add(flag, f'could not parse "{text}" as version; write it as {LATEST}')
            continue
        if numbers[3]:
            problems.add(flag, f"patch version not allowed, got: {_COMPONENT}={text}")
            continue
        version = Release(int(numbers[1]), int(numbers[2]))
        if found is not None and found != version:
            both = f"{_COMPONENT}={found} and {_COMPONENT}={version}"
            problems.add(flag, f"duplicate version flag, {both}")
        found = version
    return found


def _check_versions(given: Given, release: Release, problems: Problems) -> None:
    flag = "--min-compatibility-version"
    least = _version(flag, given.value("min-compatibility-version"), problems)
    if least is not None and not _OLDEST_COMPATIBLE <= least <= release:
        between = f"is not between [{_OLDEST_COMPATIBLE}, {release}]"
        problems.add(flag, f"minCompatibilityVersion version {least} {between}")
    hidden, previous = given.value("show-hidden-metrics-for-version"), str(release.previous)
    if hidden not in ("", previous):
        detail = f"must be omitted or have the value '{previous}'; only the previous minor version"
        problems.invalid("--show-hidden-metrics-for-version", hidden, f"{detail} is allowed")


def configure(given: Given, registry: Registry, gates: FeatureGates) -> Configured:
    """Lay the flags over the file or the default configuration, as kube-scheduler does."""
    path, digest = given.value("config"), ""
    if path:
        text = text_of(path)
        digest = hashlib.sha256(text.encode()).hexdigest()
        reading = read(text, registry, source=path, gates=gates, versions=VERSIONS)
    else:
        reading = read_default(registry, gates=gates)
    laid_over = _with_fields(reading.configuration, given, honoured(given, reading))
    changed = dataclasses.replace(
        laid_over,
        leader_election=dataclasses.replace(laid_over.leader_election, **_election(given)),
    )
    if changed != reading.configuration:
        problems = Problems()
        validate.check(changed, problems)
        problems.raise_if_any(SOURCE)
    return Configured(changed, reading, path or SOURCE, registry, digest)


def honoured(given: Given, reading: Reading) -> set[str]:
    """Return the deprecated flags that count: all of them without a file.

    Beside a file without a kubeconfig, ``--kubeconfig`` counts. kube-scheduler ignores it even
    then, and looks for the service account of a pod.
    """
    if not given.value("config"):
        return given.keys() & _FIELDS.keys()
    is_silent = not reading.configuration.client_connection.kubeconfig
    return given.keys() & ({"kubeconfig"} if is_silent else set())


def _with_fields(configuration: Configuration, given: Given, names: set[str]) -> Configuration:
    for name in names:
        section, field = _FIELDS[name]
        if section:
            inner = dataclasses.replace(getattr(configuration, section), **{field: given[name]})
            configuration = dataclasses.replace(configuration, **{section: inner})
        else:
            configuration = dataclasses.replace(configuration, **{field: given[name]})
    return configuration


def _election(given: Given) -> dict[str, Any]:
    """Return the fields of leader election that flags set; the flags are named after them."""
    found = {
        name.removeprefix(f"{_ELECTION}-").replace("-", "_"): value
        for name, value in given.items()
        if name.startswith(f"{_ELECTION}-")
    }
    return {"leader_elect": given[_ELECTION], **found} if _ELECTION in given else found


def log_notices(given: Given, configured: Configured) -> None:
    """Log warnings of the configuration, flags that are ignored, and all flags."""
    for warning in configured.configuration.warnings:
        log.warning("configuration", file=configured.source, what=str(warning))
    if given.value("config"):
        counts = honoured(given, configured.reading)
        for flag in given.with_effect(Effect.FILE_DECIDES):
            if flag.name not in counts:
                log.warning("flag ignored: the file of --config decides", flag=f"--{flag.name}")
    for flag in given.with_effect(Effect.NO_EFFECT):
        log.v(1, "flag has no effect", flag=f"--{flag.name}")
    for line in given.log_lines():
        log.v(1, line)
