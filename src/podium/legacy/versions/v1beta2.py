"""v1beta2, read by kube-scheduler 1.22 to 1.27: plugins are listed point by point."""

from podium.config import upstream, wire
from podium.config.version import Meaning, Notes, Version
from podium.legacy.versions import addresses, default_plugins, shared, v1beta1
from podium.legacy.versions.v1beta3 import REMOVED


class Plugins(shared.Points, frozen=True):
    pre_enqueue: wire.PluginSet = wire.PluginSet()


class Profile(shared.Profile, frozen=True):
    plugins: Plugins = Plugins()


class Configuration(v1beta1.Configuration, frozen=True):
    profiles: tuple[Profile, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    addresses.refuse(given, notes)
    return Meaning(shared.in_words_of_v1(given, notes), default_plugins.V1BETA2)


V1BETA2 = Version(
    name="v1beta2",
    written=Configuration,
    translate=_translate,
    last_release="1.27",
    removed=upstream.REMOVED_IN_V1BETA2,
    rejected=dict.fromkeys(upstream.REMOVED_IN_V1BETA2, REMOVED),
)
