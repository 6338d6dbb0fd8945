"""The legacy Policy, read by kube-scheduler up to 1.22, as one profile of plugins."""

from podium.config import wire
from podium.config.version import Meaning, Notes, Version
from podium.legacy.policy import predicates, priorities
from podium.legacy.policy.chosen import PROFILE, Chosen
from podium.legacy.policy.written import Policy
from podium.legacy.versions import legacy_extenders

KIND = "Policy"
API_VERSIONS = ("v1", "kubescheduler.config.k8s.io/v1")

# Gates are newer than policies, and yet a gated pod cannot be bound.
_ALWAYS = {
    "SchedulingGates": "preEnqueue",
    "PrioritySort": "queueSort",
    "DefaultPreemption": "postFilter",
    "DefaultBinder": "bind",
}
_WEIGHT = "hardPodAffinitySymmetricWeight"


def translate(given: Policy, notes: Notes) -> Meaning:
    chosen = Chosen()
    predicates.choose(given.predicates, chosen, notes)
    priorities.choose(given.priorities, chosen, notes)
    for plugin, point in _ALWAYS.items():
        chosen.enable(plugin, point, "")
    _weigh_affinity(given.hard_pod_affinity_symmetric_weight, chosen, notes)
    notes.moved(PROFILE, "")
    translated = wire.Configuration(
        profiles=(chosen.profile(notes),),
        extenders=legacy_extenders.in_words_of_v1(given.extenders),
    )
    return Meaning(translated, {}, given.always_check_all_predicates)


def _weigh_affinity(weight: int, chosen: Chosen, notes: Notes) -> None:
    if not 0 <= weight <= 100:
        notes.problems.invalid(_WEIGHT, weight, "not in valid range [0-100]")
    elif weight and chosen.runs("InterPodAffinity"):
        chosen.configure("InterPodAffinity", {"hardPodAffinityWeight": weight}, _WEIGHT)


POLICY = Version(
    name="v1",
    kind=KIND,
    written=Policy,
    translate=translate,
    last_release="1.22",
    replaces_in_place=False,
)
