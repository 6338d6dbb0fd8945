"""Which events wake a pod that VolumeBinding rejected."""

import pytest

from podium.testing.builders import pod
from tests.support.storage import (
    HOST,
    ZONE,
    claim,
    csi_node,
    driver,
    ephemeral,
    pool,
    storage_class,
    topologies,
    uses,
)
from tests.support.volume_binding import Trial

WEB = pod("web", volumes=[*uses("data"), ephemeral()])
INLINE = pod("web", volumes=[{"name": "x", "csi": {"driver": "csi.example.com"}}])


def hint_of(resource):
    registrations = Trial().plugin.events_to_register()
    [found] = [r for r in registrations if r.event.resource.endswith(f"/{resource}")
               or r.event.resource == resource]  # fmt: skip
    return found.hint


@pytest.mark.parametrize(
    ("resource", "waiting", "old", "new", "wakes"),
    [
        pytest.param("StorageClass", WEB, None, storage_class(), True, id="class-added"),
        pytest.param(
            "StorageClass", WEB, storage_class(), storage_class(provisioner="x"), False,
            id="class-with-the-same-topologies",
        ),
        pytest.param(
            "StorageClass",
            WEB,
            storage_class(allowed_topologies=topologies({ZONE: "a"})),
            storage_class(),
            True,
            id="class-allows-more",
        ),
        pytest.param("PersistentVolumeClaim", WEB, None, claim(), True, id="claim-added"),
        pytest.param("PersistentVolumeClaim", WEB, claim(), claim(volume="pv"), True, id="bound"),
        pytest.param("PersistentVolumeClaim", WEB, None, claim("web-scratch"), True, id="own"),
        pytest.param("PersistentVolumeClaim", WEB, None, claim("x"), False, id="another-claim"),
        pytest.param(
            "PersistentVolumeClaim", WEB, None, claim(namespace="x"), False, id="another-namespace"
        ),
        pytest.param("CSINode", WEB, None, csi_node("a"), True, id="csi-node-added"),
        pytest.param("CSINode", WEB, csi_node("a"), csi_node("a"), False, id="csi-node-same"),
        pytest.param(
            "CSINode", WEB, csi_node("a"), csi_node("a", migrated="x"), True, id="takes-over"
        ),
        pytest.param(
            "CSIDriver", INLINE, driver(), driver(checks_room=False), True, id="stops-checking"
        ),
        pytest.param(
            "CSIDriver", INLINE, driver(), driver(checks_room=None), True, id="says-no-longer"
        ),
        pytest.param(
            "CSIDriver", INLINE, driver(checks_room=False), driver(checks_room=None), False,
            id="never-checked",
        ),
        pytest.param("CSIDriver", INLINE, driver(checks_room=None), driver(), False, id="begins"),
        pytest.param(
            "CSIDriver", WEB, driver(), driver(checks_room=False), False, id="not-named-in-the-pod"
        ),
        pytest.param(
            "CSIDriver", INLINE, driver("x"), driver("x", checks_room=False), False, id="another"
        ),
        pytest.param("CSIStorageCapacity", WEB, None, pool(), True, id="pool-added"),
        pytest.param("CSIStorageCapacity", WEB, pool(), pool(on={HOST: "a"}), False, id="no-more"),
        pytest.param(
            "CSIStorageCapacity", WEB, pool(), pool(capacity="11Gi"), True, id="more-room"
        ),
        pytest.param(
            "CSIStorageCapacity", WEB, pool(capacity=None), pool(capacity="0"), True, id="now-told"
        ),
        pytest.param(
            "CSIStorageCapacity", WEB, pool(), pool(capacity=None), False, id="no-longer-told"
        ),
        pytest.param(
            "CSIStorageCapacity", WEB, pool(largest="1Gi"), pool(capacity="99Gi", largest="1Gi"),
            False, id="more-room-for-volumes-of-the-same-size",
        ),
    ],
)  # fmt: skip
def test_hints(resource, waiting, old, new, wakes):
    assert hint_of(resource)(waiting, old, new) is wakes


@pytest.mark.parametrize("resource", ["Node", "PersistentVolume"])
def test_these_always_wake(resource):
    assert hint_of(resource) is None
