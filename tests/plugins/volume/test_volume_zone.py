import pytest

from podium import framework as fwk
from podium.plugins.volume.volume_zone import (
    REJECTED,
    VolumeZone,
    claim_changed,
    class_binds_late,
    volume_moved,
)
from podium.testing.builders import node, pod
from tests.support.storage import DRIVER, claim, ephemeral, storage_class, uses, volume
from tests.support.volume_plugins import Judge

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"


@pytest.mark.parametrize(
    ("volume_labels", "node_labels", "fits"),
    [
        pytest.param(f"{ZONE}=z1", f"{ZONE}=z1", True, id="its-zone"),
        pytest.param(f"{ZONE}=z1", f"{ZONE}=z2", False, id="other-zone"),
        pytest.param(f"{ZONE}=z1", "disk=ssd", True, id="node-says-nothing"),
        pytest.param(f"{ZONE}=z1", f"{REGION}=r1", False, id="node-says-region-only"),
        pytest.param(f"{REGION}=r1", f"{ZONE}=z1 {REGION}=r1", True, id="its-region"),
        pytest.param(f"{ZONE}=z1__z2", f"{ZONE}=z2", True, id="one-of-two-zones"),
        pytest.param(f"{ZONE}=z1__z2", f"{ZONE}=z3", False, id="neither-of-two-zones"),
        pytest.param(f"{BETA_ZONE}=z1", f"{BETA_ZONE}=z1", True, id="old-label"),
        pytest.param(f"{BETA_ZONE}=z1", f"{ZONE}=z1", True, id="old-label-on-volume-only"),
        pytest.param(f"{BETA_ZONE}=z1", f"{ZONE}=z2", False, id="new-label-stands-for-old"),
        pytest.param(f"{ZONE}=z1", f"{BETA_ZONE}=z1", False, id="old-label-on-node-only"),
        pytest.param(
            f"{BETA_ZONE}=z1", f"{BETA_ZONE}=z2 {ZONE}=z1", False, id="old-label-first-if-there"
        ),
        pytest.param(f"{BETA_REGION}=r1", f"{REGION}=r1", True, id="old-region-label"),
        pytest.param(f"{ZONE}=z1 {REGION}=r1", f"{ZONE}=z1 {REGION}=r2", False, id="both-must-fit"),
    ],
)
def test_filter(volume_labels, node_labels, fits):
    judge = Judge(
        VolumeZone,
        node("a", labels=node_labels),
        node("b", labels=f"{ZONE}=elsewhere {REGION}=elsewhere"),
        claim(volume="pv-data"),
        volume("pv-data", labels=volume_labels, csi=DRIVER),
    )

    verdicts = judge.verdicts(pod(volumes=uses("data")))

    assert verdicts == {"a": fwk.SUCCESS if fits else REJECTED, "b": REJECTED}


@pytest.mark.parametrize(
    "value", ["", "z1__", "__z1", "z1____z2", "z1__  __z2"], ids=lambda value: value or "empty"
)
def test_labels_that_cannot_be_read_are_ignored(value):
    pv = volume("pv-data", csi=DRIVER)
    pv.labels[ZONE] = value
    judge = Judge(VolumeZone, node("a", labels=f"{ZONE}=z1"), claim(volume="pv-data"), pv)

    assert judge.pre_filter(pod(volumes=uses("data"))).is_skip


def test_blanks_around_zones_do_not_count():
    pv = volume("pv-data", csi=DRIVER)
    pv.labels[ZONE] = " z1 __z2 "
    judge = Judge(VolumeZone, node("a", labels=f"{ZONE}=z1"), claim(volume="pv-data"), pv)

    assert judge.rejected(pod(volumes=uses("data"))) == ""


def test_every_volume_must_fit():
    judge = Judge(
        VolumeZone,
        *(node(name, labels=f"{ZONE}=z{name}") for name in "abc"),
        claim("one", volume="pv-1"),
        claim("two", volume="pv-2"),
        volume("pv-1", labels=f"{ZONE}=za__zb", csi=DRIVER),
        volume("pv-2", labels=f"{ZONE}=zb__zc", csi=DRIVER),
    )

    assert judge.rejected(pod(volumes=uses("one", "two"))) == "ac"


BROKEN = [
    pytest.param(uses(""), [], "PersistentVolumeClaim had no name", id="claim-without-name"),
    pytest.param(
        uses("data"), [], 'persistentvolumeclaim "data" not found', id="claim-does-not-exist"
    ),
    pytest.param(
        uses("data"),
        [claim(namespace="other", volume="pv-data")],
        'persistentvolumeclaim "data" not found',
        id="claim-in-another-namespace",
    ),
    pytest.param(
        uses("data"),
        [claim(storage_class=None)],
        "PersistentVolumeClaim had no pv name and storageClass name",
        id="unbound-without-class",
    ),
    pytest.param(
        uses("data"),
        [claim(storage_class="std")],
        'storageclass.storage.k8s.io "std" not found',
        id="class-does-not-exist",
    ),
    pytest.param(
        uses("data"),
        [
            claim(storage_class="std"),
            storage_class("std", provisioner=DRIVER, volume_binding_mode=""),
        ],
        'VolumeBindingMode not set for StorageClass "std"',
        id="class-without-binding-mode",
    ),
    pytest.param(
        uses("data"),
        [
            claim(storage_class="std"),
            storage_class("std", provisioner=DRIVER, volume_binding_mode="Immediate"),
        ],
        "PersistentVolume had no name",
        id="unbound-though-binding-is-immediate",
    ),
    pytest.param(
        uses("data"),
        [claim(volume="gone")],
        'persistentvolume "gone" not found',
        id="volume-does-not-exist",
    ),
]


@pytest.mark.parametrize(("volumes", "objects", "reason"), BROKEN)
def test_claims_that_lead_nowhere(volumes, objects, reason):
    judge = Judge(VolumeZone, node("a"), *objects)

    assert judge.pre_filter(pod(volumes=volumes)) == fwk.Status.unresolvable(reason)


@pytest.mark.parametrize(("volumes", "objects", "reason"), BROKEN)
def test_without_its_pre_filter_the_filter_says_so(volumes, objects, reason):
    judge = Judge(VolumeZone, node("a"), *objects)

    verdicts = judge.filtered(fwk.CycleState(), pod(volumes=volumes), judge.cluster.rows())

    assert verdicts == {"a": fwk.Status.unresolvable(reason)}


def test_without_its_pre_filter_the_filter_works_alike():
    judge = Judge(
        VolumeZone,
        node("a", labels=f"{ZONE}=z1"),
        node("b", labels=f"{ZONE}=z2"),
        claim(volume="pv-data"),
        volume("pv-data", labels=f"{ZONE}=z1", csi=DRIVER),
    )
    state, rows = fwk.CycleState(), judge.cluster.rows()

    assert judge.filtered(state, pod(), rows) == {"a": fwk.SUCCESS, "b": fwk.SUCCESS}
    subject = pod(volumes=uses("data"))
    assert judge.filtered(state, subject, rows) == {"a": fwk.SUCCESS, "b": REJECTED}


@pytest.mark.parametrize(
    ("volumes", "objects"),
    [
        pytest.param([], [], id="no-volumes"),
        pytest.param([ephemeral()], [], id="ephemeral-claims-are-not-looked-at"),
        pytest.param(
            uses("data"), [claim(volume="pv-data"), volume("pv-data", csi=DRIVER)], id="no-labels"
        ),
        pytest.param(
            uses("data"),
            [claim(storage_class="std"), storage_class("std", provisioner=DRIVER)],
            id="binds-late",
        ),
    ],
)
def test_nothing_to_check_leaves_the_plugin_out(volumes, objects):
    assert Judge(VolumeZone, node("a"), *objects).pre_filter(pod(volumes=volumes)).is_skip


def test_pods_with_volumes_in_the_same_place_are_equal():
    judge = Judge(
        VolumeZone,
        claim("one", volume="pv-1"),
        claim("two", volume="pv-2"),
        claim("far", volume="pv-3"),
        claim("free", volume="pv-4"),
        *(volume(f"pv-{n}", labels=f"{ZONE}=z1 disk=d{n}", csi=DRIVER) for n in (1, 2)),
        volume("pv-3", labels=f"{ZONE}=z2", csi=DRIVER),
        volume("pv-4", csi=DRIVER),
    )
    names = ("one", "two", "far", "free")
    sign = {name: judge.plugin.sign(pod(volumes=uses(name))) for name in names}

    assert sign["one"] == sign["two"] != sign["far"]
    assert sign["free"] == judge.plugin.sign(pod())
    assert judge.plugin.sign(pod(volumes=uses("nope"))) not in sign.values()


def test_hints():
    subject = pod(volumes=[*uses("data"), ephemeral()])

    assert class_binds_late(subject, None, storage_class("std", provisioner=DRIVER))
    assert not class_binds_late(
        subject, None, storage_class("std", provisioner=DRIVER, volume_binding_mode="Immediate")
    )
    assert claim_changed(subject, None, claim("data"))
    assert claim_changed(subject, claim("data"), claim("data", volume="pv-1"))
    assert not claim_changed(subject, None, claim("data", namespace="other"))
    assert not claim_changed(subject, None, claim("pod-scratch"))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(None, "", True, id="new"),
        pytest.param("", "", False, id="nothing-changed"),
        pytest.param(f"{ZONE}=z1", f"{ZONE}=z2", True, id="moved"),
        pytest.param(f"{ZONE}=z1", "", True, id="label-gone"),
        pytest.param(f"{ZONE}=z1__z2", f"{ZONE}=z2__z1", False, id="same-zones"),
        pytest.param(f"{ZONE}=z1", f"{ZONE}=z1 disk=ssd", False, id="other-label"),
    ],
)
def test_hint_on_volumes(before, after, expected):
    old = None if before is None else volume("pv-data", labels=before, csi=DRIVER)

    assert volume_moved(pod(), old, volume("pv-data", labels=after, csi=DRIVER)) is expected
