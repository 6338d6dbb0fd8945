"""What a version of the configuration is, v1 itself, and which plugins a file may name.

Older versions are described in ``podium.legacy``; callers of ``config.load`` hand them in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from podium.config import upstream, wire
from podium.config.feature_gates import FeatureGates
from podium.config.problems import Problems, did_you_mean
from podium.framework.points import Point
from podium.framework.registry import Registry
from podium.release import LATEST, Release

W = TypeVar("W", bound=wire.Wire)

Defaults = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Notes:
    """Collects the problems and warnings of a translation to v1."""

    problems: Problems
    warnings: Problems
    release: Release = LATEST

    def moved(self, path: str, written: str) -> None:
        """Say that the file has v1's ``path`` at ``written``; problems are reported there."""
        self.problems.moved[path] = written


@dataclass(frozen=True, slots=True)
class Meaning:
    """A file translated to v1, and the plugins that its version enables by default.

    ``defaults`` holds the plugins of each extension point in order with their weights; a weight
    of 0 means that none is given.
    """

    given: wire.Configuration
    defaults: Defaults
    run_all_filters: bool = False


def _as_given(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return args


@dataclass(frozen=True)
class Version:
    """One version of the configuration: its file format and how that translates to v1.

    ``removed`` are plugins that the version no longer knows. ``rejected`` are plugins that it
    refuses with a message of its own. ``replaces_in_place`` says how a file's plugins are merged
    with the default ones. ``complete_args`` fills in the defaults that plugin arguments had.
    """

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
        """Return the name to print in messages."""
        return self.name if self.kind == upstream.KIND else self.kind

    def rejection(self, name: str) -> str:
        """Return why this plugin is refused and what to use instead, or an empty string."""
        if name not in self.rejected:
            return ""
        detail = f'{self.rejected[name]} ({upstream.KIND} is version "{self.api_version}")'
        return f"{detail}; {upstream.REPLACEMENTS[name]}"


def _not_wrapped(value: Any, problems: Problems) -> tuple[Any, Problems]:
    return value, problems


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions that can be read, by the ``apiVersion`` and ``kind`` of their files.

    ``unwrap`` takes a configuration out of an object that contains it, such as a ConfigMap.
    """

    by_type: Mapping[tuple[str, str], Version]
    unwrap: Callable[[Any, Problems], tuple[Any, Problems]] = _not_wrapped

    @property
    def kinds(self) -> set[str]:
        return {kind for _, kind in self.by_type}

    def api_versions(self, kind: Any) -> list[str]:
        """Return the versions of this kind, the preferred one first."""
        return [version for version, of in self.by_type if of == kind]

    def kind_of(self, api_version: Any) -> str:
        """Return the kind that a file of this version most likely is."""
        return next((of for version, of in self.by_type if version == api_version), upstream.KIND)


def by_type(*versions: Version) -> dict[tuple[str, str], Version]:
    return {(version.api_version, version.kind): version for version in versions}


def same_fields(given: wire.Wire, kind: type[W], **others: Any) -> W:
    """Copy the fields that both types have, and set these others."""
    shared = set(kind.__struct_fields__).intersection(given.__struct_fields__)
    return kind(**{name: getattr(given, name) for name in shared} | others)


@cache
def default_plugins(release: Release) -> Defaults:
    """Return the default plugins of v1."""
    return MappingProxyType({upstream.MULTI_POINT: upstream.default_weights(release)})


def _translate_v1(given: wire.Configuration, notes: Notes) -> Meaning:
    return Meaning(given, default_plugins(notes.release))


V1 = Version(
    name="v1",
    written=wire.Configuration,
    translate=_translate_v1,
    removed=frozenset(upstream.LEGACY_POINTS),
    rejected=dict.fromkeys(upstream.CLOUD_LIMITS, 'was invalid in version "v1"'),
)
V1_ONLY = Versions(by_type(V1))


@cache
def _known(removed: frozenset[str], release: Release) -> Mapping[str, frozenset[str]]:
    dropped = upstream.LEGACY_POINTS.items()
    return {
        **upstream.points(release),
        **{name: points for name, points in dropped if name not in removed},
    }


@dataclass(frozen=True, slots=True)
class Catalog:
    """The plugins that a file may name: those in the registry and those its version knows.

    A plugin that the version knows and the registry lacks is *absent*: kube-scheduler has it,
    podium does not. The file stays valid, and the plugin does not run.
    """

    registry: Registry
    version: Version
    gates: FeatureGates

    @property
    def known(self) -> Mapping[str, frozenset[str]]:
        """The plugins that kube-scheduler has for such a file, with their extension points."""
        return _known(self.version.removed, self.registry.release)

    def __contains__(self, name: str) -> bool:
        return self.has(name) or name in self.known

    def has(self, name: str) -> bool:
        """Whether podium can run this plugin for a file of this version."""
        return name in self.registry and name not in self.version.removed

    def is_absent(self, name: str) -> bool:
        return not self.has(name) and name in self.known

    def forbidden_args(self, name: str) -> dict[str, str]:
        """Return the arguments that this plugin does not have with these gates, and why not."""
        gated = upstream.GATED_ARGS.get(name, {})
        return {
            argument: refusal
            for argument, (needed, refusal) in gated.items()
            if not all(map(self.gates.enabled, needed))
        }

    def runs_at(self, name: str, key: str) -> bool:
        """Whether the plugin implements this extension point."""
        if self.has(name):
            return Point(key) in self.registry.points(name)
        return key in self.known.get(name, ())

    def may_be_listed_at(self, name: str, key: str) -> bool:
        """Whether a file may list the plugin here; a file that upstream accepts stays valid."""
        return self.runs_at(name, key) or key in self.known.get(name, ())

    def suggestion(self, name: str) -> str:
        """Return what to append to "plugin not found": a replacement or a similar name."""
        if name in self.version.removed:
            return f"; {upstream.REPLACEMENTS[name]}"
        known = {*self.registry, *self.known}.difference(self.version.removed)
        return did_you_mean(name, known)
