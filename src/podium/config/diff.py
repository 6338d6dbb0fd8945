"""What differs between two effective configurations, path by path."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from podium.config.model import Configuration
from podium.config.view import effective


@dataclass(frozen=True, slots=True)
class Difference:
    """What one side has at a path, and what the other; ``None`` is nothing."""

    path: str
    before: Any
    after: Any


def differences(before: Configuration, after: Configuration) -> list[Difference]:
    """Plugins, weights, arguments and fields that differ; where they come from does not matter."""
    renamed = _renamed(_names(before), _names(after))
    in_both = {*renamed.values()} | {*_names(before)} & {*_names(after)}
    ours, theirs = _comparable(before, renamed, in_both), _comparable(after, {}, in_both)
    return list(_compared(ours, theirs))


_NOTHING: tuple[Any, ...] = (None, "", [])


def _names(configuration: Configuration) -> list[str]:
    return [profile.scheduler_name for profile in configuration.profiles]


def _renamed(before: list[str], after: list[str]) -> dict[str, str]:
    """New names by old ones: profiles whose names the other side lacks, in their order."""
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    return dict(zip(gone, new, strict=False))


def _comparable(
    configuration: Configuration, renamed: dict[str, str], in_both: set[str]
) -> dict[str, Any]:
    """Profiles stand under their new names; one that the other side lacks is told in a word."""
    view = effective(configuration)
    profiles = {renamed.get(each["schedulerName"], each["schedulerName"]): each
                for each in view["profiles"]}  # fmt: skip
    view["profiles"] = {
        name: _profile(profile) if name in in_both else _in_a_word(profile)
        for name, profile in profiles.items()
    }
    view["extenders"] = dict(enumerate(view["extenders"]))
    return view


def _in_a_word(profile: dict[str, Any]) -> str:
    names = {plugin["name"] for found in profile["plugins"].values() for plugin in found}
    return f"a profile of {len(names)} plugins"


def _profile(profile: dict[str, Any]) -> dict[str, Any]:
    plugins = profile["plugins"]
    return {
        "schedulerName": profile["schedulerName"],
        "percentageOfNodesToScore": profile["percentageOfNodesToScore"],
        "plugins": {key: [each["name"] for each in found] for key, found in plugins.items()},
        "weights": {each["name"]: each["weight"] for each in plugins["score"]},
        "args": profile["args"],
    }


def _compared(ours: Any, theirs: Any, path: str = "") -> Iterator[Difference]:
    """Both sides at once, so that what only one has stands where it belongs.

    Objects are entered; lists stay whole, their order counts.
    """
    before, after = (None if isinstance(side, dict) or side in _NOTHING else side
                     for side in (ours, theirs))  # fmt: skip
    if before != after:
        yield Difference(path, before, after)
    ours, theirs = (side if isinstance(side, dict) else {} for side in (ours, theirs))
    for name in dict.fromkeys((*ours, *theirs)):
        is_key = path in ("profiles", "extenders")
        where = f"{path}[{name}]" if is_key else f"{path}.{name}".lstrip(".")
        yield from _compared(ours.get(name), theirs.get(name), where)
