"""Scoring by free storage, which StorageCapacityScoring switches on."""

import pytest

from podium import framework as fwk
from podium.framework.resource_scoring import ShapePoint
from podium.plugins.volume.binding import ScoringVolumeBinding, VolumeBinding
from podium.plugins.volume.binding.args import MOST_FREE
from podium.testing.builders import pod
from tests.support.storage import (
    HOST,
    ZONE,
    claim,
    driver,
    pool,
    storage_class,
    topologies,
    uses,
    volume,
)
from tests.support.volume_binding import Trial

CSI = "csi.example.com"
FULLEST = (ShapePoint(utilization=0, score=0), ShapePoint(utilization=100, score=10))


def scores(*objects, claims=("data",), shape=MOST_FREE):
    """The score of each node, asked for one and for all."""
    trial = Trial(*objects, shape=shape)
    asking = pod("web", volumes=uses(*claims))
    status = trial.pre_filter(asking)
    assert status.ok or status.is_skip
    rows = trial.handle.rows
    assert trial.plugin.pre_score(trial.state, asking, rows) is None
    one_by_one = [trial.plugin.score(trial.state, asking, each) for each in rows]
    assert trial.plugin.score_all(trial.state, asking, rows).tolist() == one_by_one
    return dict(zip(rows.names, one_by_one, strict=True))


def local(name, size, **more):
    return volume(name, storage=size, on={HOST: name}, **more)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param(MOST_FREE, {"a": 0, "b": 50, "c": 90}, id="free-storage-is-good"),
        pytest.param(FULLEST, {"a": 100, "b": 50, "c": 10}, id="or-bad"),
        pytest.param(
            (ShapePoint(utilization=20, score=2), ShapePoint(utilization=60, score=8)),
            {"a": 80, "b": 65, "c": 20},
            id="flat-outside-the-points",
        ),
    ],
)
def test_volumes_that_exist(shape, expected):
    volumes = local("a", "1Gi"), local("b", "2Gi"), local("c", "10Gi")
    assert scores(storage_class(), claim(), *volumes, shape=shape) == expected


def test_pools():
    pools = pool("p", capacity="4Gi", on={HOST: "a"}), pool("q", capacity="10Gi", on={HOST: "b"})
    made = storage_class("csi", provisioner=CSI)
    found = scores(made, claim(storage_class="csi", storage="2Gi"), driver(), *pools)
    assert found == {"a": 50, "b": 80, "c": 0}  # c has no room, and is not feasible


def test_claims_of_one_class_share_the_pool():
    made = storage_class("csi", provisioner=CSI), driver(), pool(capacity="10Gi")
    two = (
        claim("x", storage_class="csi", storage="2Gi"),
        claim("y", storage_class="csi", storage="3Gi"),
    )
    assert scores(*made, *two, claims=("x", "y")) == dict.fromkeys("abc", 50)


def test_volumes_of_one_class_add_up():
    volumes = volume("v", storage="2Gi"), volume("w", storage="6Gi")
    two = claim("x", storage="1Gi"), claim("y", storage="3Gi")
    assert scores(storage_class(), *volumes, *two, claims=("x", "y")) == dict.fromkeys("abc", 50)


def test_classes_count_alike_and_halves_are_rounded_up():
    classes = storage_class("one"), storage_class("two")
    volumes = (
        volume("v", storage_class="one", storage="1Gi"),
        volume("w", storage_class="two", storage="8Gi"),
    )
    two = claim("x", storage_class="one"), claim("y", storage_class="two")
    # 0 for the full one; 88 for an eighth, which is 12 percent: the mean is 44.
    assert scores(*classes, *volumes, *two, claims=("x", "y")) == dict.fromkeys("abc", 44)


def test_beside_volumes_that_exist_pools_do_not_count():
    made = storage_class("csi", provisioner=CSI), driver(), pool()
    both = claim("x"), claim("y", storage_class="csi", storage="10Gi")
    found = scores(storage_class(), volume(storage="2Gi"), *made, *both, claims=("x", "y"))
    assert found == dict.fromkeys("abc", 50)


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([claim(volume="pv"), volume()], id="bound"),
        pytest.param(
            [claim(storage_class="csi"), storage_class("csi", provisioner=CSI)], id="no-pools"
        ),
        pytest.param(
            [
                claim(storage_class="csi"),
                storage_class("csi", provisioner=CSI, allowed_topologies=topologies({ZONE: "z9"})),
            ],
            id="infeasible",
        ),
    ],
)
def test_without_a_size_nothing_is_scored(objects):
    assert scores(*objects) == dict.fromkeys("abc", 0)


def test_a_pod_without_claims_scores_nothing():
    assert scores(claims=()) == dict.fromkeys("abc", 0)


def test_an_empty_volume_counts_as_full():
    assert scores(storage_class(), claim(storage=""), volume(storage="0")) == dict.fromkeys(
        "abc", 0
    )


def test_without_the_feature_nothing_is_scored():
    trial = Trial(storage_class(), claim(), volume())
    asking = pod("web", volumes=uses("data"))
    trial.pre_filter(asking)
    assert trial.plugin.pre_score(trial.state, asking, trial.handle.rows) == fwk.skip()
    assert trial.plugin.score(trial.state, asking, trial.handle.rows.at(0)) == 0


@pytest.mark.parametrize("kind", [VolumeBinding, ScoringVolumeBinding])
def test_what_scores_depend_on(kind):
    plugin = kind(kind.Args(), Trial().handle)
    reads = plugin.depends_on(pod("web", volumes=uses("data")))
    assert bool(reads.for_scores & fwk.Aspect.STORAGE) is (kind is ScoringVolumeBinding)
    assert plugin.depends_on(pod("web")) == fwk.Dependencies()
