"""Replace the plugins that v1 has dropped by their counterparts in v1, where there are any.

Where there is none, a plugin that was only a default of the older version is left out with a
warning, and one that the file itself lists is a problem.
"""

from dataclasses import dataclass
from typing import Any

from podium.api.affinity import REQUIRED
from podium.config import export, upstream
from podium.config.model import DEFAULT_ORIGIN, Profile
from podium.config.problems import Problems
from podium.framework.points import Point

_FIT = "NodeResourcesFit"
_AFFINITY = "NodeAffinity"
_SPREAD = "PodTopologySpread"
_STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}


@dataclass(slots=True)
class V1Profile:
    """The plugins and arguments of a profile on its way to v1; ``path`` is its path in the file.

    ``points`` maps an extension point to its plugins in order. ``listed`` are the plugins that the
    file itself names. ``unplaced`` are plugins that are enabled and run at no point that podium
    has. ``drop`` and ``replace`` keep ``points``, ``weights`` and ``args`` in step.
    """

    points: dict[str, list[str]]
    weights: dict[str, int]
    placement_weights: dict[str, int]
    args: dict[str, dict[str, Any]]
    listed: set[str]
    unplaced: list[str]
    path: str

    def runs(self, name: str, key: str | None = None) -> bool:
        keys = self.points if key is None else (key,)
        return any(name in self.points[each] for each in keys)

    def drop(self, name: str) -> None:
        for names in self.points.values():
            if name in names:
                names.remove(name)
        self.weights.pop(name, None)
        self.placement_weights.pop(name, None)
        self.args.pop(name, None)

    def replace(self, name: str, other: str, key: str) -> None:
        names = self.points[key]
        names[names.index(name)] = other
        if key == "score":
            self.weights[other] = self.weights.pop(name)

    def weights_at(self, key: str) -> dict[str, int]:
        """Return the weights of the plugins at an extension point."""
        if key == "placementScore":
            return self.placement_weights
        return self.weights if key == "score" else {}


def in_v1(given: Profile, path: str, problems: Problems, warnings: Problems) -> V1Profile:
    """Return the profile with v1's plugins only; report what v1 cannot express."""
    profile = V1Profile(
        points={point.value: list(given.order_with_absent[point]) for point in Point},
        weights=dict(given.weights),
        placement_weights=dict(given.placement_weights),
        args={name: export.args_fields(args) for name, args in given.args.items()},
        listed=_listed(given),
        unplaced=[name for name, points in given.absent.items() if not points],
        path=path,
    )
    _count_volumes(profile, warnings)
    _score_by_strategy(profile, problems)
    _require_labels(profile, problems)
    _spread_by_topology(profile, warnings)
    _leave_out(profile, problems, warnings)
    return profile


def _listed(given: Profile) -> set[str]:
    return {
        name
        for point, names in given.order_with_absent.items()
        for name, origin in zip(names, given.origins[point], strict=True)
        if origin != DEFAULT_ORIGIN
    }


def _count_volumes(profile: V1Profile, warnings: Problems) -> None:
    """NodeVolumeLimits counts cloud disks now: CSI drivers serve them."""
    limits = "NodeVolumeLimits"
    in_order = [*profile.points["filter"], *profile.points["preFilter"]]
    for name in [each for each in in_order if each in upstream.CLOUD_LIMITS]:
        if profile.runs(name, "filter") and not profile.runs(limits, "filter"):
            message = f"{limits} takes the place of {name}; it counts volumes of all CSI drivers"
            warnings.add(profile.path, message)
            profile.replace(name, limits, "filter")
        profile.drop(name)


def _score_by_strategy(profile: V1Profile, problems: Problems) -> None:
    found = [name for name in profile.points["score"] if name in _STRATEGIES]
    if not found:
        return
    if len(found) > 1 or profile.runs(_FIT, "score"):
        scorers = [name for name in profile.points["score"] if name in (_FIT, *found)]
        message = "v1 scores resources by one strategy, and this profile by several"
        problems.add(profile.path, f"{message}: {', '.join(scorers)}")
        return
    [name] = found
    given = profile.args.get(name, {})
    strategy = {"type": _STRATEGIES[name], "resources": given.get("resources", [])}
    if "shape" in given:
        strategy["requestedToCapacityRatio"] = {"shape": given["shape"]}
    profile.replace(name, _FIT, "score")
    profile.args[_FIT] = {**profile.args.get(_FIT, {}), "scoringStrategy": strategy}
    profile.drop(name)


def _require_labels(profile: V1Profile, problems: Problems) -> None:
    name = "NodeLabel"
    wanted = _expressions(profile.args.get(name, {}))
    if profile.runs(name, "score"):
        message = f"v1 has no counterpart of {name} at score; {upstream.REPLACEMENTS[name]}"
        problems.add(profile.path, message)
    elif wanted and profile.runs(name) and not profile.runs(_AFFINITY, "filter"):
        message = f"v1 has {_AFFINITY} for the labels of {name}, which this profile does not enable"
        problems.add(profile.path, f"{message}; it would also respect what pods ask for")
    elif wanted and profile.runs(name):
        affinity = profile.args.setdefault(_AFFINITY, {}).setdefault("addedAffinity", {})
        terms = affinity.get(REQUIRED, {}).get("nodeSelectorTerms", [{}])
        affinity[REQUIRED] = {"nodeSelectorTerms": [_narrowed(term, wanted) for term in terms]}
    profile.drop(name)


def _expressions(args: dict[str, Any]) -> list[dict[str, str]]:
    operators = {"presentLabels": "Exists", "absentLabels": "DoesNotExist"}
    return [
        {"key": key, "operator": operator}
        for field, operator in operators.items()
        for key in args.get(field, [])
    ]


def _narrowed(term: dict[str, Any], wanted: list[dict[str, str]]) -> dict[str, Any]:
    return {**term, "matchExpressions": [*term.get("matchExpressions", []), *wanted]}


def _spread_by_topology(profile: V1Profile, warnings: Problems) -> None:
    """Replace SelectorSpread as a default by the default constraints of PodTopologySpread."""
    name = "SelectorSpread"
    if not profile.runs(name, "score"):
        profile.drop(name)  # its PreScore alone has no effect
    if not profile.runs(name) or name in profile.listed:
        return
    given = profile.args.get(_SPREAD, {})
    if profile.runs(_SPREAD, "score") and not given.get("defaultConstraints"):
        profile.args[_SPREAD] = {**given, "defaultingType": "System"}
        effect = f"{_SPREAD} spreads pods by default instead, in nearly the same way"
    else:
        effect = "pods without constraints are no longer spread"
    warnings.add(profile.path, f"{name}, a default of that version, is left out; {effect}")
    profile.drop(name)


def _leave_out(profile: V1Profile, problems: Problems, warnings: Problems) -> None:
    """Leave out the dropped plugins that have no counterpart in v1."""
    for name in upstream.LEGACY_POINTS:
        if not profile.runs(name) or name in _STRATEGIES:
            continue
        advice = upstream.REPLACEMENTS[name]
        if name in profile.listed:
            problems.add(profile.path, f"v1 has no counterpart of {name}; {advice}")
        else:
            message = f"{name}, a default of that version, is left out; {advice}"
            warnings.add(profile.path, message)
            profile.drop(name)
