"""Compare two effective configurations, path by path."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from podium.config.export import effective
from podium.config.model import Configuration


@dataclass(frozen=True, slots=True)
class Difference:
    """The values of both sides at one path; ``None`` means that a side has nothing there."""

    path: str
    before: Any
    after: Any


def differences(before: Configuration, after: Configuration) -> list[Difference]:
    """Return the plugins, weights, arguments and fields that differ, whatever their origin."""
    renamed = _renamed(_names(before), _names(after))
    in_both = {*renamed.values()} | {*_names(before)} & {*_names(after)}
    ours, theirs = _comparable(before, renamed, in_both), _comparable(after, {}, in_both)
    return list(_compared(ours, theirs))


_EMPTY: tuple[Any, ...] = (None, "", [])


def _names(configuration: Configuration) -> list[str]:
    return [profile.scheduler_name for profile in configuration.profiles]


def _renamed(before: list[str], after: list[str]) -> dict[str, str]:
    """Pair profiles that only one side has, in order, and return their new names by old ones."""
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    return dict(zip(gone, new, strict=False))


def _comparable(
    configuration: Configuration, renamed: dict[str, str], in_both: set[str]
) -> dict[str, Any]:
    """Key the profiles by their new names; one that the other side lacks is only summarised."""
    view = effective(configuration)
    profiles = {renamed.get(each["schedulerName"], each["schedulerName"]): each
                for each in view["profiles"]}  # fmt: skip
    view["profiles"] = {
        name: _profile(profile) if name in in_both else _summary(profile)
        for name, profile in profiles.items()
    }
    view["extenders"] = dict(enumerate(view["extenders"]))
    return view


def _summary(profile: dict[str, Any]) -> str:
    names = {plugin["name"] for found in profile["plugins"].values() for plugin in found}
    return f"a profile with {len(names)} plugins"


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
    """Walk both sides together, so that differences come out in the order of the file.

    Objects are compared field by field, lists as a whole, because their order counts.
    """
    before, after = (None if isinstance(side, dict) or side in _EMPTY else side
                     for side in (ours, theirs))  # fmt: skip
    if before != after:
        yield Difference(path, before, after)
    ours, theirs = (side if isinstance(side, dict) else {} for side in (ours, theirs))
    for name in dict.fromkeys((*ours, *theirs)):
        is_key = path in ("profiles", "extenders")
        where = f"{path}[{name}]" if is_key else f"{path}.{name}".lstrip(".")
        yield from _compared(ours.get(name), theirs.get(name), where)
