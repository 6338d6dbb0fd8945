"""Clusters with many pending pods: each fix helps although others compete, and none is smaller."""

import pytest

from podium import Simulation
from podium.explain import Fix, explain_pod, in_order
from tests.support.applied_fixes import patched
from tests.support.fix_trials import LONG, written
from tests.support.random_clusters import random_cluster
from tests.support.search import scaled
from tests.support.smaller_fixes import pod_steps, smaller, with_cluster_changes

SECONDS = 400.0
BACKOFF = 20.0  # longer than any pod waits after a failed attempt
# Clusters in which an earlier search was wrong: about devices that another pod takes first, pods
# that take room while the victims of another leave, requests beside pods that the pod needs, parts
# of combinations, pods that wake up only because they have waited for long, and victims that trials
# had put behind others of their node.
TELLING = (67, 69, 137, 183, 190, 281, 319, 323, 356, 393, 396, 428, 676, 712, 1410, 2015)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(scaled(48)), *TELLING])
def test_fixes_where_pods_compete(seed):
    simulation = settled(seed)
    for key in list(simulation.pending):
        pod = simulation.pods[key]
        found = explain_pod(simulation.core, pod, pending=in_order(simulation))
        for fix in found.fixes:
            node, victims = applied(simulation, key, fix)
            assert node, (key, fix)
            if fix.tied == 1:
                assert (node, victims) == (fix.node, evicted_by(fix)), (key, fix)
            assert smaller(simulation, key, fix) == [], (key, fix)


def settled(seed: int) -> Simulation:
    """Return a random cluster after a while: no pod is in backoff."""
    given = random_cluster(seed)
    simulation = Simulation.from_objects([])
    for each in (*given.standing, *given.pending):
        simulation.add(each)
    simulation.schedule(SECONDS)
    simulation._world.clock.advance(BACKOFF)
    return simulation


def applied(simulation: Simulation, key: str, fix: Fix) -> tuple[str, set[str]]:
    """Return which node the pod gets when all changes are made, and what only it evicts."""
    fork = with_cluster_changes(simulation, fix.changes)
    steps = pod_steps(fix.changes)
    if steps:
        again = patched(written(simulation.pods[key]), steps)
        fork.remove(key)
        fork.add(again)
    victims = fork.schedule(LONG).victims
    of_others = {each.pod for each in victims if each.preemptor != key}
    return fork.pods[key].node_name, {each.pod for each in victims} - of_others


def evicted_by(fix: Fix) -> set[str]:
    """Return the victims of a fix that its changes do not delete themselves."""
    return set(fix.victims) - {each.name for each in fix.changes if each.action == "delete"}


def test_the_order_of_the_queue_survives_forks():
    """Pods that a fork has removed and added again keep their place in the simulation itself."""
    simulation = settled(0)
    before = [pod.key for pod in in_order(simulation)]
    fork = simulation.fork()
    fork.remove(before[0])
    fork.schedule(SECONDS)

    assert [pod.key for pod in in_order(simulation)] == before
