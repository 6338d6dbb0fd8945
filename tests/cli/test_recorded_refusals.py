"""What a running scheduler did with a pod counts more than what is worked out again."""

import pytest

from podium.cli.recorded_refusals import heeding_records, missing_plugins
from podium.explain import explain
from podium.explain.values import PodVerdict
from podium.live import answer_values as values
from podium.simulation import Simulation
from tests.support import dumps

PLUGINS = {"NodeResourcesFit", "TaintToleration"}


@pytest.fixture(scope="module")
def simulation():
    return Simulation.from_objects([dumps.node("one"), dumps.pod("small")])


def records(state="unschedulable", *, message="", node="", attempts=1, **in_queue):
    queued = values.QueuedPodState(
        pod="default/small",
        queue=state,
        since="2026-11-18T14:00:00Z",
        attempts=attempts,
        profile="default-scheduler",
        **in_queue,
    )
    tried = values.Attempt(
        attempt=attempts, at="", profile="", nodes=3, feasible=0, message=message, node=node
    )
    return values.PodRecords(
        pod="default/small", state=state, queued=queued, attempts=(tried,) if attempts else ()
    )


def heeded(simulation, found, pod=None):
    explanation = explain(simulation, "small")
    assert explanation.state == "placeable"
    return heeding_records(explanation, pod or simulation.pods["default/small"], found, PLUGINS)


def failed(simulation, message):
    """Return the pod as a scheduler leaves it after an attempt that ended in an error."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulerError",
        "message": message,
    }
    pod = {**dumps.pod("small"), "status": {"conditions": [condition]}}
    return Simulation.from_objects([pod]).pods["default/small"]


def test_a_plugin_that_is_only_in_the_scheduler(simulation):
    for state in ("unschedulable", "backoff", "active"):
        found = heeded(simulation, records(state, message="0/3: spot.", rejected_by=("no_spot",)))

        assert found.state == "pending"
        assert found.sentence == "default/small is pending: no_spot rejected it (0/3: spot)."
        assert (found.node, found.message, found.scores) == ("", "0/3: spot.", None)
        assert "cannot be worked out here without no_spot" in found.notes[0]
        assert "--plugin" in found.notes[0]
        assert "worked out here: default/small would be placed on " in found.notes[1]


def test_a_rejection_that_nothing_has_ended(simulation):
    found = heeded(simulation, records(message="0/3: full.", rejected_by=("NodeResourcesFit",)))

    assert found.sentence == "default/small is pending: NodeResourcesFit rejected it (0/3: full)."
    assert len(found.notes) == 1


def test_a_pod_that_an_event_has_woken(simulation):
    for state in ("backoff", "active"):
        found = heeded(
            simulation, records(state, message="0/3.", rejected_by=("NodeResourcesFit",))
        )

        assert found.state == "placeable"


def test_an_attempt_that_failed(simulation):
    pod = failed(simulation, 'running "boom" filter plugin: x')
    found = heeded(simulation, records("backoff", message=""), pod)

    assert found.state == "failed"
    assert found.sentence == (
        "default/small is pending, because its last attempt failed: "
        'running "boom" filter plugin: x.'
    )


def test_a_rejection_after_a_node_was_chosen(simulation):
    found = heeded(simulation, records(node="one", message="", rejected_by=("Coscheduling",)))

    assert found.sentence == "default/small is pending: Coscheduling rejected it."


def test_a_pod_that_is_held_back(simulation):
    found = heeded(simulation, records("gated", attempts=0, gated_by="Coscheduling"))

    assert found.state == "gated"
    assert found.sentence == "default/small is held back by Coscheduling and is not tried."


def test_a_pod_that_was_not_tried(simulation):
    assert heeded(simulation, records("active", attempts=0)).state == "placeable"
    assert heeded(simulation, None).state == "placeable"


def test_pods_on_a_node_that_another_plugin_rejects(simulation):
    queued = records(rejected_by=("no_spot", "NodeResourcesFit")).queued
    queue = values.QueueRecords(
        active=0, backoff=0, unschedulable=1, gated=0, in_flight=0, pods=(queued,)
    )
    profiles = simulation.core.profiles
    fits, too_large = (PodVerdict("default/small", each, "") for each in (True, False))

    (note,) = missing_plugins(queue, profiles, [fits])

    assert note.startswith("the scheduler's plugin no_spot rejects 1 of the pods that would fit")
    assert missing_plugins(queue, profiles, [too_large]) == []
