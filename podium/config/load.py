"""Reading a configuration: text, file or parsed value in, a ``Configuration`` out.

Called by ``app`` and by the commands. Whatever is wrong is raised once, as one ``ConfigError``.
"""

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from podium.config import defaults, document, upstream, validate, wire
from podium.config.catalog import Catalog
from podium.config.decode import decode
from podium.config.model import Configuration
from podium.config.plain import plain
from podium.config.problems import Problems, in_file_order, show
from podium.config.profiles import build_profiles, ignore_managed_resources, unknown_names
from podium.errors import ConfigError, ConfigProblem
from podium.framework.registry import Registry

SOURCE = "<config>"


def load(text: str, registry: Registry, *, source: str = SOURCE) -> Configuration:
    """The configuration in a YAML or JSON text; ``source`` names it in errors."""
    value, problems = document.read(text)
    if value is None and problems:
        problems.raise_if_any(source)
    return _configuration(value, registry, problems, source)


def load_file(path: str | PathLike[str], registry: Registry) -> Configuration:
    """The configuration in a file."""
    source = fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problem = ConfigProblem("", None, f"cannot be read: {reason}")
        raise ConfigError(source, [problem]) from error
    return load(text, registry, source=source)


def from_value(value: Any, registry: Registry, *, source: str = SOURCE) -> Configuration:
    """The configuration in a value as a JSON parser returns it; its problems have no lines."""
    problems = Problems()
    return _configuration(plain(value, "", problems), registry, problems, source)


def default(registry: Registry) -> Configuration:
    """What an empty file configures."""
    return from_value({"apiVersion": upstream.API_VERSION, "kind": upstream.KIND}, registry)


def _configuration(
    value: Any, registry: Registry, problems: Problems, source: str
) -> Configuration:
    if not _is_of_kind(value, problems):
        problems.raise_if_any(source)
    given = decode(value, wire.Configuration, "", problems) or wire.Configuration()
    configuration = _build(given, Catalog(registry), problems)
    validate.check(configuration, problems)
    problems.raise_if_any(source)
    return configuration


def _is_of_kind(value: Any, problems: Problems) -> bool:
    """Whether it makes sense to read on; a missing version or kind is reported, then assumed."""
    if not isinstance(value, dict):
        expected = f"apiVersion: {upstream.API_VERSION} and kind: {upstream.KIND}"
        what = "the document is empty" if value is None else f"{show(value)} is no object"
        problems.add("", f"{what}; expected an object with {expected}")
        return False
    version, kind = value.get("apiVersion"), value.get("kind")
    if version in (None, ""):
        problems.add("apiVersion", f"Object 'apiVersion' is missing; use {upstream.API_VERSION}")
    if kind in (None, ""):
        problems.add("kind", f"Object 'Kind' is missing; use {upstream.KIND}")
    return _is_v1(version or upstream.API_VERSION, kind or upstream.KIND, problems)


def _is_v1(version: Any, kind: Any, problems: Problems) -> bool:
    if kind in upstream.ARGS_KINDS.values() and version == upstream.API_VERSION:
        message = f"couldn't decode as {upstream.KIND}, got {version}, Kind={kind}"
        problems.add("kind", message)
        return False
    if (version, kind) == (upstream.API_VERSION, upstream.KIND):
        return True
    message = f"no kind {show(kind)} is registered for version {show(version)}"
    path = "kind" if version == upstream.API_VERSION else "apiVersion"
    problems.add(path, f"{message}; expected {upstream.KIND} of {upstream.API_VERSION}")
    return False


def _build(given: wire.Configuration, catalog: Catalog, problems: Problems) -> Configuration:
    named = defaults.profiles(given.profiles)
    extenders = tuple(defaults.extender(extender) for extender in given.extenders)
    profiles = build_profiles(named, catalog, problems)
    warnings = Problems(problems.lines)
    unknown_names(named, catalog, warnings)
    return Configuration(
        profiles=ignore_managed_resources(profiles, named, extenders, problems),
        extenders=extenders,
        leader_election=defaults.leader_election(given.leader_election),
        client_connection=defaults.client_connection(given.client_connection),
        warnings=tuple(in_file_order(warnings.found)),
        **defaults.top_level(given),
    )
