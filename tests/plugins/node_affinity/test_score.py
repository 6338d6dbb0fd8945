import numpy as np
import pytest

from podium import framework as fwk
from podium.testing.builders import node, pod
from tests.support.node_affinity import affinity, named, plugin, term

NODES = (node("a", labels="disk=ssd zone=1"), node("b", labels="disk=hdd zone=1"), node("c"))


def scores(subject, profile):
    nodes = fwk.Rows.of(*NODES)
    state = fwk.CycleState()
    assert profile.pre_score(state, subject, nodes) is None
    raw = profile.score_all(state, subject, nodes)
    assert raw.dtype == np.int64
    assert raw.tolist() == [profile.score(state, subject, each) for each in nodes]
    return profile.normalize_score(state, subject, raw, nodes).tolist()


@pytest.mark.parametrize(
    ("preferred", "expected"),
    [
        pytest.param([(5, term("disk In ssd"))], [100, 0, 0], id="one-term"),
        pytest.param(
            [(2, term("disk In ssd")), (1, term("zone Exists"))], [100, 33, 0], id="weights-add-up"
        ),
        pytest.param([(7, term("disk In tape"))], [0, 0, 0], id="nobody-matches"),
        pytest.param([(1, term("zone Exists"))], [100, 100, 0], id="equal"),
        pytest.param([(1, named("c"))], [0, 0, 100], id="by-name"),
        pytest.param([(1, term())], [0, 0, 0], id="empty-preference-is-nothing"),
        pytest.param([(0, term("disk Like x"))], [0, 0, 0], id="without-weight-it-is-not-read"),
    ],
)
def test_score(preferred, expected):
    assert scores(pod(affinity=affinity(None, preferred)), plugin()) == expected


def test_preferences_of_the_profile_count_as_well():
    profile = plugin(None, [(1, term("zone Exists"))])
    subject = pod(affinity=affinity(None, [(3, term("disk In hdd"))]))

    assert scores(subject, profile) == [25, 100, 0]
    assert scores(pod(), profile) == [100, 100, 0]


def test_preferences_of_the_profile_that_ask_nothing_still_score():
    assert scores(pod(), plugin(None, [(1, term())])) == [0, 0, 0]


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(pod(), id="no-affinity"),
        pytest.param(pod(affinity=affinity([term("disk Exists")])), id="required-only"),
        pytest.param(pod(node_selector="disk=ssd"), id="selector"),
    ],
)
def test_without_preferences_there_is_nothing_to_score(subject):
    answer = plugin().pre_score(fwk.CycleState(), subject, fwk.Rows.of(*NODES))

    assert answer == fwk.skip()


def test_one_unreadable_preference_fails_the_attempt():
    preferred = [(1, term("disk In ssd")), (1, term("disk Like x"))]
    subject = pod(affinity=affinity(None, preferred))

    status = plugin().pre_score(fwk.CycleState(), subject, fwk.Rows.of(*NODES))

    assert status.code is fwk.Code.ERROR
    assert status.message.startswith('[1].matchExpressions[0].operator: Unsupported value: "Like"')


def test_score_works_in_a_profile_without_pre_score():
    subject = pod(affinity=affinity(None, [(5, term("disk In ssd"))]))

    raw = plugin().score_all(fwk.CycleState(), subject, fwk.Rows.of(*NODES))

    assert raw.tolist() == [5, 0, 0]
