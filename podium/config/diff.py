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
    ours, theirs = (
        {path: value for path, value in _leaves(_comparable(each)) if value not in _NOTHING}
        for each in (before, after)
    )
    return [
        Difference(path, ours.get(path), theirs.get(path))
        for path in dict.fromkeys((*ours, *theirs))
        if ours.get(path) != theirs.get(path)
    ]


_NOTHING: tuple[Any, ...] = (None, "", [])


def _comparable(configuration: Configuration) -> dict[str, Any]:
    view = effective(configuration)
    view["profiles"] = {profile["schedulerName"]: _profile(profile) for profile in view["profiles"]}
    view["extenders"] = dict(enumerate(view["extenders"]))
    return view


def _profile(profile: dict[str, Any]) -> dict[str, Any]:
    plugins = profile["plugins"]
    return {
        "percentageOfNodesToScore": profile["percentageOfNodesToScore"],
        "plugins": {key: [each["name"] for each in found] for key, found in plugins.items()},
        "weights": {each["name"]: each["weight"] for each in plugins["score"]},
        "args": profile["args"],
    }


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything but objects, which are entered; lists stay whole, their order counts."""
    if not isinstance(value, dict):
        yield path, value
        return
    for name, item in value.items():
        is_key = path in ("profiles", "extenders")
        where = f"{path}[{name}]" if is_key else f"{path}.{name}".lstrip(".")
        yield from _leaves(item, where)
