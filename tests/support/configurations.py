"""Registries and configurations: of podium's own plugins, and of plugins that do nothing."""

from collections.abc import Iterable
from functools import cache

from podium import app, config
from podium import framework as fwk
from podium.config import upstream
from podium.errors import ConfigError
from podium.framework.args import Args, NoArgs, Problem
from podium.framework.plugin import Plugin
from podium.framework.points import Point
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.legacy.plugins import LEGACY
from podium.legacy.versions.default_plugins import V1BETA1
from podium.plugins import IN_TREE
from podium.plugins.node_resources_fit.args import ShapePoint
from podium.release import LATEST

KNOWN = app.in_tree_with_legacy()


def header(version):
    if version == "Policy":
        return "apiVersion: v1\nkind: Policy\n"
    return f"apiVersion: {upstream.GROUP}/{version}\nkind: {upstream.KIND}\n"


def load(version, body=""):
    return config.load(header(version) + body, KNOWN, versions=VERSIONS, source="scheduler.yaml")


def problems(version, body):
    """Everything that is wrong, as it is printed."""
    try:
        load(version, body)
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def order(profile):
    """``{"filter": "A B", "score": "A=1 C=2"}``: what runs where, in order."""
    found = {point.value: " ".join(names) for point, names in profile.plugins.items()}
    weighted = (f"{name}={weight}" for name, weight in profile.weights.items())
    return {**found, "score": " ".join(weighted)}


def fields(args):
    return {name: getattr(args, name) for name in args.__struct_fields__}


LEGACY_ARGS = {
    "NodeLabel": {"presentLabels": ["kubernetes.io/hostname"], "absentLabelsPreference": ["disk"]},
    "NodeResourcesMostAllocated": {"resources": [{"name": "example.com/gpu", "weight": 3}]},
    "RequestedToCapacityRatio": {
        "shape": [{"utilization": 10, "score": 9}, {"utilization": 80, "score": 1}]
    },
    "ServiceAffinity": {
        "affinityLabels": ["disk"],
        "antiAffinityLabelsPreference": ["topology.kubernetes.io/zone", "disk"],
    },
}


def with_legacy() -> config.Configuration:
    """Return a configuration with every plugin of Kubernetes, those of older versions included.

    It is of v1beta1, the last version that knows them all.
    """
    registry = KNOWN
    names = [plugin.name for plugin in (*IN_TREE, *LEGACY) if plugin.name in registry]
    points = {point.value for name in names for point in registry.points(name)}
    missing = {
        key: [
            {"name": name}
            for name in names
            if key in {point.value for point in registry.points(name)} and name not in V1BETA1[key]
        ]
        for key in points - {"preEnqueue"}
    }
    profile = {
        "plugins": {key: {"enabled": plugins} for key, plugins in missing.items()},
        "pluginConfig": [{"name": name, "args": args} for name, args in LEGACY_ARGS.items()],
    }
    value = {
        "apiVersion": f"{upstream.GROUP}/v1beta1",
        "kind": upstream.KIND,
        "profiles": [profile],
    }
    return config.from_value(value, registry, versions=VERSIONS)


_POINTS = fwk.PreFilterPlugin | fwk.FilterPlugin | fwk.PreScorePlugin | fwk.ScorePlugin
_SHAPE = (ShapePoint(utilization=0, score=0), ShapePoint(utilization=100, score=10))


def _args(plugin):
    needs_a_shape = plugin.name == "RequestedToCapacityRatio"
    return plugin.Args(shape=_SHAPE) if needs_a_shape else plugin.Args()


# Podium's plugins that judge nodes, each with arguments that it can be built with.
JUDGES = [(plugin, _args(plugin)) for plugin in (*IN_TREE, *LEGACY) if issubclass(plugin, _POINTS)]


class Resource(Args, frozen=True, rename="camel"):
    name: str
    weight: int = 1


class FitArgs(Args, frozen=True, rename="camel"):
    ignored_resources: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    percentage: int = 10

    def validate(self) -> Iterable[Problem]:
        if not 0 <= self.percentage <= 100:
            message = f"Invalid value: {self.percentage}: not in valid range [0, 100]"
            yield Problem("percentage", message)
        for index, resource in enumerate(self.resources):
            if resource.weight < 1:
                yield Problem(f"resources[{index}].weight", "must be positive")


def plugin(name: str, keys: Iterable[str], args: type[Args] = NoArgs) -> type[Plugin]:
    bases = tuple(Point(key).interface for key in keys)
    either = ("filter", "score", "reserve")  # not abstract: one of two methods is enough
    methods = (*either, *(each for base in bases for each in base.__abstractmethods__))
    body = {"name": name, "Args": args, **dict.fromkeys(methods, stub)}
    return type(name, bases or (Plugin,), body)


def stub(*given: object) -> None:
    """Nobody calls it here."""


@cache
def _upstream_registry(without: frozenset[str] = frozenset()) -> Registry:
    args = {"NodeResourcesFit": FitArgs}
    return Registry(
        plugin(name, sorted(points), args.get(name, NoArgs))
        for name, points in upstream.points(LATEST).items()
        if name not in without
    )


def registry(*more: type[Plugin], without: Iterable[str] = ()) -> Registry:
    """Every plugin of upstream at its points, but for some, and more. They are stubs."""
    made = _upstream_registry(frozenset(without)).copy()
    for each in more:
        made.register(each)
    return made
