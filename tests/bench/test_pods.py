"""Pods with something of their own, and the volumes they bring along."""

import pytest

from podium.api.objects import PersistentVolume, PersistentVolumeClaim, decode
from podium.bench.objects import PodContext, PodMaker, bound_pair, in_turn
from podium.bench.ops import CreatePods
from podium.bench.templates import Template, Templates

POD = """
kind: Pod
metadata: {generateName: web-}
spec:
  containers: [{name: app}]
  volumes: [{name: keys, secret: {secretName: keys}}]
  affinity: {podAntiAffinity: {}}
"""
CLAIM = Template({"kind": "PersistentVolumeClaim", "metadata": {"annotations": {"a": "b"}}})


@pytest.fixture
def maker(tmp_path):
    """A maker of pods, and the objects it put beside them."""
    for name, text in (
        ("pod", POD),
        ("volume", "kind: PersistentVolume"),
        ("claim", "kind: PersistentVolumeClaim"),
    ):
        (tmp_path / f"{name}.yaml").write_text(text)
    templates = Templates(tmp_path)
    put = []

    def make(*storage, first_claim=0, **fields):
        paths = ("persistent_volume_template_path", "persistent_volume_claim_template_path")
        for path in ("pod.yaml", *storage):
            templates.load(path)
        op = CreatePods(
            opcode="createPods",
            count=9,
            namespace="shop",
            pod_template_path="pod.yaml",
            **dict(zip(paths, storage, strict=False)),
            **fields,
        )

        def take(kind, data):
            put.append(decode(kind, data))

        return PodMaker(op, templates, take, PodContext(["a", "b"], first_claim)), put

    return make


def test_own_volume_stands_beside_those_of_the_template(maker):
    pods, put = maker("volume.yaml", "claim.yaml")

    pod = pods.build(7, 2)

    keys, own = pod.spec.volumes
    assert keys.secret is not None
    assert own.persistent_volume_claim.claim_name == "pvc-2"
    assert [obj.key for obj in put] == ["shop-vol-2", "shop/pvc-2"]


def test_claims_of_a_namespace_are_numbered_on(maker):
    pods, put = maker("volume.yaml", "claim.yaml", first_claim=9)

    pods.build(20, 0)

    assert [obj.key for obj in put] == ["shop-vol-9", "shop/pvc-9"]


def test_pods_of_a_batch_have_one_signature(maker):
    pods, _ = maker(signature_batch_size=2)

    labels = [pods.build(serial, index).labels for index, serial in enumerate(range(7, 10))]

    assert [each["signature"] for each in labels] == [
        "signature-label-0",
        "signature-label-0",
        "signature-label-1",
    ]


def test_pin_stands_beside_other_affinity(maker):
    pods, _ = maker(pin_in_turn=True)

    pinned = [pods.build(serial, serial).spec.affinity for serial in range(3)]

    assert all(affinity.pod_anti_affinity is not None for affinity in pinned)
    terms = [affinity.node_affinity.required.node_selector_terms for affinity in pinned]
    assert [term.match_fields[0].values for (term,) in terms] == [("a",), ("b",), ("a",)]


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ("csi", "volume_handle"),
        ("awsElasticBlockStore", "volume_id"),
        ("azureDisk", "disk_name"),
        ("cinder", "volume_id"),
        ("gcePersistentDisk", "pd_name"),
    ],
)
def test_no_two_volumes_are_the_same_disk(source, field):
    template = Template({"kind": "PersistentVolume", "spec": {source: {"fsType": "ext4"}}})

    made = [bound_pair(template, CLAIM, serial, "shop", serial)[0] for serial in range(2)]
    volumes = [decode(PersistentVolume, data) for data in made]

    sources = [
        volume.spec.csi
        or volume.spec.aws_elastic_block_store
        or volume.spec.azure_disk
        or volume.spec.cinder
        or volume.spec.gce_persistent_disk
        for volume in volumes
    ]
    assert {disk.fs_type for disk in sources} == {"ext4"}
    assert len({getattr(disk, field) for disk in sources}) == 2


def test_a_volume_and_its_claim_know_each_other():
    made = bound_pair(Template({"kind": "PersistentVolume"}), CLAIM, 3, "shop", 3)
    volume, claim = decode(PersistentVolume, made[0]), decode(PersistentVolumeClaim, made[1])

    assert claim.spec.volume_name == volume.name
    assert volume.spec.claim_ref.uid == claim.uid
    assert {volume.status.phase, claim.status.phase} == {"Bound"}
    assert set(claim.metadata.annotations) == {"a", "pv.kubernetes.io/bind-completed"}


def test_in_turn_while_they_last():
    assert "".join(in_turn([("a", 1), ("b", 3), ("c", 2)])) == "abcbcb"
