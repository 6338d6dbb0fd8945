import pytest

from podium import framework as fwk
from podium.plugins.node_name import REJECTED, NodeName
from podium.testing.builders import node, pod

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


def test_rejection_is_final_and_says_why():
    assert fwk.Status.unresolvable("node(s) didn't match the requested node name") == REJECTED


def test_signature_is_the_name():
    assert PLUGIN.sign(pod("x")) == PLUGIN.sign(pod("y"))
    assert PLUGIN.sign(pod(node="a")) != PLUGIN.sign(pod())
    assert PLUGIN.depends_on(pod()) == fwk.Dependencies()


def test_every_new_node_may_be_the_one():
    (registration,) = PLUGIN.events_to_register()

    assert registration == fwk.on("Node", "add")
