import pytest

from podium import framework as fwk
from podium.plugins.node_unschedulable import REJECTED, NodeUnschedulable
from podium.testing.builders import node, pod

PLUGIN = NodeUnschedulable(fwk.NoArgs(), None)
KEY = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("tolerates", "unschedulable", "expected"),
    [
        pytest.param("", False, fwk.SUCCESS, id="schedulable"),
        pytest.param("", True, REJECTED, id="cordoned"),
        pytest.param(f"{KEY}:NoSchedule", True, fwk.SUCCESS, id="tolerated"),
        pytest.param(f"{KEY}:", True, fwk.SUCCESS, id="any-effect"),
        pytest.param(":", True, fwk.SUCCESS, id="everything"),
        pytest.param(f"{KEY}=:NoSchedule", True, fwk.SUCCESS, id="equal-to-no-value"),
        pytest.param(f"{KEY}=yes:NoSchedule", True, REJECTED, id="equal-to-a-value"),
        pytest.param(f"{KEY}:NoExecute", True, REJECTED, id="other-effect"),
        pytest.param("gpu:", True, REJECTED, id="other-key"),
    ],
)
def test_filter(tolerates, unschedulable, expected):
    subject = pod(tolerates=tolerates)
    nodes = fwk.Rows.of(node("a", unschedulable=unschedulable), node("b"))

    verdicts = PLUGIN.filter_all(fwk.CycleState(), subject, nodes)

    assert list(verdicts) == [expected, fwk.SUCCESS]
    assert [PLUGIN.filter(fwk.CycleState(), subject, each) for each in nodes] == list(verdicts)


def test_rejection_is_final_and_says_why():
    assert fwk.Status.unresolvable("node(s) were unschedulable") == REJECTED


def test_the_taint_alone_does_not_reject():
    nodes = fwk.Rows.of(node(taints=f"{KEY}:NoSchedule"))

    assert list(PLUGIN.filter_all(fwk.CycleState(), pod(), nodes)) == [fwk.SUCCESS]


def test_signature_is_whether_the_pod_tolerates():
    assert PLUGIN.sign(pod(tolerates="gpu:")) == PLUGIN.sign(pod())
    assert PLUGIN.sign(pod(tolerates=":")) != PLUGIN.sign(pod())
    assert PLUGIN.depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.TAINTS)


CORDONED, SCHEDULABLE = node(unschedulable=True), node()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, SCHEDULABLE, True, id="new-node"),
        pytest.param(None, CORDONED, False, id="new-but-cordoned"),
        pytest.param(CORDONED, SCHEDULABLE, True, id="uncordoned"),
        pytest.param(SCHEDULABLE, SCHEDULABLE, False, id="was-schedulable-before"),
        pytest.param(CORDONED, CORDONED, False, id="still-cordoned"),
    ],
)
def test_node_hint(old, new, expected):
    on_node, _ = PLUGIN.events_to_register()

    assert on_node.event == fwk.on("Node", "add|taint").event
    assert on_node.hint(pod(), old, new) is expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(pod("waiting", tolerates=f"{KEY}:"), True, id="now-tolerates"),
        pytest.param(pod("waiting", tolerates="gpu:"), False, id="tolerates-something-else"),
        pytest.param(pod("other", tolerates=":"), False, id="other-pod"),
    ],
)
def test_pod_hint(new, expected):
    _, on_pod = PLUGIN.events_to_register()

    assert on_pod.event == fwk.on("TargetPod", "toleration").event
    assert on_pod.hint(pod("waiting"), pod("waiting"), new) is expected
