"""kubescheduler.config.k8s.io/v1: what podium's own model follows."""

from types import MappingProxyType

from podium.config import upstream, wire
from podium.config.version import Defaults, Meaning, Notes, Version, Versions, by_type

DEFAULT_PLUGINS: Defaults = MappingProxyType({upstream.MULTI_POINT: upstream.DEFAULT_WEIGHTS})


def _translate(given: wire.Configuration, notes: Notes) -> Meaning:
    return Meaning(given, DEFAULT_PLUGINS)


V1 = Version(
    name="v1",
    written=wire.Configuration,
    translate=_translate,
    removed=frozenset(upstream.LEGACY_POINTS),
    rejected=dict.fromkeys(upstream.CLOUD_LIMITS, 'was invalid in version "v1"'),
)

V1_ONLY = Versions(by_type(V1))
