"""v1alpha1, read by kube-scheduler 1.16 to 1.18: one profile, written at the top of the file.

A file may name a Policy instead of choosing plugins.
"""

from msgspec import field
from msgspec.structs import replace

from podium.config import wire
from podium.config.problems import did_you_mean, show
from podium.config.version import Meaning, Notes, Version, same_fields
from podium.legacy.policy.files import PolicySource, read_policy
from podium.legacy.versions import default_plugins
from podium.legacy.versions.alpha import (
    AlphaBasics,
    AlphaPoints,
    args_of_top,
    complete_args,
    profile_in_v1,
)
from podium.legacy.versions.shared import (
    LeaderElection,
    renamed_election_in_v1,
    warn_of_addresses,
)

_DEFAULT = "DefaultProvider"
_PROVIDERS = {
    _DEFAULT: default_plugins.V1ALPHA2,
    "ClusterAutoscalerProvider": default_plugins.packing(default_plugins.V1ALPHA2),
}
_PATH = "algorithmSource"


class AlgorithmSource(wire.Wire, frozen=True):
    provider: str = ""
    policy: PolicySource | None = None


class Plugins(AlphaPoints, frozen=True):
    """Its ``postFilter`` runs when filtering has succeeded; it is called preScore now."""

    pre_score: wire.PluginSet = field(default=wire.PluginSet(), name="postFilter")


class Configuration(AlphaBasics, frozen=True):
    scheduler_name: str | None = None
    algorithm_source: AlgorithmSource = AlgorithmSource()
    hard_pod_affinity_symmetric_weight: wire.Int32 | None = None
    leader_election: LeaderElection = LeaderElection()
    plugins: Plugins = Plugins()
    plugin_config: tuple[wire.PluginConfig, ...] = ()

    @property
    def arguments(self) -> dict[str, int | None]:
        weight = self.hard_pod_affinity_symmetric_weight
        return {
            "bindTimeoutSeconds": self.bind_timeout_seconds,
            "hardPodAffinitySymmetricWeight": weight,
        }


def _translate(given: Configuration, notes: Notes) -> Meaning:
    notes.moved("profiles[0]", "")
    notes.moved("profiles[0].plugins.preScore", "plugins.postFilter")
    warn_of_addresses(given, notes)
    profile = profile_in_v1(given, given, "profiles[0]", notes)
    translated = same_fields(
        given,
        wire.Configuration,
        profiles=(profile,),
        leader_election=renamed_election_in_v1(given.leader_election, notes),
    )
    source = given.algorithm_source
    if source.policy is not None:
        return _by_policy(given, translated, source.policy, notes)
    return Meaning(translated, _PROVIDERS[_provider(source, notes)])


def _provider(source: AlgorithmSource, notes: Notes) -> str:
    name = source.provider or _DEFAULT
    if name in _PROVIDERS:
        return name
    known = " | ".join(sorted(_PROVIDERS))
    hint = did_you_mean(name, _PROVIDERS) or f"; known providers: {known}"
    message = f"algorithm provider {show(name)} is not registered{hint}"
    notes.problems.add(f"{_PATH}.provider", message)
    return _DEFAULT


def _by_policy(
    given: Configuration, translated: wire.Configuration, source: PolicySource, notes: Notes
) -> Meaning:
    """Take plugins and extenders from the policy; the file must not choose plugins as well."""
    if given.algorithm_source.provider:
        message = "set a provider or a policy, not both"
        notes.problems.add(f"{_PATH}.provider", message)
    if given.plugins != Plugins() or given.plugin_config:
        where = "plugins" if given.plugins != Plugins() else "pluginConfig"
        notes.problems.add(
            where, "cannot set a Plugin config and Policy config; remove one of them"
        )
    meaning = read_policy(source, f"{_PATH}.policy", notes)
    [profile] = meaning.given.profiles
    merged = replace(
        translated,
        profiles=(_with_top(profile, given, notes),),
        extenders=meaning.given.extenders,
    )
    return Meaning(merged, meaning.defaults, meaning.run_all_filters)


def _with_top(profile: wire.Profile, given: Configuration, notes: Notes) -> wire.Profile:
    """Add the fields at the top of the file to the policy's profile, where it does not set them."""
    configured = profile.plugin_config
    names = {entry.name for entry in configured}
    of_top = args_of_top(given.arguments, len(configured), "profiles[0]", notes)
    added = [entry for entry in of_top if entry.name not in names]
    plugins = profile.plugins
    if given.disable_preemption:
        plugins = replace(plugins, post_filter=wire.PluginSet())
    return wire.Profile(
        scheduler_name=given.scheduler_name,
        plugins=plugins,
        plugin_config=(*configured, *added),
    )


V1ALPHA1 = Version(
    name="v1alpha1",
    written=Configuration,
    translate=_translate,
    last_release="1.18",
    replaces_in_place=False,
    complete_args=complete_args,
)
