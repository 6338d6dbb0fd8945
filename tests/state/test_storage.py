"""Volumes, disks and limits by row follow pods, nodes and storage objects, in whatever order."""

from hypothesis import given
from hypothesis import strategies as st

from podium.api.csi_migration import VolumeId
from podium.api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.state.aspects import NOWHERE, Aspect
from podium.state.cluster import ClusterState, load
from podium.state.driver_columns import UNLIMITED
from podium.testing.builders import node, pod
from tests.support.generated_storage import bound_storage_object, pod_volumes
from tests.support.search import examples
from tests.support.storage import (
    DRIVER,
    EBS,
    EBS_DRIVER,
    attachment,
    claim,
    csi_node,
    ephemeral,
    storage_class,
    uses,
    volume,
)

STORED = (PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode, VolumeAttachment)


def cluster_of(*objects):
    cluster = ClusterState()
    load(cluster, objects)
    return cluster


def count(cluster, name, driver=DRIVER):
    """The driver's volumes on this node."""
    cluster.check_invariants()
    return int(cluster.storage.attached.counts(driver)[cluster.table.row_of(name)])


def limit(cluster, name, driver=DRIVER):
    cluster.check_invariants()
    return int(cluster.storage.limits(driver)[cluster.table.row_of(name)])


def rows_told_of(cluster, change):
    """The rows whose volumes the journal says to have changed."""
    mark = cluster.journal.end
    change()
    entries = cluster.journal.since(mark)
    return [row for row, aspects in entries if row != NOWHERE and aspects & Aspect.VOLUMES]


def test_a_volume_counts_once_per_node_however_it_is_used():
    cluster = cluster_of(
        node("a"),
        node("b"),
        volume("pv", csi=DRIVER),
        claim("one", volume="pv"),
        claim("two", volume="pv"),
        pod("p1", node="a", volumes=uses("one")),
        pod("p2", node="a", volumes=uses("one", "two")),
        pod("p3", node="b", volumes=uses("two")),
        attachment("va", "a", "pv"),
    )
    assert [count(cluster, name) for name in "ab"] == [1, 1]

    cluster.remove_pod(cluster.pods["uid-p2"].pod)
    cluster.remove_pod(cluster.pods["uid-p3"].pod)
    assert [count(cluster, name) for name in "ab"] == [1, 0]

    cluster.remove_pod(cluster.pods["uid-p1"].pod)
    assert count(cluster, "a") == 1  # still attached

    cluster.remove_object(VolumeAttachment, "va")
    assert count(cluster, "a") == 0


def test_objects_may_come_after_the_pods_that_use_them():
    cluster = cluster_of(pod("p", node="a", volumes=uses("data")), attachment("va", "a", "pv-2"))
    cluster.set_object(claim(volume="pv-data"))
    cluster.set_object(volume("pv-2", csi=DRIVER))
    assert count(cluster, "a") == 0

    cluster.set_object(volume("pv-data", csi=DRIVER))
    assert count(cluster, "a") == 1

    cluster.set_node(node("a"))  # attachments count where their node is
    assert count(cluster, "a") == 2


def test_an_unbound_claim_counts_for_the_driver_of_its_class():
    cluster = cluster_of(
        node("a"), claim(storage_class="std"), pod("p", node="a", volumes=uses("data"))
    )
    assert count(cluster, "a") == 0

    cluster.set_object(storage_class("std", provisioner=DRIVER))
    assert count(cluster, "a") == 1

    cluster.set_object(storage_class("std", provisioner=EBS))
    assert (count(cluster, "a"), count(cluster, "a", EBS_DRIVER)) == (0, 1)

    cluster.set_object(storage_class("std", provisioner="kubernetes.io/azure-file"))
    assert (count(cluster, "a"), count(cluster, "a", EBS_DRIVER)) == (0, 0)


def test_an_ephemeral_claim_counts_for_its_owner_only():
    cluster = cluster_of(
        node("a"),
        volume("pv-data", csi=DRIVER),
        pod("web", node="a", volumes=[ephemeral()]),
        claim("web-scratch", volume="pv-data", owner="uid-other"),
    )
    assert count(cluster, "a") == 0

    cluster.set_object(claim("web-scratch", volume="pv-data", owner="uid-web"))
    assert count(cluster, "a") == 1
    assert not cluster.storage.claims.users("default/web-scratch").total  # nobody names it


def test_attachments_follow_their_node_and_their_volume():
    cluster = cluster_of(
        node("a"), node("b"), volume("pv-data", csi=DRIVER), attachment("va", "a", "pv-data")
    )
    assert count(cluster, "a") == 1

    cluster.set_object(attachment("va", "b", "pv-data", attacher="other.example.com"))
    assert (count(cluster, "a"), count(cluster, "b")) == (0, 0)
    assert count(cluster, "b", "other.example.com") == 1

    cluster.remove_object(PersistentVolume, "pv-data")
    assert count(cluster, "b", "other.example.com") == 0


def test_a_node_that_returns_finds_its_attachments_and_limits():
    cluster = cluster_of(
        node("a"),
        csi_node("a", {DRIVER: 3}),
        volume("pv-data", csi=DRIVER),
        attachment("va", "a", "pv-data"),
    )
    assert (count(cluster, "a"), limit(cluster, "a")) == (1, 3)

    cluster.remove_node("a")
    cluster.check_invariants()
    cluster.set_node(node("b"))
    cluster.set_node(node("a"))

    assert (count(cluster, "a"), limit(cluster, "a")) == (1, 3)
    assert (count(cluster, "b"), limit(cluster, "b")) == (0, UNLIMITED)


def test_limits_are_those_of_the_csi_node():
    cluster = cluster_of(node("a"), node("b"))
    assert limit(cluster, "a") == UNLIMITED

    cluster.set_object(csi_node("a", {DRIVER: 2, EBS_DRIVER: None}))
    cluster.set_object(csi_node("gone", {DRIVER: 1}))
    assert (limit(cluster, "a"), limit(cluster, "a", EBS_DRIVER)) == (2, UNLIMITED)
    assert limit(cluster, "b") == UNLIMITED

    cluster.set_object(csi_node("a", {DRIVER: 0}))
    assert limit(cluster, "a") == 0

    cluster.remove_object(CSINode, "a")
    assert limit(cluster, "a") == UNLIMITED


def test_the_table_may_grow():
    cluster = cluster_of(
        node("a"),
        csi_node("a", {DRIVER: 2}),
        volume("pv-data", csi=DRIVER),
        claim(volume="pv-data"),
    )
    cluster.add_pod(pod("p", node="a", volumes=uses("data")))
    assert (count(cluster, "a"), limit(cluster, "a")) == (1, 2)

    for number in range(100):
        cluster.set_node(node(f"n{number}"))
    cluster.add_pod(pod("q", node="n99", volumes=uses("data")))

    assert (count(cluster, "a"), limit(cluster, "a")) == (1, 2)
    assert (count(cluster, "n99"), limit(cluster, "n99")) == (1, UNLIMITED)


def test_the_journal_names_the_rows_where_volumes_changed():
    cluster = cluster_of(
        node("a"),
        node("b"),
        node("c"),
        volume("pv-data", csi=DRIVER),
        claim(volume="pv-data"),
        claim("more", storage_class=None),
    )
    for name in "ab":
        cluster.add_pod(pod(f"p-{name}", node=name, volumes=uses("data")))
    a, b, c = (cluster.table.row_of(name) for name in "abc")

    def told(change):
        return rows_told_of(cluster, change)

    assert told(lambda: cluster.set_object(claim(volume=""))) == [a, b]
    assert told(lambda: cluster.set_object(claim(volume="pv-data"))) == [a, b]
    assert told(lambda: cluster.set_object(claim(volume="pv-data", storage_class="std"))) == []
    assert told(lambda: cluster.set_object(claim("more", volume="pv-data"))) == []
    assert told(lambda: cluster.set_object(volume("pv-data", labels="x=y", csi=DRIVER))) == []
    assert told(lambda: cluster.set_object(attachment("va", "c", "pv-data"))) == [c]
    assert told(lambda: cluster.set_object(csi_node("b", {DRIVER: 1}))) == [b]


def test_files_are_no_storage():
    cluster = cluster_of(node("a"), pod("p", node="a", volumes=uses(configMap={"name": "web"})))
    info = cluster.pods["uid-p"]

    assert info.volumes == ()
    assert not info.aspects & Aspect.VOLUMES


def test_what_a_pod_would_count_as():
    cluster = cluster_of(
        volume("pv-data", csi=DRIVER), claim(volume="pv-data"), claim("new", storage_class="std")
    )
    subject = pod(
        "p", volumes=uses("data", "new", "missing", awsElasticBlockStore={"volumeID": "v"})
    )
    volumes = cluster.storage.claims.volumes_of(subject, subject.spec.volumes)

    assert volumes == [VolumeId(DRIVER, "h-pv-data"), VolumeId(EBS_DRIVER, "v")]


def test_a_shared_claim_may_stand_on_many_rows():
    cluster = cluster_of(volume("pv-data", csi=DRIVER), claim(volume="pv-data"))
    for number in range(80):
        cluster.set_node(node(f"n{number}"))
        cluster.add_pod(pod(f"p{number}", node=f"n{number}", volumes=uses("data")))
    assert count(cluster, "n79") == 1

    cluster.remove_object(PersistentVolumeClaim, "default/data")
    assert count(cluster, "n79") == 0


@examples(150)
@given(data=st.data())
def test_any_order_of_changes_adds_up(data):
    cluster = ClusterState()
    for number in range(data.draw(st.integers(1, 25))):
        name = data.draw(st.sampled_from("abc"))
        match data.draw(st.integers(0, 5)):
            case 0:
                cluster.set_node(node(name))
            case 1 if cluster.node(name) is not None:
                cluster.remove_node(name)
            case 2:
                volumes = data.draw(pod_volumes())
                subject = data.draw(st.sampled_from(("new", f"p{number}")))
                if f"uid-{subject}" not in cluster.pods:
                    cluster.add_pod(pod(subject, node=name, volumes=volumes))
            case 3 if cluster.pods:
                uid = data.draw(st.sampled_from(sorted(cluster.pods)))
                cluster.remove_pod(cluster.pods[uid].pod)
            case 4:
                kind = data.draw(st.sampled_from(STORED))
                if keys := sorted(obj.key for obj in cluster.objects(kind)):
                    cluster.remove_object(kind, data.draw(st.sampled_from(keys)))
            case _:
                cluster.set_object(data.draw(bound_storage_object()))
        cluster.storage.limits(DRIVER)
        cluster.storage.lacks_driver(DRIVER, without_csi_node=True)
        cluster.storage.check(cluster.pods.values())
    cluster.check_invariants()
