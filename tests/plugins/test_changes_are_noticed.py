"""The next equal pod sees what changed on a node, by the aspects that each plugin says it reads."""

import msgspec
import pytest

from podium import app
from podium.config import default
from podium.cycle.outcome import Placed
from podium.framework.queued_pod import QueuedPod
from podium.testing.builders import node, pod

RESTART = "RestartAllContainersOnContainerExits"
NEEDY = {"containers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]}
PREFERRED = {"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}
PREFERS_X = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERRED]}}


class Cluster:
    """A core with a node; ``attempt`` tells where a replica of one pod would go."""

    def __init__(self, *nodes):
        self.core = app.build(default(app.in_tree()))
        self.state = self.core.cluster
        for each in nodes:
            self.state.set_node(each)
        self.attempts = 0

    def attempt(self, template):
        self.attempts += 1
        name = f"{template.name}-{self.attempts}"
        meta = msgspec.structs.replace(template.metadata, name=name, uid=name)
        outcome = self.core.cycle(QueuedPod.of(msgspec.structs.replace(template, metadata=meta)))
        outcome = outcome.run()
        if not isinstance(outcome, Placed):
            return outcome.record.message
        self.state.forget(name)
        return outcome.node_name


@pytest.mark.parametrize(
    ("spec", "before", "after", "reason"),
    [
        pytest.param(
            {}, {"unschedulable": True}, {}, "1 node(s) were unschedulable", id="uncordoned"
        ),
        pytest.param(
            {"node_selector": "disk=ssd"},
            {},
            {"labels": "disk=ssd"},
            "1 node(s) didn't match Pod's node affinity/selector",
            id="labelled",
        ),
        pytest.param(
            NEEDY,
            {},
            {"declared_features": [RESTART]},
            "1 node(s) didn't match Pod's required features",
            id="features-declared",
        ),
    ],
)
def test_a_node_that_was_refused_and_fits_now(spec, before, after, reason):
    cluster = Cluster(node("a", **before))
    assert reason in cluster.attempt(pod(**spec))

    cluster.state.set_node(node("a", **after))
    assert cluster.attempt(pod(**spec)) == "a"

    cluster.state.set_node(node("a", **before))
    assert reason in cluster.attempt(pod(**spec))


def test_a_port_that_is_taken_and_free_again():
    cluster = Cluster(node("a"))
    wanted, holder = pod("web", host_ports=(80,)), pod("holder", node="a", host_ports=(80,))
    assert cluster.attempt(wanted) == "a"

    cluster.state.add_pod(holder)
    assert "1 node(s) didn't have free ports" in cluster.attempt(wanted)

    cluster.state.remove_pod(holder)
    assert cluster.attempt(wanted) == "a"


def test_a_preferred_label_that_comes_and_goes():
    cluster = Cluster(node("a"), node("b", cpu="2"))
    choosy = pod("web", affinity=PREFERS_X)
    assert cluster.attempt(choosy) == "a"  # it has more room

    cluster.state.set_node(node("b", cpu="2", labels="x=1"))
    assert cluster.attempt(choosy) == "b"

    cluster.state.set_node(node("b", cpu="2"))
    assert cluster.attempt(choosy) == "a"
