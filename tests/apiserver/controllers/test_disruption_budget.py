"""Disruption budgets: how many may go, and what evictions leave of it."""

import pytest

from podium.apiserver.api import Call
from podium.apiserver.controllers.disruption_budget import desired_healthy
from podium.apiserver.statuses import Refusal
from podium.apiserver.subresources import evict
from tests.support.controllers import World, node, workload

BUDGETS = "poddisruptionbudgets.policy"


@pytest.fixture
def world():
    made = World()
    made.create("nodes", node())
    made.create("deployments.apps", workload(replicas=3))
    made.run_all()
    return made


def budget(**spec):
    return {
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def counts(world):
    status = world.status(BUDGETS, "web")
    names = ("expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed")
    return [status[name] for name in names]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"minAvailable": 2}, [3, 3, 2, 1], id="minimum"),
        pytest.param({"minAvailable": "50%"}, [3, 3, 2, 1], id="percentage-rounds-up"),
        pytest.param({"maxUnavailable": 2}, [3, 3, 1, 2], id="maximum"),
        pytest.param({"minAvailable": 5}, [3, 3, 5, 0], id="never-enough"),
    ],
)
def test_counts(world, spec, expected):
    world.create(BUDGETS, budget(**spec))

    assert counts(world) == expected


def test_pods_that_are_not_ready_do_not_count(world):
    world.create(BUDGETS, budget(maxUnavailable=1))
    world.change("deployments.apps", "web", lambda obj: obj["spec"].update(replicas=4))
    assert counts(world) == [4, 3, 3, 0]

    world.run_all()

    assert counts(world) == [4, 4, 3, 1]
    (condition,) = world.status(BUDGETS, "web")["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "SufficientPods")


def test_evictions_use_the_budget_up(world):
    world.create(BUDGETS, budget(minAvailable=2))
    first, second, _ = world.pods(app="web")
    evict(world.api, ("default", first), {}, Call())
    world.settle()

    with pytest.raises(Refusal) as refused:
        evict(world.api, ("default", second), {}, Call())

    assert refused.value.code == 429
    world.run_all()  # the deployment makes a new one
    assert counts(world) == [3, 3, 2, 1]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 1}, 1),
        ({"minAvailable": "34%"}, 4),
        ({"maxUnavailable": "34%"}, 6),
        ({"maxUnavailable": 99}, 0),
    ],
)
def test_desired_of_ten(spec, expected):
    assert desired_healthy(spec, 10) == expected
