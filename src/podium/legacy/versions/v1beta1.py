"""v1beta1, read by kube-scheduler 1.19 to 1.22: custom plugins are added to the default ones."""

from typing import Any

from podium.config.version import Meaning, Notes, Version
from podium.legacy.versions import addresses, default_plugins, shared


class Configuration(shared.Configuration, frozen=True):
    healthz_bind_address: str = ""
    metrics_bind_address: str = ""


def _translate(given: Configuration, notes: Notes) -> Meaning:
    addresses.warn_of(given, notes)
    return Meaning(shared.in_words_of_v1(given, notes), default_plugins.V1BETA1)


def _complete_args(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Constraints alone were enough to replace those of the system."""
    if name == "PodTopologySpread" and args.get("defaultConstraints"):
        return args if args.get("defaultingType") else {**args, "defaultingType": "List"}
    return args


V1BETA1 = Version(
    name="v1beta1",
    written=Configuration,
    translate=_translate,
    last_release="1.22",
    replaces_in_place=False,
    complete_args=_complete_args,
)
