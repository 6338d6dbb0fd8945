"""What a version of the configuration is to the loader: how it is written, and what it means.

Each module beside this one describes one version; ``versions/__init__.py`` lists them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

from podium.config import upstream, wire
from podium.config.problems import Problems

W = TypeVar("W", bound=wire.Wire)

Defaults = Mapping[str, Mapping[str, int]]

NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Notes:
    """Where a translation leaves what it has to say."""

    problems: Problems
    warnings: Problems

    def moved(self, path: str, written: str) -> None:
        """What v1 has at ``path`` is written at another place of the file: report it there."""
        self.problems.moved[path] = written


@dataclass(frozen=True, slots=True)
class Meaning:
    """A file in the words of v1, and the plugins that its version enables by itself.

    ``defaults`` holds the plugins of each key in order with their weights; 0 is no weight.
    """

    given: wire.Configuration
    defaults: Defaults
    run_all_filters: bool = False


def _as_given(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return args


@dataclass(frozen=True)
class Version:
    """``removed`` are dropped plugins that it does not know, ``rejected`` those that it refuses
    with words of its own. ``complete_args`` fills in what its plugins' arguments defaulted to."""

    name: str
    written: type[wire.Wire]
    translate: Callable[[Any, Notes], Meaning]
    kind: str = upstream.KIND
    last_release: str = ""
    removed: frozenset[str] = frozenset()
    rejected: Mapping[str, str] = field(default_factory=dict)
    replaces_in_place: bool = True
    complete_args: Callable[[str, dict[str, Any]], dict[str, Any]] = _as_given

    @property
    def api_version(self) -> str:
        return f"{upstream.GROUP}/{self.name}"

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name if self.kind == upstream.KIND else self.kind

    @cached_property
    def known(self) -> Mapping[str, frozenset[str]]:
        """The plugins that it may name, with their extension points."""
        dropped = {
            name: points
            for name, points in upstream.LEGACY_POINTS.items()
            if name not in self.removed
        }
        return {**upstream.POINTS, **dropped}

    def rejection(self, name: str) -> str:
        """Why it refuses this plugin, in upstream's words and with what to do; or nothing."""
        if name not in self.rejected:
            return ""
        detail = f'{self.rejected[name]} ({upstream.KIND} is version "{self.api_version}")'
        return f"{detail}; {upstream.REPLACEMENTS[name]}"


def _as_it_is(value: Any, problems: Problems) -> tuple[Any, Problems]:
    return value, problems


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions that can be read, by the ``apiVersion`` and ``kind`` of their files.

    ``unwrap`` takes a configuration out of an object that carries it, such as a ConfigMap.
    """

    by_type: Mapping[tuple[str, str], Version]
    unwrap: Callable[[Any, Problems], tuple[Any, Problems]] = _as_it_is

    @property
    def kinds(self) -> set[str]:
        return {kind for _, kind in self.by_type}

    def api_versions(self, kind: Any) -> list[str]:
        """The versions of this kind, the preferred one first."""
        return [version for version, of in self.by_type if of == kind]

    def kind_of(self, api_version: Any) -> str:
        """The kind that a file of this version most likely is."""
        return next((of for version, of in self.by_type if version == api_version), upstream.KIND)


def by_type(*versions: Version) -> dict[tuple[str, str], Version]:
    return {(version.api_version, version.kind): version for version in versions}


def same_fields(given: wire.Wire, kind: type[W], **others: Any) -> W:
    """What both types have in common, and these values."""
    shared = set(kind.__struct_fields__).intersection(given.__struct_fields__)
    return kind(**{name: getattr(given, name) for name in shared} | others)
