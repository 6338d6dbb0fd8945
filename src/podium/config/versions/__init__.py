"""Every version that podium reads, by the ``apiVersion`` and ``kind`` of its files."""

from podium.config import config_map
from podium.config.versions.policy.policy import API_VERSIONS, POLICY
from podium.config.versions.v1 import V1
from podium.config.versions.v1alpha1 import V1ALPHA1
from podium.config.versions.v1alpha2 import V1ALPHA2
from podium.config.versions.v1beta1 import V1BETA1
from podium.config.versions.v1beta2 import V1BETA2
from podium.config.versions.v1beta3 import V1BETA3
from podium.config.versions.version import Versions, by_type

VERSIONS = Versions(
    {
        **by_type(V1, V1BETA3, V1BETA2, V1BETA1, V1ALPHA2, V1ALPHA1),
        **{(name, POLICY.kind): POLICY for name in API_VERSIONS},
    },
    unwrap=config_map.unwrap,
)

__all__ = ["VERSIONS"]
