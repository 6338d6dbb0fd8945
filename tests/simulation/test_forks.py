"""Forks do not notice one another: each behaves as a simulation that was built from its objects."""

from __future__ import annotations

from random import Random

import pytest

from podium.simulation import Simulation
from podium.simulation.results import Placement
from podium.testing.builders import node, pod
from podium.testing.builders_storage import claim, storage_class, volume
from tests.support.random_clusters import random_cluster
from tests.support.search import scaled


def built(seed):
    case = random_cluster(seed)
    return Simulation.from_objects([*case.standing, *case.pending], seed=seed)


def outcome(simulation):
    """What scheduling leads to: results, and everything that is there afterwards."""
    result = simulation.schedule()
    simulation.core.cluster.check_invariants()
    simulation.core.services.devices.check_invariants()
    simulation.queue.check_invariants()
    nodes = {key: found.node_name for key, found in simulation.pods.items()}
    claims = {
        key: found.spec.volume_name
        for key, found in simulation.objects("PersistentVolumeClaim").items()
    }
    unplaced = {each.pod: each.reason for each in result.unplaced}
    return nodes, claims, unplaced, set(result.victims)


def disturb(simulation, random):
    """Do something with a fork that changes pods, nodes, claims and the queue."""
    simulation.schedule()
    names = sorted(simulation.nodes)
    simulation.drain(random.choice(names), ignore_budgets=True)
    simulation.clone_node(random.choice(names), 2)
    simulation.add(pod("another", cpu="1", priority=5000), replicas=4)
    simulation.schedule()
    free = [name for name in names if simulation.nodes[name].spec.unschedulable]
    simulation.remove(*free, random.choice(sorted(simulation.pods)))


@pytest.mark.slow
def test_a_fork_behaves_as_if_it_were_alone():
    for seed in range(scaled(40)):
        random, expected = Random(seed), outcome(built(seed))
        simulation = built(seed)
        forks = [simulation.fork() for _ in range(3)]
        disturb(forks[0], random)
        later = forks[0].fork()

        assert outcome(forks[1]) == expected, seed
        disturb(forks[1], random)
        assert outcome(simulation) == expected, seed
        outcome(later)
        assert outcome(forks[2]) == expected, seed


@pytest.mark.slow
def test_rollback_returns_to_the_same_state():
    for seed in range(scaled(40)):
        random, expected = Random(seed), outcome(built(seed))
        simulation = built(seed)
        disturb(simulation, random)
        simulation.rollback()

        assert outcome(simulation) == expected, seed


def test_a_fork_that_is_gone_leaves_nothing_behind():
    simulation = Simulation.from_objects([node("n1", cpu="2"), pod("web", cpu="1")])
    for number in range(3):
        trial = simulation.fork()
        trial.add(pod(f"more-{number}", cpu="1"))
        trial.schedule()
        del trial

    assert set(simulation.pods) == {"default/web"}
    assert simulation.fit(pod("x", cpu="1")).count == 2


def test_attempts_go_on_in_a_fork():
    simulation = Simulation.from_objects([node("n1", cpu="1"), pod("web", cpu="2")])
    simulation.schedule()

    fork = simulation.fork()
    fork.add(node("n2", cpu="4"))
    fork.schedule()

    assert fork.pods["default/web"].node_name == "n2"
    (queued,) = simulation.queue.pods()
    assert queued.attempts == 1


def test_a_pod_that_no_event_wakes_is_tried_in_a_fork_after_five_minutes():
    """Resources refused the pod first, so that the volume for its claim does not wake it."""
    objects = [
        node("a", cpu="1"),
        storage_class(),
        claim(),
        pod("placed", cpu="1", node="a"),
        pod("pending", cpu="1", priority=10, claims="data"),
    ]
    simulation = Simulation.from_objects(objects)
    simulation.schedule()
    fork = simulation.fork()
    fork.add(volume(claim="data"), claim(volume="pv"))

    assert not fork.schedule(120).placed
    assert fork.schedule(400).placed == (Placement("default/pending", "a"),)


def test_a_pod_that_left_in_a_fork_keeps_its_place_among_the_pods_of_its_node():
    """Among equally important pods the one that was placed last is evicted."""
    placed = [pod(f"placed-{number}", node="a", cpu="1") for number in range(4)]
    simulation = Simulation.from_objects([node("a", cpu="4"), *placed])
    simulation.fork().remove("default/placed-1")
    fork = simulation.fork()
    fork.drain("a", ignore_budgets=True)
    fork.rollback()
    simulation.add(pod("important", cpu="1", priority=10))

    assert [each.pod for each in simulation.schedule().victims] == ["default/placed-3"]
