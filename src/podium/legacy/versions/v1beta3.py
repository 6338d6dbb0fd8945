"""v1beta3, read by kube-scheduler 1.23 to 1.28: v1 with other default plugins."""

from podium.config import upstream, wire
from podium.config.version import Meaning, Notes, Version
from podium.legacy.versions import default_plugins, shared

REMOVED = f'was removed in version "{upstream.GROUP}/v1beta2"'


class Plugins(shared.Points, frozen=True):
    pre_enqueue: wire.PluginSet = wire.PluginSet()
    multi_point: wire.PluginSet = wire.PluginSet()


class Profile(shared.Profile, frozen=True):
    plugins: Plugins = Plugins()


class Configuration(shared.Configuration, frozen=True):
    profiles: tuple[Profile, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    return Meaning(shared.in_words_of_v1(given, notes), default_plugins.V1BETA3)


V1BETA3 = Version(
    name="v1beta3",
    written=Configuration,
    translate=_translate,
    last_release="1.28",
    removed=upstream.REMOVED_IN_V1BETA2,
    rejected=dict.fromkeys(upstream.REMOVED_IN_V1BETA2, REMOVED),
)
