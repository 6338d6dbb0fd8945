"""What kube-scheduler once had and dropped: plugins, versions of the configuration, policies.

``VERSIONS`` are all versions that podium reads, v1 among them; hand it to ``config.load``.
"""

from podium.config.version import V1, Versions, by_type
from podium.legacy.policy import config_map
from podium.legacy.policy.policy import API_VERSIONS, POLICY
from podium.legacy.versions.v1alpha1 import V1ALPHA1
from podium.legacy.versions.v1alpha2 import V1ALPHA2
from podium.legacy.versions.v1beta1 import V1BETA1
from podium.legacy.versions.v1beta2 import V1BETA2
from podium.legacy.versions.v1beta3 import V1BETA3

VERSIONS = Versions(
    {
        **by_type(V1, V1BETA3, V1BETA2, V1BETA1, V1ALPHA2, V1ALPHA1),
        **{(name, POLICY.kind): POLICY for name in API_VERSIONS},
    },
    unwrap=config_map.unwrap,
)

__all__ = ["VERSIONS"]
