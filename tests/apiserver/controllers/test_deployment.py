"""Deployments: one set per template, rolled over within surge and unavailability."""

import pytest

from podium.apiserver.controllers.rollout import Size, next_sizes, surge_and_unavailable
from tests.support.controllers import image, workload

DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"


def sizes(world):
    """What each set is told to have, oldest revision first."""
    found = sorted(
        world.api.store.objects(SETS),
        key=lambda one: int(one["metadata"]["annotations"]["deployment.kubernetes.io/revision"]),
    )
    return [one["spec"]["replicas"] for one in found]


def roll(world, rounds=20):
    """Bind and run until nothing moves; the most and the fewest pods seen on the way."""
    totals, ready = [], []
    for _ in range(rounds):
        world.bind_all()
        world.wait(3)
        totals.append(sum(sizes(world)))
        ready.append(world.status(DEPLOYMENTS, "web").get("availableReplicas", 0))
    return max(totals), min(ready)


def test_a_deployment_makes_a_set_that_makes_pods(world):
    world.create(DEPLOYMENTS, workload(replicas=3))

    (found,) = world.api.store.objects(SETS)
    text = found["metadata"]["labels"]["pod-template-hash"]
    assert found["metadata"]["name"] == f"web-{text}"
    assert found["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": text}
    assert len(world.pods(app="web", **{"pod-template-hash": text})) == 3
    annotations = world.get(DEPLOYMENTS, "web")["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision"] == "1"


def test_status_when_all_runs(world):
    world.create(DEPLOYMENTS, workload(replicas=2))
    assert world.status(DEPLOYMENTS, "web")["unavailableReplicas"] == 2

    world.run_all()

    status = world.status(DEPLOYMENTS, "web")
    conditions = {one["type"]: (one["status"], one["reason"]) for one in status.pop("conditions")}
    assert status == {
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "observedGeneration": 1,
    }
    assert conditions == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }


def test_rolling_update_stays_within_its_bounds(world):
    world.create(DEPLOYMENTS, workload(replicas=8))
    world.run_all()

    world.change(DEPLOYMENTS, "web", image("app:2"))
    most, fewest = roll(world)

    assert sizes(world) == [0, 8]
    assert (most, fewest) == (10, 6)
    images = {one["spec"]["containers"][0]["image"] for one in world.pods(app="web").values()}
    assert images == {"app:2"}


def test_an_update_that_cannot_start_keeps_the_old_pods(world):
    world.create(DEPLOYMENTS, workload(replicas=4))
    world.run_all()

    world.change(DEPLOYMENTS, "web", image("app:2"))
    world.wait(60)  # nobody binds the new pods

    assert sizes(world) == [3, 2]
    assert world.status(DEPLOYMENTS, "web")["availableReplicas"] == 3


def test_no_progress_is_told_after_the_deadline(world):
    world.create(DEPLOYMENTS, workload(replicas=1, progressDeadlineSeconds=60))

    world.wait(61)

    conditions = world.status(DEPLOYMENTS, "web")["conditions"]
    progressing = next(one for one in conditions if one["type"] == "Progressing")
    assert (progressing["status"], progressing["reason"]) == ("False", "ProgressDeadlineExceeded")


def test_recreate_waits_until_all_old_pods_are_gone(world):
    world.create(DEPLOYMENTS, workload(replicas=2, strategy={"type": "Recreate"}))
    world.run_all()

    world.change(DEPLOYMENTS, "web", image("app:2"))
    assert sizes(world) == [0, 0]  # the old ones still stop
    roll(world, 3)

    assert sizes(world) == [0, 2]


def test_going_back_uses_the_old_set_as_the_newest_revision(world):
    world.create(DEPLOYMENTS, workload(replicas=1))
    world.run_all()
    world.change(DEPLOYMENTS, "web", image("app:2"))
    roll(world, 4)

    world.change(DEPLOYMENTS, "web", image("app:1"))
    roll(world, 4)

    assert len(world.api.store.objects(SETS)) == 2
    assert sizes(world) == [0, 1]
    annotations = world.get(DEPLOYMENTS, "web")["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision"] == "3"


def test_history_is_bounded(world):
    world.create(DEPLOYMENTS, workload(replicas=1, revisionHistoryLimit=1))
    for number in range(2, 6):
        world.run_all()
        world.change(DEPLOYMENTS, "web", image(f"app:{number}"))
    roll(world, 4)

    assert len(world.api.store.objects(SETS)) == 2


def test_a_paused_deployment_scales_but_does_not_roll(world):
    world.create(DEPLOYMENTS, workload(replicas=2))
    world.run_all()
    world.change(DEPLOYMENTS, "web", lambda obj: obj["spec"].update(paused=True))

    world.change(DEPLOYMENTS, "web", image("app:2"))
    world.change(DEPLOYMENTS, "web", lambda obj: obj["spec"].update(replicas=3))

    assert sizes(world) == [3]


def test_deleting_takes_all_of_it_away(world):
    world.create(DEPLOYMENTS, workload(replicas=2))
    world.run_all()

    world.delete(DEPLOYMENTS, "web")
    world.wait(5)

    assert world.names(SETS) == []
    assert world.names("pods") == []


def test_a_name_that_another_set_has_is_not_fought_over(world):
    world.create(DEPLOYMENTS, workload(replicas=1))
    (name,) = world.names(SETS)
    world.delete(DEPLOYMENTS, "web")
    stranger = workload(name, replicas=0)
    stranger["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    stranger["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    world.create(SETS, stranger)

    world.create(DEPLOYMENTS, workload(replicas=1))
    world.wait(1)

    assert len(world.names(SETS)) == 2
    assert world.status(DEPLOYMENTS, "web")["collisionCount"] == 1


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "expected"),
    [
        pytest.param("25%", "25%", 10, (3, 2), id="surge-up-unavailable-down"),
        pytest.param(0, 0, 10, (0, 1), id="never-stuck"),
        pytest.param(1, 5, 3, (1, 3), id="not-more-than-all"),
    ],
)
def test_bounds(surge, unavailable, replicas, expected):
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    spec = {"replicas": replicas, "strategy": {"rollingUpdate": rolling}}

    assert surge_and_unavailable(spec) == expected


def new(replicas, available=0):
    return Size(replicas, replicas, available, is_new=True)


def old(replicas, available=0):
    return Size(replicas, replicas, available)


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        pytest.param([new(0)], [10], id="first"),
        pytest.param([old(10, 10), new(0)], [8, 3], id="start"),
        pytest.param([old(8, 8), new(3)], [8, 5], id="surge-again"),
        pytest.param([old(8, 8), new(5, 2)], [6, 5], id="as-many-as-came"),
        pytest.param([old(8, 10), new(5)], [8, 5], id="what-goes-anyway-counts-no-more"),
        pytest.param([old(10, 4), new(0)], [8, 3], id="broken-ones-first"),
        pytest.param([old(2, 2), new(10, 10)], [0, 10], id="end"),
        pytest.param([new(15, 15)], [10], id="fewer"),
    ],
)
def test_next_sizes_of_ten(sets, expected):
    rolling = {"maxSurge": "25%", "maxUnavailable": "25%"}
    spec = {"replicas": 10, "strategy": {"rollingUpdate": rolling}}

    assert next_sizes(spec, sets) == expected
