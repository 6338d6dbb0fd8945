import msgspec
import pytest

from podium import framework as fwk
from podium.legacy.plugins.node_label import REJECTED, NodeLabel
from podium.testing.builders import node, pod


def plugin(**args):
    return NodeLabel(NodeLabel.Args(**args), None)


def verdicts(subject, *labels):
    """What both forms say of nodes with these labels."""
    nodes = fwk.Rows.of(*(node(f"n{number}", labels=text) for number, text in enumerate(labels)))
    together = list(subject.filter_all(fwk.CycleState(), pod(), nodes))
    assert together == [subject.filter(fwk.CycleState(), pod(), each) for each in nodes]
    return [status.ok for status in together]


def scores(subject, *labels):
    nodes = fwk.Rows.of(*(node(f"n{number}", labels=text) for number, text in enumerate(labels)))
    together = subject.score_all(fwk.CycleState(), pod(), nodes).tolist()
    assert together == [subject.score(fwk.CycleState(), pod(), each) for each in nodes]
    return together


@pytest.mark.parametrize(
    ("present", "absent", "labels", "expected"),
    [
        pytest.param((), (), "", True, id="nothing-wanted"),
        pytest.param(("zone",), (), "zone=a", True, id="there"),
        pytest.param(("zone",), (), "zone=", True, id="any-value-does"),
        pytest.param(("zone",), (), "rack=a", False, id="not-there"),
        pytest.param(("zone", "rack"), (), "zone=a", False, id="one-of-two"),
        pytest.param((), ("retiring",), "zone=a", True, id="absent"),
        pytest.param((), ("retiring",), "retiring=2026", False, id="not-absent"),
        pytest.param(("zone",), ("retiring",), "zone=a retiring=x", False, id="both"),
    ],
)
def test_filter(present, absent, labels, expected):
    subject = plugin(present_labels=present, absent_labels=absent)

    assert verdicts(subject, labels) == [expected]


def test_rejection_is_final_and_says_why():
    assert REJECTED.code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert REJECTED.message == "node(s) didn't have the requested labels"


def test_score_is_the_part_of_the_preferences_that_is_met():
    subject = plugin(
        present_labels_preference=("zone", "ssd"), absent_labels_preference=("retiring",)
    )

    assert scores(subject, "zone=a ssd=y", "zone=a", "", "retiring=x") == [100, 66, 33, 0]


def test_without_preferences_every_node_gets_0():
    assert scores(plugin(present_labels=("zone",)), "zone=a", "") == [0, 0]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, "zone=a", True, id="node-joins"),
        pytest.param(None, "", False, id="unlabelled-node-joins"),
        pytest.param("", "zone=a", True, id="label-is-put-on"),
        pytest.param("zone=a retiring=x", "zone=a", True, id="label-is-taken-off"),
        pytest.param("zone=a", "zone=b", False, id="was-good-before"),
        pytest.param("zone=a", "", False, id="gets-worse"),
    ],
)
def test_hint(old, new, expected):
    subject = plugin(present_labels=("zone",), absent_labels=("retiring",))
    [registration] = subject.events_to_register()
    before = None if old is None else node(labels=old)

    assert registration.event == fwk.on("Node", "add|label").event
    assert registration.hint(pod(), before, node(labels=new)) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"presentLabels": ["a"], "absentLabels": ["b"]}, [], id="good"),
        pytest.param({"presentLabels": ["a"], "absentLabelsPreference": ["a"]}, [], id="other"),
        pytest.param(
            {"presentLabels": ["a", "b"], "absentLabels": ["c", "b"]},
            [("presentLabels[1]", 'Invalid value: "b": conflict with absentLabels[1]')],
            id="present-and-absent",
        ),
        pytest.param(
            {"presentLabelsPreference": ["a"], "absentLabelsPreference": ["a"]},
            [
                (
                    "presentLabelsPreference[0]",
                    'Invalid value: "a": conflict with absentLabelsPreference[0]',
                )
            ],
            id="preferences",
        ),
    ],
)
def test_args(args, expected):
    problems = msgspec.convert(args, NodeLabel.Args).validate()

    assert [(problem.path, problem.message) for problem in problems] == expected


def test_all_pods_are_equal_to_it():
    subject = plugin(present_labels=("zone",))

    assert subject.sign(pod("a", labels="a=b")) == subject.sign(pod("b", cpu=1))
