"""For which other pods a rejected attempt speaks."""

import pytest

from podium import app, config
from podium.cycle.outcome import Rejected
from podium.framework.queued_pod import QueuedPod
from podium.testing.builders import node, pod

FULL = {"cpu": "8"}


def class_of(name="web", **fields):
    """Try such a pod where no node has room; return the class that its attempt speaks for."""
    core = app.build(config.default(app.in_tree()))
    core.cluster.set_node(node("n1", cpu="1"))
    outcome = core.cycle(QueuedPod.of(pod(name, **fields))).run()
    assert isinstance(outcome, Rejected)
    return outcome.failed_as


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        pytest.param({}, {}, True, id="equal"),
        pytest.param({}, {"name": "api"}, True, id="other-name"),
        pytest.param({}, {"cpu": "9"}, False, id="other-request"),
        pytest.param({}, {"priority": 5}, False, id="other-priority"),
        pytest.param({"priority": -1}, {"priority": -2}, False, id="priorities-with-equal-hashes"),
        pytest.param({}, {"preemption_policy": "Never"}, False, id="other-preemption-policy"),
    ],
)
def test_pods_of_one_class_would_be_rejected_as_well(one, other, is_equal):
    mine, its = class_of(**FULL | one), class_of(**FULL | other)

    assert mine is not None
    assert (mine == its) is is_equal


def test_a_pod_with_a_nominated_node_speaks_for_no_other():
    assert class_of(**FULL, status={"nominated_node_name": "n1"}) is None
