import pytest

from podium import app, config
from podium import framework as fwk
from podium.framework.queued_pod import QueuedPod
from podium.plugins.node_name import REJECTED, NodeName
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support.releases import plugin_of, registry_of

PLUGIN = NodeName(fwk.NoArgs(), None)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param("", [fwk.SUCCESS, fwk.SUCCESS], id="no-name"),
        pytest.param("a", [fwk.SUCCESS, REJECTED], id="one-of-them"),
        pytest.param("c", [REJECTED, REJECTED], id="none-of-them"),
    ],
)
def test_filter(wanted, expected):
    subject = pod(node=wanted)
    nodes = fwk.Rows.of(node("a"), node("b"))

    assert list(PLUGIN.filter_all(fwk.CycleState(), subject, nodes)) == expected
    assert [PLUGIN.filter(fwk.CycleState(), subject, each) for each in nodes] == expected


@pytest.mark.parametrize("named", ["", "a", "unknown"])
def test_pre_filter_narrows_since_1_37(named):
    narrowing = plugin_of("NodeName", V1_37)
    answer = narrowing.pre_filter(fwk.CycleState(), pod(node=named), fwk.Rows.of(node("a")))

    assert answer == (fwk.PreFilterResult(frozenset({named})) if named else None)
    assert not isinstance(plugin_of("NodeName", V1_36), fwk.PreFilterPlugin)


@pytest.mark.parametrize("name", ["NodeUnschedulable", "TaintToleration"])
def test_pre_filters_that_let_every_pod_pass(name):
    """They are there since 1.37: a profile may list them."""
    passing = plugin_of(name, V1_37)

    assert passing.pre_filter(fwk.CycleState(), pod(), fwk.Rows.of(node("a"))) is None
    assert not isinstance(plugin_of(name, V1_36), fwk.PreFilterPlugin)


OTHER_NAME = "node(s) didn't match the requested node name"
LEFT_OUT = "node(s) didn't satisfy plugin(s) [NodeName]"


@pytest.mark.parametrize(("release", "reason"), [(V1_36, OTHER_NAME), (V1_37, LEFT_OUT)], ids=str)
def test_a_pod_waits_for_the_node_that_it_names(release, reason):
    registry = registry_of(release)
    core = app.build(config.default(registry), registry=registry)
    core.cluster.set_node(node("a"))
    subject = QueuedPod.of(pod(node="b"))
    rejected = core.cycle(subject).run()

    assert rejected.message.startswith(f"0/1 nodes are available: 1 {reason}.")
    assert rejected.diagnosis.unschedulable_plugins == {"NodeName"}
    core.cluster.set_node(node("b"))
    assert core.cycle(subject).run().node.name == "b"


def test_rejection_is_final_and_says_why():
    assert fwk.Status.unresolvable("node(s) didn't match the requested node name") == REJECTED


def test_signature_is_the_name():
    assert PLUGIN.sign(pod("x")) == PLUGIN.sign(pod("y"))
    assert PLUGIN.sign(pod(node="a")) != PLUGIN.sign(pod())
    assert PLUGIN.depends_on(pod()) == fwk.Dependencies()


def test_every_new_node_may_be_the_one():
    (registration,) = PLUGIN.events_to_register()

    assert registration == fwk.on("Node", "add")
