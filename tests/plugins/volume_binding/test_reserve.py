"""Reserve and Unreserve: what one pod takes, the next one sees taken, until it is given back."""

import pytest

from podium.api.objects import PersistentVolume, PersistentVolumeClaim
from podium.plugins.volume.binding.reservation import BOUND_BY_CONTROLLER, Reservation
from podium.testing.builders import pod
from tests.support.storage import HOST, SELECTED, claim, claim_ref, storage_class, uses, volume
from tests.support.volume_binding import Trial

CSI = "csi.example.com"


def assumed_volume(trial, name="pv"):
    return trial.cluster.assumed(PersistentVolume).get(name)


def assumed_claim(trial, name="data"):
    return trial.cluster.assumed(PersistentVolumeClaim).get(f"default/{name}")


def is_clean(trial):
    kinds = PersistentVolume, PersistentVolumeClaim
    return not any(len(trial.cluster.assumed(kind)) for kind in kinds)


def test_a_volume_is_given_to_its_claim():
    trial = Trial(storage_class(), claim(), volume())
    assert trial.reserve("a", "data").ok

    taken = assumed_volume(trial)
    ref = taken.spec.claim_ref
    assert (ref.kind, ref.api_version) == ("PersistentVolumeClaim", "v1")
    assert (ref.namespace, ref.name, ref.uid) == ("default", "data", "uid-data")
    assert ref.resource_version == "1"
    assert taken.annotations == {BOUND_BY_CONTROLLER: "yes"}
    assert trial.cluster.volumes.get("pv").spec.claim_ref is None


def test_a_volume_that_an_administrator_reserved_is_not_marked_as_ours():
    trial = Trial(storage_class(), claim(), volume(claim="data"))
    assert trial.reserve("a", "data").ok
    assert assumed_volume(trial).spec.claim_ref.uid == "uid-data"
    assert assumed_volume(trial).annotations == {}


def test_a_volume_that_names_the_claim_already_stays_as_it_is():
    trial = Trial(storage_class(), claim(), volume(claim=claim()))
    assert trial.reserve("a", "data").ok
    assert is_clean(trial)
    assert trial.state.get(Reservation)  # it is waited for all the same


def test_a_claim_to_be_provisioned_gets_the_node():
    trial = Trial(storage_class("csi", provisioner=CSI), claim(storage_class="csi"))
    assert trial.reserve("b", "data").ok
    assert assumed_claim(trial).annotations == {SELECTED: "b"}
    assert trial.feasible("data") == "b"


def test_a_taken_volume_is_not_there_for_the_next_pod():
    trial = Trial(storage_class(), claim("one"), claim("two"), volume())
    assert trial.reserve("a", "one").ok
    assert trial.feasible("two") == ""
    assert trial.feasible("one") == "abc"


def test_the_smallest_volumes_of_the_node_are_taken():
    trial = Trial(
        storage_class(), claim("large", storage="5Gi"), claim("small"),
        volume("b", on={HOST: "b"}), volume("x", storage="6Gi"), volume("y", storage="2Gi"),
    )  # fmt: skip
    assert trial.reserve("a", "large", "small").ok
    reserved = trial.state.get(Reservation).volumes
    assert {c.claim.name: c.wanted.name for c in reserved} == {"small": "y", "large": "x"}


def test_a_profile_without_its_filter_takes_no_volume():
    trial = Trial(storage_class(), claim(), volume(on={HOST: "b"}))
    trial.handle.use()
    for node_name in "ab":
        assert trial.reserve(node_name, "data").ok
        assert is_clean(trial)
        assert trial.plugin.pre_bind_pre_flight(trial.state, pod("web"), node_name).is_skip


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="no-claims"),
        pytest.param([claim(volume="pv"), volume(claim=claim())], id="all-bound"),
    ],
)
def test_nothing_to_reserve(objects):
    trial = Trial(*objects)
    assert trial.reserve("a", *(["data"] if objects else [])).ok
    assert is_clean(trial)
    assert trial.plugin.pre_bind_pre_flight(trial.state, pod("web"), "a").is_skip


def test_unreserve_gives_everything_back():
    trial = Trial(
        storage_class(), storage_class("csi", provisioner=CSI),
        claim("old"), claim("new", storage_class="csi"), volume(),
    )  # fmt: skip
    assert trial.reserve("a", "old", "new").ok
    assert not is_clean(trial)

    trial.plugin.unreserve(trial.state, pod("web"), "a")
    assert is_clean(trial)
    trial.plugin.unreserve(trial.state, pod("web"), "a")  # once more does no harm
    assert trial.feasible("old", "new") == "abc"


def test_unreserve_leaves_what_others_have_taken():
    """Two pods with one claim: the second neither takes the volume again nor gives it back."""
    trial = Trial(storage_class(), claim(), volume())
    assert trial.reserve("a", "data").ok
    first = trial.state
    assert trial.reserve("a", "data").ok

    trial.plugin.unreserve(trial.state, pod("web"), "a")
    assert assumed_volume(trial).spec.claim_ref is not None
    trial.plugin.unreserve(first, pod("web"), "a")
    assert is_clean(trial)


def test_what_changed_meanwhile_fails_and_leaves_nothing_taken():
    """The claim moved on between PreFilter and Reserve: the volume taken before goes back."""
    trial = Trial(
        storage_class(), storage_class("csi", provisioner=CSI),
        claim("old"), claim("new", storage_class="csi"), volume(),
    )  # fmt: skip
    asking = pod("web", volumes=uses("old", "new"))
    assert trial.pre_filter(asking).ok
    trial.cluster.set_object(claim("new", storage_class="csi", resource_version="2"))

    status = trial.plugin.reserve(trial.state, asking, "a")
    assert status.message == '"default/new" is out of sync (stored: 2, assume: 1)'
    assert is_clean(trial)


def test_a_node_that_would_not_do_is_refused():
    trial = Trial(storage_class(), claim(), volume(on={HOST: "a"}))
    assert trial.reserve("b", "data").is_rejection
    assert is_clean(trial)


@pytest.mark.parametrize(
    ("event", "holds"),
    [
        pytest.param(volume(), True, id="a-resync"),
        pytest.param(volume(resource_version="2"), False, id="a-new-version"),
        pytest.param(volume(resource_version="2", claim_ref=claim_ref("x")), False, id="taken"),
        pytest.param(None, False, id="deleted"),
    ],
)
def test_the_watch_ends_what_is_assumed(event, holds):
    trial = Trial(storage_class(), claim(), volume())
    assert trial.reserve("a", "data").ok
    if event is None:
        trial.cluster.remove_object(PersistentVolume, "pv")
    else:
        trial.cluster.set_object(event)
    assert (not is_clean(trial)) is holds


def test_a_late_event_takes_nothing_back():
    trial = Trial(storage_class(), claim(), volume(resource_version="10"))
    assert trial.reserve("a", "data").ok
    trial.cluster.set_object(volume(resource_version="9"))
    assert trial.cluster.volumes.get("pv").metadata.resource_version == "10"
    assert not is_clean(trial)


def test_pre_flight_knows_the_node():
    trial = Trial(storage_class(), claim(), volume())
    assert trial.reserve("a", "data").ok
    assert trial.plugin.pre_bind_pre_flight(trial.state, pod("web"), "a").allow_parallel
    status = trial.plugin.pre_bind_pre_flight(trial.state, pod("web"), "b")
    assert status.message == 'no pod volume found for node "b"'


def test_equal_pods_keep_their_reservations_apart():
    trial = Trial(storage_class("csi", provisioner=CSI), claim(storage_class="csi"))
    asking = pod("web", volumes=uses("data"))
    trial.pre_filter(asking)
    one, other = trial.state.fork(), trial.state.fork()
    trial.plugin.reserve(one, asking, "a")
    assert other.find(Reservation) is None
