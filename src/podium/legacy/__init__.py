"""What kube-scheduler once had and dropped: plugins, versions of the configuration, policies.

``VERSIONS`` are all versions that podium reads, v1 among them; hand it to ``config.load``.
"""

from podium.config.version import V1, Versions, by_type
from podium.legacy.policy.files import unwrap_config_map
from podium.legacy.policy.policy import API_VERSIONS, POLICY
from podium.legacy.versions.alpha import V1ALPHA2
from podium.legacy.versions.beta import V1BETA1, V1BETA2, V1BETA3
from podium.legacy.versions.v1alpha1 import V1ALPHA1

VERSIONS = Versions(
    {
        **by_type(V1, V1BETA3, V1BETA2, V1BETA1, V1ALPHA2, V1ALPHA1),
        **{(name, POLICY.kind): POLICY for name in API_VERSIONS},
    },
    unwrap=unwrap_config_map,
)

__all__ = ["VERSIONS"]
