"""DaemonSets: a pod for each node that may have one."""

import pytest

from podium.apiserver.controllers.daemon_set import target_of
from podium.apiserver.statuses import Refusal
from tests.support.controllers import World, node, template, workload

SETS = "daemonsets.apps"


@pytest.fixture
def world():
    made = World()
    for name in ("n1", "n2"):
        made.create("nodes", node(name))
    return made


def targets(world):
    return sorted(target_of(found) for found in world.pods(app="web").values())


def run(world, rounds=1):
    """Bind each pod to the node it is made for."""
    for _ in range(rounds):
        for name, found in world.pods(app="web").items():
            if not found["spec"].get("nodeName"):
                world.bind(name, target_of(found))
        world.wait(3)


def taint(world, name, key, effect):
    taints = [{"key": key, "effect": effect}]
    world.change("nodes", name, lambda obj: obj["spec"].update(taints=taints))


def test_one_pod_per_node_also_for_later_nodes(world):
    world.create(SETS, workload())
    assert targets(world) == ["n1", "n2"]

    world.create("nodes", node("n3"))

    assert targets(world) == ["n1", "n2", "n3"]


def test_status(world):
    world.create(SETS, workload())
    run(world)

    assert world.status(SETS, "web") == {
        "currentNumberScheduled": 2,
        "desiredNumberScheduled": 2,
        "numberAvailable": 2,
        "numberMisscheduled": 0,
        "numberReady": 2,
        "updatedNumberScheduled": 2,
        "observedGeneration": 1,
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, ["n1", "n2"], id="everywhere"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, ["n3"], id="by-label"),
        pytest.param(
            {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
            ["n1", "n2", "n3"],
            id="tainted",
        ),
    ],
)
def test_which_nodes(world, spec, expected):
    world.create("nodes", node("n3", {"disk": "ssd"}))
    if "nodeSelector" not in spec:
        taint(world, "n3", "gpu", "NoSchedule")

    world.create(SETS, workload(template=template(**spec)))

    assert targets(world) == expected


def test_cordoned_nodes_keep_their_daemons(world):
    world.change("nodes", "n1", lambda obj: obj["spec"].update(unschedulable=True))

    world.create(SETS, workload())

    assert targets(world) == ["n1", "n2"]


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        pytest.param("NoSchedule", ["n1", "n2"], id="may-stay"),
        pytest.param("NoExecute", ["n2"], id="must-go"),
    ],
)
def test_a_taint_on_a_node_with_its_daemon(world, effect, expected):
    world.create(SETS, workload())
    run(world)

    taint(world, "n1", "gpu", effect)

    assert targets(world) == expected


def test_updates_one_node_at_a_time(world):
    world.create(SETS, workload())
    run(world)

    world.change(
        SETS, "web", lambda o: o["spec"]["template"]["spec"]["containers"][0].update(image="app:2")
    )
    world.wait(0)
    assert world.status(SETS, "web").get("numberAvailable", 0) >= 1
    run(world, 6)

    images = {one["spec"]["containers"][0]["image"] for one in world.pods(app="web").values()}
    assert images == {"app:2"}
    assert world.status(SETS, "web")["updatedNumberScheduled"] == 2


def surging(**spec):
    rolling = {"maxSurge": 1, "maxUnavailable": 0}
    return workload(updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling}, **spec)


def new_image(obj):
    obj["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"


def images(world, name):
    """The images of a node's pods, oldest first."""
    found = [one for one in world.pods(app="web").values() if target_of(one) == name]
    found.sort(key=lambda one: one["metadata"]["creationTimestamp"])
    return [one["spec"]["containers"][0]["image"] for one in found]


def test_with_a_surge_the_new_pod_comes_first(world):
    world.create(SETS, surging(minReadySeconds=5))
    run(world, 3)
    world.change(SETS, "web", new_image)
    assert (images(world, "n1"), images(world, "n2")) == (["app:1", "app:2"], ["app:1"])

    run(world)
    assert images(world, "n1") == ["app:1", "app:2"]  # running, and not yet available
    seen = []
    for _ in range(8):
        run(world)
        seen.append(world.status(SETS, "web")["numberAvailable"])

    assert (images(world, "n1"), images(world, "n2")) == (["app:2"], ["app:2"])
    assert min(seen[1:]) >= 1
    assert world.status(SETS, "web")["updatedNumberScheduled"] == 2


@pytest.mark.parametrize(
    ("rolling", "message"),
    [
        pytest.param({"maxSurge": 1}, "may not be set when maxUnavailable is non-zero", id="both"),
        pytest.param({"maxUnavailable": 0}, "cannot be 0 when maxSurge is 0", id="neither"),
        pytest.param({"maxUnavailable": "0%"}, "cannot be 0 when maxSurge is 0", id="percent"),
    ],
)
def test_bounds_that_contradict_each_other(world, rolling, message):
    with pytest.raises(Refusal, match=message):
        world.create(SETS, workload(updateStrategy={"rollingUpdate": rolling}))


def test_a_surge_replaces_at_once_what_does_not_work(world):
    world.create(SETS, surging())  # nothing is bound, so nothing works

    world.change(SETS, "web", new_image)

    both = [sorted(images(world, name)) for name in ("n1", "n2")]  # made in the same second
    assert both == [["app:1", "app:2"], ["app:1", "app:2"]]


def test_a_surge_never_leaves_a_node_without_a_working_pod(world):
    world.create(SETS, surging())
    run(world)
    world.change(SETS, "web", new_image)
    for _ in range(30):
        for name in ("n1", "n2"):
            ready = [
                one
                for one in world.pods(app="web").values()
                if target_of(one) == name and one["status"]["phase"] == "Running"
            ]
            assert ready
        world.wait(0.5)
        run_one(world)
    assert (images(world, "n1"), images(world, "n2")) == (["app:2"], ["app:2"])


def run_one(world):
    for name, found in world.pods(app="web").items():
        if not found["spec"].get("nodeName"):
            world.bind(name, target_of(found))
            return


def test_pods_go_with_their_node(world):
    world.create(SETS, workload())
    run(world)

    world.delete("nodes", "n1")
    world.wait(60)

    assert targets(world) == ["n2"]
