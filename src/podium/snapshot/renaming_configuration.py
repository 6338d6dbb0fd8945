"""Rename a scheduler's configuration: what is known to be harmless is kept, and nothing else.

Everything may hold names, paths, addresses and secrets, above all extenders and the arguments of
plugins that are not Kubernetes' own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from podium.config import upstream
from podium.snapshot.model import Json
from podium.snapshot.renaming import Renaming

_SETTINGS: Final = (
    "apiVersion",
    "kind",
    "parallelism",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
)
# Plugins that kube-scheduler has had: what their arguments mean is known.
_KNOWN_PLUGINS: Final = frozenset(upstream.ARGS_KINDS) | {
    "NodeLabel",
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
    "ServiceAffinity",
}
# Their arguments: settings and names of resources, parts of objects, and lists of label keys.
_KEPT_ARGUMENTS: Final = frozenset(
    (
        "apiVersion",
        "bindTimeoutSeconds",
        "bindingTimeout",
        "defaultingType",
        "filterTimeout",
        "hardPodAffinityWeight",
        "ignorePreferredTermsOfExistingPods",
        "ignoredResourceGroups",
        "ignoredResources",
        "kind",
        "minCandidateNodesAbsolute",
        "minCandidateNodesPercentage",
        "resources",
        "scoringStrategy",
        "shape",
    )
)
_PARTS_OF_OBJECTS: Final = frozenset(("addedAffinity", "defaultConstraints"))
_LABEL_KEYS: Final = frozenset(
    (
        "absentLabels",
        "absentLabelsPreference",
        "affinityLabels",
        "antiAffinityLabelsPreference",
        "presentLabels",
        "presentLabelsPreference",
    )
)


def rename_configuration(renaming: Renaming, configuration: Json) -> Json:
    """Return a configuration with other words, without what may say whose it is."""
    found: Json = {name: configuration[name] for name in _SETTINGS if name in configuration}
    if "profiles" in configuration:
        found["profiles"] = [_profile(renaming, each) for each in _dicts(configuration, "profiles")]
    return found


def left_out(configuration: Json) -> Iterator[str]:
    """Yield a note for each part that is left out although decisions may depend on it."""
    if configuration.get("extenders"):
        yield "the extenders are left out of the configuration: they may have decided differently"
    entries = (
        entry
        for profile in _dicts(configuration, "profiles")
        for entry in _dicts(profile, "pluginConfig")
    )
    unknown = sorted({str(entry.get("name")) for entry in entries if not _is_known(entry)})
    if unknown:
        yield (
            f"the arguments of {', '.join(unknown)} are left out, because they may hold names and "
            "secrets: these plugins decide as by default"
        )


def _profile(renaming: Renaming, profile: Json) -> Json:
    kept = ("percentageOfNodesToScore", "plugins")
    found = {name: profile[name] for name in kept if name in profile}
    if isinstance(name := profile.get("schedulerName"), str):
        found["schedulerName"] = renaming.word(name)
    if "pluginConfig" in profile:
        found["pluginConfig"] = [
            {"name": entry["name"], "args": dict(_arguments(renaming, entry.get("args")))}
            for entry in _dicts(profile, "pluginConfig")
            if _is_known(entry)
        ]
    return found


def _is_known(entry: Json) -> bool:
    return entry.get("name") in _KNOWN_PLUGINS


def _arguments(renaming: Renaming, args: Any) -> Iterator[tuple[str, Any]]:
    for name, value in args.items() if isinstance(args, dict) else ():
        if name in _KEPT_ARGUMENTS:
            yield name, value
        elif name in _PARTS_OF_OBJECTS:
            yield name, renaming.of_object({name: value})[name]
        elif name in _LABEL_KEYS and isinstance(value, list):
            yield name, [renaming.key(text) for text in value if isinstance(text, str)]


def _dicts(obj: Json, name: str) -> list[Json]:
    found = obj.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
