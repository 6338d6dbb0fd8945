"""Translate predicates to filter plugins, in the order in which predicates ran."""

from podium.config.problems import did_you_mean, show
from podium.config.version import Notes
from podium.legacy.policy.profile_builder import PolicyProfile
from podium.legacy.policy.types import Predicate, PredicateArgument

_BOTH = "preFilter filter"
_LABELS = "CheckNodeLabelPresence"
_SERVICE = "CheckServiceAffinity"

# In the order in which they run, whatever their order in the file.
PREDICATES: dict[str, dict[str, str]] = {
    "CheckNodeUnschedulable": {"NodeUnschedulable": "filter"},
    "GeneralPredicates": {
        "NodeResourcesFit": _BOTH,
        "NodeName": "filter",
        "NodePorts": _BOTH,
        "NodeAffinity": _BOTH,
    },
    "HostName": {"NodeName": "filter"},
    "PodFitsHostPorts": {"NodePorts": _BOTH},
    "MatchNodeSelector": {"NodeAffinity": _BOTH},
    "PodFitsResources": {"NodeResourcesFit": _BOTH},
    "NoDiskConflict": {"VolumeRestrictions": _BOTH},  # its PreFilter came after policies
    "PodToleratesNodeTaints": {"TaintToleration": "filter"},
    _LABELS: {"NodeLabel": "filter"},
    _SERVICE: {"ServiceAffinity": _BOTH},
    "MaxEBSVolumeCount": {"EBSLimits": "filter"},
    "MaxGCEPDVolumeCount": {"GCEPDLimits": "filter"},
    "MaxCSIVolumeCountPred": {"NodeVolumeLimits": "filter"},
    "MaxAzureDiskVolumeCount": {"AzureDiskLimits": "filter"},
    "MaxCinderVolumeCount": {"CinderLimits": "filter"},
    "CheckVolumeBinding": {"VolumeBinding": f"{_BOTH} reserve preBind"},
    "NoVolumeZoneConflict": {"VolumeZone": "filter"},
    "EvenPodsSpread": {"PodTopologySpread": _BOTH},
    "MatchInterPodAffinity": {"InterPodAffinity": _BOTH},
}
MANDATORY = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
DEFAULTS = tuple(
    name
    for name in PREDICATES
    if name
    not in (
        *("HostName", "PodFitsHostPorts", "MatchNodeSelector", "PodFitsResources"),
        *(_LABELS, _SERVICE, "MaxCinderVolumeCount"),
    )
)
_ALIASES = {"PodFitsPorts": "PodFitsHostPorts"}
_TAINTS = "conditions of nodes are taints now, which PodToleratesNodeTaints respects; remove it"
_GONE = dict.fromkeys(
    (
        "CheckNodeCondition",
        "CheckNodeMemoryPressure",
        "CheckNodeDiskPressure",
        "CheckNodePIDPressure",
    ),
    _TAINTS,
)
_PATH = "predicates"


def enable_plugins(
    given: tuple[Predicate, ...] | None, profile: PolicyProfile, notes: Notes
) -> None:
    """Enable the plugins of the predicates, and those of the mandatory ones."""
    paths = dict.fromkeys(DEFAULTS if given is None else MANDATORY, _PATH)
    for index, predicate in enumerate(given or ()):
        path = f"{_PATH}[{index}]"
        name = _name_of(predicate, path, notes)
        if name and paths.get(name, _PATH) == _PATH:
            paths[name] = path
        if name in (_LABELS, _SERVICE) and predicate.argument:
            _configure(predicate.argument, path, profile)
    for name in PREDICATES:
        if name in paths:
            for plugin, points in PREDICATES[name].items():
                profile.enable(plugin, points, paths[name])


def _name_of(predicate: Predicate, path: str, notes: Notes) -> str:
    """Return the predicate to run: the named one, or the one that the argument configures."""
    given = predicate.argument
    if given and not _has_one_argument(predicate, path, notes):
        return ""
    name = _ALIASES.get(predicate.name, predicate.name)
    if given and name in PREDICATES and name not in (_LABELS, _SERVICE):
        notes.warnings.add(f"{path}.argument", f"{name} takes no argument; it has no effect")
    elif given:
        return _LABELS if given.labels_presence else _SERVICE
    elif name not in PREDICATES:
        hint = _hint(name)
        notes.problems.add(f"{path}.name", f"predicate type not found for {show(name)}{hint}")
        return ""
    return name


def _has_one_argument(predicate: Predicate, path: str, notes: Notes) -> bool:
    given = predicate.argument or PredicateArgument()
    count = sum(each is not None for each in (given.service_affinity, given.labels_presence))
    if count != 1 and not notes.problems.below(f"{path}.argument"):
        message = f"exactly 1 predicate argument is required, numArgs: {count}, predicate"
        advice = "give serviceAffinity or labelsPresence"
        notes.problems.add(f"{path}.argument", f"{message} {predicate.name}; {advice}")
    return count == 1


def _hint(name: str) -> str:
    if name in _GONE:
        return f"; {_GONE[name]}"
    return did_you_mean(name, {*PREDICATES, *_ALIASES}) or "; a custom name needs an argument"


def _configure(given: PredicateArgument, path: str, profile: PolicyProfile) -> None:
    if given.service_affinity:
        labels = _labels(given.service_affinity.labels, f"{path}.argument.serviceAffinity")
        profile.add_to_list("ServiceAffinity", "affinityLabels", labels)
    elif given.labels_presence:
        name = "presentLabels" if given.labels_presence.presence else "absentLabels"
        labels = _labels(given.labels_presence.labels, f"{path}.argument.labelsPresence")
        profile.add_to_list("NodeLabel", name, labels)


def _labels(labels: tuple[str, ...], path: str) -> dict[str, str]:
    return {f"{path}.labels[{index}]": label for index, label in enumerate(labels)}
