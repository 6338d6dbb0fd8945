"""Read a configuration: a text, a file or a parsed value becomes a ``Configuration``.

Called by ``app`` and by the commands. All mistakes are collected into one ``ConfigError``.
Versions older than v1 are read when the caller hands them in: ``versions=legacy.VERSIONS``.
"""

from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

from podium.config import defaults, document, upstream, validate
from podium.config.decode import decode
from podium.config.document import Unreadable, plain
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.config.model import Configuration
from podium.config.problems import Problems, did_you_mean, in_file_order, show
from podium.config.profiles import (
    build_profiles,
    ignore_managed_resources,
    refuse_later_keys,
    warn_of_unknown_names,
)
from podium.config.version import V1, V1_ONLY, Catalog, Meaning, Notes, Version, Versions
from podium.errors import ConfigError, Problem
from podium.framework.registry import Registry

SOURCE = "<config>"
NOTHING = {"apiVersion": upstream.API_VERSION, "kind": upstream.KIND}


@dataclass(frozen=True, slots=True)
class Reading:
    """A configuration together with the version and the value that it was read from."""

    version: Version
    meaning: Meaning
    configuration: Configuration
    value: Any


def load(
    text: str,
    registry: Registry,
    *,
    source: str = SOURCE,
    versions: Versions = V1_ONLY,
    gates: FeatureGates = NO_CHOICE,
) -> Configuration:
    """Read a YAML or JSON text; ``source`` names it in errors."""
    return read(text, registry, source=source, versions=versions, gates=gates).configuration


def load_file(
    path: str | PathLike[str],
    registry: Registry,
    *,
    versions: Versions = V1_ONLY,
    gates: FeatureGates = NO_CHOICE,
) -> Configuration:
    """Read a file. The gates decide which plugins are default ones."""
    source = fspath(path)
    return read(
        text_of(path), registry, source=source, versions=versions, gates=gates
    ).configuration


def from_value(
    value: Any,
    registry: Registry,
    *,
    source: str = SOURCE,
    versions: Versions = V1_ONLY,
    gates: FeatureGates = NO_CHOICE,
) -> Configuration:
    """Read a value as a JSON parser returns it; problems found in it have no line numbers."""
    return read_value(value, registry, source=source, versions=versions, gates=gates).configuration


def default(registry: Registry, *, gates: FeatureGates = NO_CHOICE) -> Configuration:
    """Return what an empty file configures."""
    return read_default(registry, gates=gates).configuration


def text_of(path: str | PathLike[str]) -> str:
    try:
        return document.read_text(path)
    except Unreadable as error:
        raise ConfigError(fspath(path), [Problem("", str(error))]) from error


def read(
    text: str,
    registry: Registry,
    *,
    source: str = SOURCE,
    gates: FeatureGates = NO_CHOICE,
    versions: Versions = V1_ONLY,
) -> Reading:
    """Read a text as ``load`` does, and keep its version and what the file itself says."""
    value, problems = document.read(text)
    return _Reader(registry, gates, versions).read(value, problems, source)


def read_value(
    value: Any,
    registry: Registry,
    *,
    source: str = SOURCE,
    gates: FeatureGates = NO_CHOICE,
    versions: Versions = V1_ONLY,
) -> Reading:
    """Read a value as ``from_value`` does, and keep its version and the value."""
    problems = Problems()
    return _Reader(registry, gates, versions).read(plain(value, "", problems), problems, source)


def read_default(registry: Registry, *, gates: FeatureGates = NO_CHOICE) -> Reading:
    return read_value(dict(NOTHING), registry, gates=gates)


@dataclass(frozen=True, slots=True)
class _Reader:
    registry: Registry
    gates: FeatureGates
    versions: Versions

    def read(self, value: Any, problems: Problems, source: str) -> Reading:
        value, problems = self.versions.unwrap(value, problems)
        if value is None:
            problems.raise_if_any(source)
        version = self._version_of(value, problems)
        if version is None:
            raise ConfigError(source, in_file_order(problems.found))
        given = decode(value, version.written, "", problems) or version.written()
        release = self.registry.release
        notes = Notes(problems, Problems(problems.lines, problems.moved), release)
        meaning = _as_gated(version.translate(given, notes), self.gates)
        configuration = _build(meaning, Catalog(self.registry, version, self.gates), notes)
        validate.check(configuration, problems)
        problems.raise_if_any(source)
        return Reading(version, meaning, configuration, value)

    def _version_of(self, value: Any, problems: Problems) -> Version | None:
        """Return the version to read it as. A missing one is reported, then assumed."""
        if not isinstance(value, dict):
            expected = f"apiVersion: {upstream.API_VERSION} and kind: {upstream.KIND}"
            what = "the document is empty" if value is None else f"{show(value)} is not an object"
            problems.add("", f"{what}; expected an object with {expected}")
            return None
        version, kind = value.get("apiVersion"), value.get("kind")
        if version in (None, ""):
            version = (*self.versions.api_versions(kind), upstream.API_VERSION)[0]
            problems.add("apiVersion", f"Object 'apiVersion' is missing; use {version}")
        if kind in (None, ""):
            kind = self.versions.kind_of(version)
            problems.add("kind", f"Object 'Kind' is missing; use {kind}")
        return self._registered(version, kind, problems)

    def _registered(self, version: Any, kind: Any, problems: Problems) -> Version | None:
        if isinstance(version, str) and isinstance(kind, str):
            found = self.versions.by_type.get((version, kind))
            if found is not None:
                return found
        if kind in upstream.ARGS_KINDS.values() and version == upstream.API_VERSION:
            message = f"couldn't decode as {upstream.KIND}, got {version}, Kind={kind}"
            problems.add("kind", message)
            return None
        path = "apiVersion" if self.versions.api_versions(kind) else "kind"
        message = f"no kind {show(kind)} is registered for version {show(version)}"
        problems.add(path, f"{message}{self._expected(version, kind)}")
        return None

    def _expected(self, version: Any, kind: Any) -> str:
        known = self.versions.api_versions(kind)
        if known:
            hint = did_you_mean(version, known) if isinstance(version, str) else ""
            return hint or f"; known versions: {', '.join(known)}"
        hint = did_you_mean(kind, self.versions.kinds) if isinstance(kind, str) else ""
        return hint or f"; expected {upstream.KIND} of {upstream.API_VERSION}"


def _build(meaning: Meaning, catalog: Catalog, notes: Notes) -> Configuration:
    given, problems = meaning.given, notes.problems
    named = defaults.profiles(given.profiles)
    refuse_later_keys(named, notes.release, problems)
    extenders = tuple(defaults.extender(extender) for extender in given.extenders)
    profiles = build_profiles(named, meaning.defaults, catalog, problems)
    warn_of_unknown_names(named, catalog, notes.warnings)
    _warn_of_age(catalog.version, notes)
    return Configuration(
        profiles=ignore_managed_resources(profiles, named, extenders, problems),
        extenders=extenders,
        leader_election=defaults.leader_election(given.leader_election),
        client_connection=defaults.client_connection(given.client_connection),
        run_all_filters=meaning.run_all_filters,
        warnings=tuple(in_file_order(notes.warnings.found)),
        **defaults.top_level(given),
    )


def _as_gated(meaning: Meaning, gates: FeatureGates) -> Meaning:
    """Leave out the default plugins whose feature gate is off, and add those whose gate is on."""
    is_on = {name: gates.enabled(gate) for name, gate in upstream.GATED_PLUGINS.items()}
    changed = {
        key: {name: weight for name, weight in weights.items() if is_on.get(name, True)}
        for key, weights in meaning.defaults.items()
    }
    if upstream.MULTI_POINT in changed:
        usual = upstream.default_weights(gates.release)
        added = {name: 0 for name, on in is_on.items() if on and name not in usual}
        changed[upstream.MULTI_POINT].update(added)
    return replace(meaning, defaults=changed)


def _warn_of_age(version: Version, notes: Notes) -> None:
    if version is not V1:
        message = f"{version.title} is read by kube-scheduler up to {version.last_release} only"
        advice = "podium config convert writes v1"
        notes.warnings.add("apiVersion", f"{message}; {advice}")
