"""kubescheduler.config.k8s.io/v1: what podium's own model follows."""

from podium.config import upstream, wire
from podium.config.versions import default_plugins
from podium.config.versions.version import Meaning, Notes, Version, Versions, by_type


def _translate(given: wire.Configuration, notes: Notes) -> Meaning:
    return Meaning(given, default_plugins.V1)


V1 = Version(
    name="v1",
    written=wire.Configuration,
    translate=_translate,
    removed=frozenset(upstream.LEGACY_POINTS),
    rejected=dict.fromkeys(upstream.CLOUD_LIMITS, 'was invalid in version "v1"'),
)

V1_ONLY = Versions(by_type(V1))
