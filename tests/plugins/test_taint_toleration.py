import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import Toleration
from podium.errors import StateNotFound
from podium.plugins.taint_toleration import REJECTED, TaintToleration
from podium.testing.builders import node, pod

PLUGIN = TaintToleration(fwk.NoArgs(), None)


@pytest.mark.parametrize(
    ("tolerates", "taints", "expected"),
    [
        pytest.param("", "", fwk.SUCCESS, id="untainted-node"),
        pytest.param("", "gpu=a100:NoSchedule", REJECTED, id="no-toleration"),
        pytest.param("", "gpu=a100:NoExecute", REJECTED, id="no-execute-blocks-as-well"),
        pytest.param("", "spot:PreferNoSchedule", fwk.SUCCESS, id="soft-taint-never-rejects"),
        pytest.param("gpu=a100:NoSchedule", "gpu=a100:NoSchedule", fwk.SUCCESS, id="tolerated"),
        pytest.param("gpu=h100:NoSchedule", "gpu=a100:NoSchedule", REJECTED, id="other-value"),
        pytest.param("gpu=a100:NoExecute", "gpu=a100:NoSchedule", REJECTED, id="other-effect"),
        pytest.param("gpu:", "gpu:NoSchedule gpu:NoExecute", fwk.SUCCESS, id="any-effect"),
        pytest.param("gpu:", "gpu:NoSchedule spot:NoSchedule", REJECTED, id="one-of-two"),
        pytest.param(":", "gpu:NoSchedule spot:NoExecute", fwk.SUCCESS, id="everything"),
    ],
)
def test_filter(tolerates, taints, expected):
    nodes = fwk.Rows.of(node(taints=taints))

    verdicts = PLUGIN.filter_all(fwk.CycleState(), pod(tolerates=tolerates), nodes)

    assert list(verdicts) == [expected]


def test_rejection_is_final_and_says_why():
    assert REJECTED.code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert REJECTED.message == "node(s) had untolerated taint(s)"


def test_seconds_of_a_toleration_do_not_matter():
    patient = Toleration("gpu", "Exists", effect="NoExecute", toleration_seconds=0)
    nodes = fwk.Rows.of(node(taints="gpu:NoExecute"))

    verdicts = PLUGIN.filter_all(fwk.CycleState(), pod(tolerations=(patient,)), nodes)

    assert list(verdicts) == [fwk.SUCCESS]


@pytest.mark.parametrize(
    ("tolerates", "taints", "expected"),
    [
        pytest.param("", ("", ""), [100, 100], id="no-taints-is-the-top"),
        pytest.param("", ("a:PreferNoSchedule", ""), [0, 100], id="soft-taint-repels"),
        pytest.param("", ("a:NoSchedule", ""), [100, 100], id="hard-taint-does-not-count"),
        pytest.param("a:", ("a:PreferNoSchedule", ""), [100, 100], id="tolerated"),
        pytest.param(
            "a:NoSchedule", ("a:PreferNoSchedule", ""), [0, 100], id="hard-toleration-is-no-help"
        ),
        pytest.param(
            "a:PreferNoSchedule", ("a:PreferNoSchedule", ""), [100, 100], id="soft-toleration"
        ),
        pytest.param(
            "",
            ("a:PreferNoSchedule", "a:PreferNoSchedule b:PreferNoSchedule c:PreferNoSchedule"),
            [67, 0],
            id="fewer-is-better-rounded-up",
        ),
        pytest.param(
            "",
            ("a:PreferNoSchedule", "a:PreferNoSchedule a:PreferNoSchedule"),
            [50, 0],
            id="twice-counts-twice",
        ),
    ],
)
def test_score(tolerates, taints, expected):
    subject = pod(tolerates=tolerates)
    nodes = fwk.Rows.of(*(node(f"n{i}", taints=text) for i, text in enumerate(taints)))
    state = fwk.CycleState()

    PLUGIN.pre_score(state, subject, nodes)
    scores = PLUGIN.score_all(state, subject, nodes)

    assert PLUGIN.normalize_score(state, subject, scores, nodes).tolist() == expected


def test_score_needs_pre_score():
    nodes = fwk.Rows.of(node())

    with pytest.raises(StateNotFound):
        PLUGIN.score(fwk.CycleState(), pod(), nodes.at(0))
    with pytest.raises(StateNotFound):
        PLUGIN.score_all(fwk.CycleState(), pod(), nodes)


def test_signature_is_the_tolerations():
    assert PLUGIN.sign(pod(tolerates="a:", labels="app=x")) == PLUGIN.sign(pod(tolerates="a:"))
    assert PLUGIN.sign(pod(tolerates="a:")) != PLUGIN.sign(pod(tolerates="b:"))
    assert PLUGIN.depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.TAINTS)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, "", True, id="new-node"),
        pytest.param(None, "gpu:NoSchedule", True, id="new-node-with-tolerated-taint"),
        pytest.param(None, "spot:NoSchedule", False, id="new-node-with-another-taint"),
        pytest.param("spot:NoSchedule", "", True, id="taint-removed"),
        pytest.param("spot:NoSchedule", "spot:PreferNoSchedule", True, id="taint-softened"),
        pytest.param("spot:NoSchedule", "spot:NoExecute", False, id="still-tainted"),
        pytest.param("gpu:NoSchedule", "", False, id="was-tolerable-before"),
    ],
)
def test_node_hint(old, new, expected):
    before = None if old is None else node(taints=old)

    hint = PLUGIN.node_became_tolerable

    assert hint(pod(tolerates="gpu:"), before, node(taints=new)) is expected


def test_registered_events():
    on_node, on_pod = PLUGIN.events_to_register()

    assert on_node.event == fwk.on("Node", "add|taint").event
    assert on_pod.event == fwk.on("TargetPod", "toleration").event
    waiting, other = pod("waiting"), pod("other")
    assert on_pod.hint(waiting, waiting, waiting)
    assert not on_pod.hint(waiting, other, other)


KEYS = st.sampled_from(["a", "b=1", "b=2"])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
TAINTS = st.lists(st.builds("{}:{}".format, KEYS, EFFECTS), max_size=3).map(" ".join)
TOLERATIONS = st.lists(
    st.builds("{}:{}".format, KEYS | st.just(""), EFFECTS | st.just("")), max_size=3
).map(" ".join)


@given(tolerates=TOLERATIONS, cluster=st.lists(TAINTS, min_size=1, max_size=5))
def test_both_forms_agree(tolerates, cluster):
    subject = pod(tolerates=tolerates)
    nodes = fwk.Rows.of(*(node(f"n{i}", taints=taints) for i, taints in enumerate(cluster)))
    state = fwk.CycleState()
    PLUGIN.pre_score(state, subject, nodes)

    scores = PLUGIN.score_all(state, subject, nodes)

    assert list(PLUGIN.filter_all(state, subject, nodes)) == [
        PLUGIN.filter(state, subject, each) for each in nodes
    ]
    assert scores.tolist() == [PLUGIN.score(state, subject, each) for each in nodes]
    assert scores.dtype == np.int64
