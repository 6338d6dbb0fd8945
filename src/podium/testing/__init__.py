"""For tests of plugins and configurations: objects, a fake handle, checks, and whole clusters.

What runs a cluster is loaded when it is first used: most tests of plugins do without.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from podium.testing.builders import namespace, node, pod, service
from podium.testing.builders_devices import (
    device,
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from podium.testing.builders_storage import claim, storage_class, volume
from podium.testing.forms import assert_forms_agree
from podium.testing.handle import FakeHandle
from podium.testing.signatures import assert_signature_sound
from podium.testing.subject import run_filter, run_score

if TYPE_CHECKING:
    from podium.testing.cluster import SimulatedCluster
    from podium.testing.plain_cluster import Cluster

_LATER = {
    "Cluster": "podium.testing.plain_cluster",
    "SimulatedCluster": "podium.testing.cluster",
}

__all__ = [
    "Cluster",
    "FakeHandle",
    "SimulatedCluster",
    "assert_forms_agree",
    "assert_signature_sound",
    "claim",
    "device",
    "device_class",
    "namespace",
    "node",
    "pod",
    "resource_claim",
    "resource_claim_template",
    "resource_slice",
    "run_filter",
    "run_score",
    "service",
    "storage_class",
    "volume",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'podium.testing' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
