"""A profile with v1's plugins in place of those that v1 has dropped, as far as v1 can say it.

A plugin that only the defaults of an older version brought is left out with a warning when
nothing takes its place; one that the file asks for is a problem.
"""

from dataclasses import dataclass
from typing import Any

from podium.api.affinity import REQUIRED
from podium.config import export, upstream
from podium.config.model import DEFAULT_ORIGIN, Profile
from podium.config.problems import Problems
from podium.framework.plugin import Point

_FIT = "NodeResourcesFit"
_AFFINITY = "NodeAffinity"
_SPREAD = "PodTopologySpread"
_STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}


@dataclass(slots=True)
class Draft:
    """A profile's plugins and arguments while they are changed; ``path`` is where it stands.

    ``listed`` are the plugins that the file names; ``unplaced`` are enabled, and run nowhere here.
    """

    points: dict[str, list[str]]
    weights: dict[str, int]
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
        self.args.pop(name, None)

    def replace(self, name: str, other: str, key: str) -> None:
        names = self.points[key]
        names[names.index(name)] = other
        if key == "score":
            self.weights[other] = self.weights.pop(name)


def modernized(profile: Profile, path: str, problems: Problems, warnings: Problems) -> Draft:
    draft = Draft(
        points={point.value: list(profile.order_with_absent[point]) for point in Point},
        weights=dict(profile.weights),
        args={name: export.args_fields(args) for name, args in profile.args.items()},
        listed=_listed(profile),
        unplaced=[name for name, points in profile.absent.items() if not points],
        path=path,
    )
    _count_volumes(draft, warnings)
    _score_by_strategy(draft, problems)
    _require_labels(draft, problems)
    _spread_by_topology(draft, warnings)
    _leave_out(draft, problems, warnings)
    return draft


def _listed(profile: Profile) -> set[str]:
    return {
        name
        for point, names in profile.order_with_absent.items()
        for name, origin in zip(names, profile.origins[point], strict=True)
        if origin != DEFAULT_ORIGIN
    }


def _count_volumes(draft: Draft, warnings: Problems) -> None:
    """The disks of clouds are served by CSI drivers now, and counted with their volumes."""
    limits = "NodeVolumeLimits"
    in_order = [*draft.points["filter"], *draft.points["preFilter"]]
    for name in [each for each in in_order if each in upstream.CLOUD_LIMITS]:
        if draft.runs(name, "filter") and not draft.runs(limits, "filter"):
            message = f"{limits} takes the place of {name}; it counts volumes of all CSI drivers"
            warnings.add(draft.path, message)
            draft.replace(name, limits, "filter")
        draft.drop(name)


def _score_by_strategy(draft: Draft, problems: Problems) -> None:
    found = [name for name in draft.points["score"] if name in _STRATEGIES]
    if not found:
        return
    if len(found) > 1 or draft.runs(_FIT, "score"):
        scorers = [name for name in draft.points["score"] if name in (_FIT, *found)]
        message = "v1 scores resources by one strategy, and this profile by several"
        problems.add(draft.path, f"{message}: {', '.join(scorers)}")
        return
    [name] = found
    given = draft.args.get(name, {})
    strategy = {"type": _STRATEGIES[name], "resources": given.get("resources", [])}
    if "shape" in given:
        strategy["requestedToCapacityRatio"] = {"shape": given["shape"]}
    draft.replace(name, _FIT, "score")
    draft.args[_FIT] = {**draft.args.get(_FIT, {}), "scoringStrategy": strategy}
    draft.drop(name)


def _require_labels(draft: Draft, problems: Problems) -> None:
    name = "NodeLabel"
    wanted = _expressions(draft.args.get(name, {}))
    if draft.runs(name, "score"):
        message = f"v1 has no counterpart of {name} at score; {upstream.REPLACEMENTS[name]}"
        problems.add(draft.path, message)
    elif wanted and draft.runs(name) and not draft.runs(_AFFINITY, "filter"):
        message = f"v1 has {_AFFINITY} for the labels of {name}, which this profile does not enable"
        problems.add(draft.path, f"{message}; it would also respect what pods ask for")
    elif wanted and draft.runs(name):
        affinity = draft.args.setdefault(_AFFINITY, {}).setdefault("addedAffinity", {})
        terms = affinity.get(REQUIRED, {}).get("nodeSelectorTerms", [{}])
        affinity[REQUIRED] = {"nodeSelectorTerms": [_narrowed(term, wanted) for term in terms]}
    draft.drop(name)


def _expressions(args: dict[str, Any]) -> list[dict[str, str]]:
    operators = {"presentLabels": "Exists", "absentLabels": "DoesNotExist"}
    return [
        {"key": key, "operator": operator}
        for field, operator in operators.items()
        for key in args.get(field, [])
    ]


def _narrowed(term: dict[str, Any], wanted: list[dict[str, str]]) -> dict[str, Any]:
    return {**term, "matchExpressions": [*term.get("matchExpressions", []), *wanted]}


def _spread_by_topology(draft: Draft, warnings: Problems) -> None:
    """What SelectorSpread did by default is close to what PodTopologySpread does by default."""
    name = "SelectorSpread"
    if not draft.runs(name, "score"):
        draft.drop(name)  # it has only prepared a score that nobody asks for
    if not draft.runs(name) or name in draft.listed:
        return
    given = draft.args.get(_SPREAD, {})
    if draft.runs(_SPREAD, "score") and not given.get("defaultConstraints"):
        draft.args[_SPREAD] = {**given, "defaultingType": "System"}
        effect = f"{_SPREAD} spreads pods by default instead, nearly as it did"
    else:
        effect = "pods without constraints of their own are not spread any more"
    warnings.add(draft.path, f"{name}, a default of that version, is left out; {effect}")
    draft.drop(name)


def _leave_out(draft: Draft, problems: Problems, warnings: Problems) -> None:
    """What is left has no counterpart."""
    for name in upstream.LEGACY_POINTS:
        if not draft.runs(name) or name in _STRATEGIES:
            continue
        advice = upstream.REPLACEMENTS[name]
        if name in draft.listed:
            problems.add(draft.path, f"v1 has no counterpart of {name}; {advice}")
        else:
            message = f"{name}, a default of that version, is left out; {advice}"
            warnings.add(draft.path, message)
            draft.drop(name)
