"""How much can be added at a time, under which names, and what is said about more."""

import pytest

from podium.errors import SimulationError
from podium.simulation import Simulation
from podium.simulation.limits import MOST_ADDED
from podium.simulation.scenario import AddNodes
from podium.testing.builders import node, pod

UNNAMED = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "job-"},
           "spec": {"containers": [{"name": "c", "image": "i"}]}}  # fmt: skip


@pytest.fixture
def simulation():
    return Simulation.from_objects([node("n", cpu="4"), pod("web-1", node="n")])


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        pytest.param(0, ", not 0", id="none"),
        pytest.param(-3, ", not -3", id="negative"),
        pytest.param(99_999_999, ", not 99,999,999", id="many"),
        pytest.param(10**30, "", id="very-many"),
    ],
)
def test_numbers_out_of_bounds(simulation, count, shown):
    limit = f"must be from 1 to {MOST_ADDED:,}{shown}$"
    with pytest.raises(SimulationError, match=limit):
        simulation.clone_node("n", count)
    with pytest.raises(SimulationError, match=limit):
        simulation.add(pod("p"), replicas=count)
    assert (len(simulation.nodes), len(simulation.pods)) == (1, 1)


@pytest.mark.parametrize("text", ["like:n*99999999", "like:n*0", f"like:n*{'9' * 5000}"])
def test_nodes_to_add(text):
    with pytest.raises(SimulationError, match="the number of nodes must be from 1 to 200,000"):
        AddNodes.parse(text)


def test_a_call_as_a_whole(simulation):
    with pytest.raises(SimulationError, match="more than 3 objects at a time"):
        simulation.add(pod("a"), pod("b"), replicas=2, most=3)

    assert len(simulation.add(pod("a"), pod("b"), replicas=2, most=4)) == 4


def test_nodes_like_one_are_named_one_after_the_other(simulation):
    assert simulation.clone_node("n", 2) == ["n-new-1", "n-new-2"]
    assert simulation.clone_node("n") == ["n-new-3"]


def test_generated_names_are_the_same_in_every_fork(simulation):
    names = [[each.key for each in simulation.fork().add(UNNAMED, UNNAMED)] for _ in range(2)]

    assert names == [["default/job-0", "default/job-1"]] * 2
    several = simulation.add(UNNAMED, UNNAMED, replicas=2)
    assert len({each.key for each in several}) == 4


def test_fit_counts_beside_pods_of_the_same_name():
    """Pods with affinity are added and scheduled, as web-0, web-1 and so on."""
    zone = "topology.kubernetes.io/zone"
    nodes = [node(name, cpu="1", labels={zone: name}) for name in "ab"]
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": zone}
            ]
        }
    }
    asked = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"affinity": apart, "containers": [{"name": "c", "image": "i"}]},
    }  # fmt: skip
    simulation = Simulation.from_objects([*nodes, pod("web-0", node="a", labels="app=web")])

    assert simulation.fit(asked).count == 1


def test_explaining_a_pod_whose_name_is_taken(simulation):
    manifest = {**UNNAMED, "metadata": {"name": "web-1"}}

    assert simulation.explain(manifest).pod == "default/web-1-new-1"


def test_a_node_that_is_drained_twice_at_once():
    owned = pod("web", node="n")
    simulation = Simulation.from_objects([node("n"), node("m"), owned])

    assert simulation.drain("n", "n").lost == ("default/web",)
