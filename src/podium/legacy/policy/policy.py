"""The legacy Policy, read by kube-scheduler up to 1.22, translated to one profile of plugins."""

from podium.config import wire
from podium.config.version import Meaning, Notes, Version
from podium.legacy.policy import predicates, priorities
from podium.legacy.policy.profile_builder import PROFILE, PolicyProfile
from podium.legacy.policy.types import Policy
from podium.legacy.versions.shared import extenders_in_v1

KIND = "Policy"
API_VERSIONS = ("v1", "kubescheduler.config.k8s.io/v1")

# Scheduling gates are newer than policies, but a gated pod must not be bound.
_ALWAYS = {
    "SchedulingGates": "preEnqueue",
    "PrioritySort": "queueSort",
    "DefaultPreemption": "postFilter",
    "DefaultBinder": "bind",
}
_WEIGHT = "hardPodAffinitySymmetricWeight"


def translate(given: Policy, notes: Notes) -> Meaning:
    profile = PolicyProfile()
    predicates.enable_plugins(given.predicates, profile, notes)
    priorities.enable_plugins(given.priorities, profile, notes)
    for plugin, point in _ALWAYS.items():
        profile.enable(plugin, point, "")
    _set_affinity_weight(given.hard_pod_affinity_symmetric_weight, profile, notes)
    notes.moved(PROFILE, "")
    translated = wire.Configuration(
        profiles=(profile.build(notes),),
        extenders=extenders_in_v1(given.extenders),
    )
    return Meaning(translated, {}, given.always_check_all_predicates)


def _set_affinity_weight(weight: int, profile: PolicyProfile, notes: Notes) -> None:
    if not 0 <= weight <= 100:
        notes.problems.invalid(_WEIGHT, weight, "not in valid range [0-100]")
    elif weight and profile.runs("InterPodAffinity"):
        profile.configure("InterPodAffinity", {"hardPodAffinityWeight": weight}, _WEIGHT)


POLICY = Version(
    name="v1",
    kind=KIND,
    written=Policy,
    translate=translate,
    last_release="1.22",
    replaces_in_place=False,
)
