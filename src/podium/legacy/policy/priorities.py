"""Translate priorities to score plugins, with their weights."""

from dataclasses import dataclass
from typing import Any

import msgspec

from podium.config.problems import did_you_mean, show
from podium.config.version import Notes
from podium.legacy.policy.profile_builder import PolicyProfile
from podium.legacy.policy.types import Priority, PriorityArgument, Ratio

_BOTH = "preScore score"
_RATIO = "RequestedToCapacityRatio"
_LABEL = "NodeLabel"
_SERVICE = "ServiceAffinity"
_SPREAD = "PodTopologySpread"

PRIORITIES: dict[str, tuple[str, str]] = {
    "SelectorSpreadPriority": (_SPREAD, _BOTH),
    "EvenPodsSpreadPriority": (_SPREAD, _BOTH),
    "InterPodAffinityPriority": ("InterPodAffinity", _BOTH),
    "LeastRequestedPriority": ("NodeResourcesLeastAllocated", "score"),
    "MostRequestedPriority": ("NodeResourcesMostAllocated", "score"),
    "BalancedResourceAllocation": ("NodeResourcesBalancedAllocation", "score"),
    "NodePreferAvoidPodsPriority": ("NodePreferAvoidPods", "score"),
    "NodeAffinityPriority": ("NodeAffinity", _BOTH),
    "TaintTolerationPriority": ("TaintToleration", _BOTH),
    "ImageLocalityPriority": ("ImageLocality", "score"),
    # A priority with an argument has a custom name; it runs under the plugin's name.
    _RATIO: (_RATIO, "score"),
    _LABEL: (_LABEL, "score"),
    _SERVICE: (_SERVICE, "score"),
}
DEFAULTS = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
    "EvenPodsSpreadPriority": 2,
}
_WITH_ARGUMENT = (_RATIO, _LABEL, _SERVICE)
_IGNORED = "EqualPriority"
_ALIASES = {"ServiceSpreadingPriority": "SelectorSpreadPriority"}
_HIGHEST_WEIGHT = (2**63 - 1) // 10
_PATH = "priorities"


@dataclass(slots=True)
class _Wanted:
    """A priority to run. ``weight`` is a sum where several become one plugin, each of ``each``."""

    name: str
    weight: int
    path: str
    written: str = ""
    each: int = 0


def enable_plugins(
    given: tuple[Priority, ...] | None, profile: PolicyProfile, notes: Notes
) -> None:
    """Enable the plugins of the priorities, in alphabetical order of the priorities' names."""
    wanted = _wanted(given, profile, notes)
    for name in sorted(wanted):
        plugin, points = PRIORITIES[name]
        profile.enable(plugin, points, wanted[name].path, wanted[name].weight)
    if "SelectorSpreadPriority" in wanted:
        path = wanted["SelectorSpreadPriority"].path
        profile.configure(_SPREAD, {"defaultingType": "System"}, path)
    elif "EvenPodsSpreadPriority" in wanted:
        path = wanted["EvenPodsSpreadPriority"].path
        profile.configure(_SPREAD, {"defaultingType": "List"}, path)


def _wanted(
    given: tuple[Priority, ...] | None, profile: PolicyProfile, notes: Notes
) -> dict[str, _Wanted]:
    if given is None:
        return {name: _Wanted(name, weight, _PATH) for name, weight in DEFAULTS.items()}
    found: dict[str, _Wanted] = {}
    for index, priority in enumerate(given):
        path = f"{_PATH}[{index}]"
        name = _name_of(priority, path, notes)
        if not _has_weight(priority, path, notes) or not name:
            continue
        if name == _RATIO and name in found:
            _refuse_another(found[name], priority, path, notes)
            continue
        if name in (_LABEL, _SERVICE) and name in found:
            _join(found[name], priority, path, notes)
        else:
            found[name] = _Wanted(name, priority.weight, path, priority.name, priority.weight)
        if name in _WITH_ARGUMENT and priority.argument:
            _configure(priority.argument, path, profile)
    return found


def _refuse_another(first: _Wanted, other: Priority, path: str, notes: Notes) -> None:
    message = f'priority "{other.name}" redeclares custom priority "{_RATIO}"'
    notes.problems.add(path, f'{message}, from: "{first.written}"; a policy has one of them')


def _join(first: _Wanted, other: Priority, path: str, notes: Notes) -> None:
    """Join several into one plugin: their weights must be equal, and are added up."""
    if first.each != other.weight:
        what = "LabelPreference" if first.name == _LABEL else "ServiceAntiAffinity"
        # Two spaces, as upstream prints it.
        message = f'{what}  priority "{other.name}" has a different weight with "{first.written}"'
        notes.problems.add(f"{path}.weight", f"{message}; they become one plugin")
    first.weight += other.weight


def _has_weight(priority: Priority, path: str, notes: Notes) -> bool:
    if 0 < priority.weight < _HIGHEST_WEIGHT:
        return True
    message = "should have a positive weight applied to it or it has overflown"
    notes.problems.add(f"{path}.weight", f"priority {priority.name} {message}")
    return False


def _name_of(priority: Priority, path: str, notes: Notes) -> str:
    """Return the priority to run: the named one, or the one that the argument configures."""
    if priority.argument and not _has_one_argument(priority, path, notes):
        return ""
    name = _ALIASES.get(priority.name, priority.name)
    if name == _IGNORED:
        return ""
    if priority.argument and name in PRIORITIES and name not in _WITH_ARGUMENT:
        notes.warnings.add(f"{path}.argument", f"{name} takes no argument; it has no effect")
    elif priority.argument:
        return _name_by(priority.argument)
    elif name not in PRIORITIES or name in _WITH_ARGUMENT:
        known = {*PRIORITIES, *_ALIASES}.difference(_WITH_ARGUMENT)
        hint = did_you_mean(name, known) or "; a custom name needs an argument"
        notes.problems.add(f"{path}.name", f"priority type not found for {show(name)}{hint}")
        return ""
    return name


def _name_by(given: PriorityArgument) -> str:
    if given.label_preference:
        return _LABEL
    return _SERVICE if given.service_anti_affinity else _RATIO


def _has_one_argument(priority: Priority, path: str, notes: Notes) -> bool:
    given = priority.argument or PriorityArgument()
    count = sum(getattr(given, name) is not None for name in given.__struct_fields__)
    if count != 1 and not notes.problems.below(f"{path}.argument"):
        message = f"exactly 1 priority argument is required, numArgs: {count}, priority"
        advice = "give serviceAntiAffinity, labelPreference or requestedToCapacityRatioArguments"
        notes.problems.add(f"{path}.argument", f"{message} {priority.name}; {advice}")
    return count == 1


def _configure(given: PriorityArgument, path: str, profile: PolicyProfile) -> None:
    if given.label_preference:
        preference = given.label_preference
        name = "presentLabelsPreference" if preference.presence else "absentLabelsPreference"
        where = f"{path}.argument.labelPreference.label"
        profile.add_to_list(_LABEL, name, {where: preference.label})
    elif given.service_anti_affinity:
        where = f"{path}.argument.serviceAntiAffinity.label"
        labels = {where: given.service_anti_affinity.label}
        profile.add_to_list(_SERVICE, "antiAffinityLabelsPreference", labels)
    elif given.requested_to_capacity_ratio_arguments:
        ratio = _plain(given.requested_to_capacity_ratio_arguments)
        where = f"{path}.argument.requestedToCapacityRatioArguments"
        profile.configure(_RATIO, ratio, where)


def _plain(ratio: Ratio) -> dict[str, Any]:
    """Return arguments as v1beta1 writes them; no resources means cpu and memory."""
    args: dict[str, Any] = {"shape": [msgspec.to_builtins(point) for point in ratio.shape]}
    if ratio.resources:
        args["resources"] = [msgspec.to_builtins(resource) for resource in ratio.resources]
    return args
