import pytest

from podium import framework as fwk
from podium.testing.builders import node, pod
from tests.support.node_affinity import affinity, plugin, term

SSD, HDD, BARE = node(labels="disk=ssd"), node(labels="disk=hdd"), node()
UNREADABLE = term("disk Like ssd")


def hint(profile):
    (registration,) = profile.events_to_register()
    assert registration.event == fwk.on("Node", "add|label").event
    return registration.hint


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, SSD, True, id="matching-node-joins"),
        pytest.param(None, HDD, False, id="other-node-joins"),
        pytest.param(BARE, SSD, True, id="begins-to-match"),
        pytest.param(SSD, SSD, False, id="matched-before"),
        pytest.param(SSD, BARE, False, id="ends-to-match"),
        pytest.param(HDD, BARE, False, id="never-matched"),
    ],
)
def test_hint(old, new, expected):
    assert hint(plugin())(pod(node_selector="disk=ssd"), old, new) is expected


@pytest.mark.parametrize(
    ("subject", "old", "new", "expected"),
    [
        pytest.param(pod(), None, SSD, True, id="matching-node-joins"),
        pytest.param(pod(), None, HDD, False, id="other-node-joins"),
        pytest.param(
            pod(node_selector="disk=hdd"), BARE, HDD, False, id="only-the-pods-own-matches"
        ),
        pytest.param(pod(), BARE, SSD, False, id="pods-own-matched-before"),
        pytest.param(pod(node_selector="disk=ssd"), BARE, SSD, True, id="both-begin-to-match"),
    ],
)
def test_hint_with_affinity_of_the_profile(subject, old, new, expected):
    assert hint(plugin([term("disk In ssd")]))(subject, old, new) is expected


@pytest.mark.parametrize(
    ("spec", "old", "new", "expected"),
    [
        pytest.param({"affinity": affinity([UNREADABLE])}, BARE, SSD, True, id="worth-a-try"),
        pytest.param(
            {"affinity": affinity([UNREADABLE]), "node_selector": "disk=hdd"},
            BARE,
            SSD,
            False,
            id="selector-does-not-match",
        ),
        pytest.param(
            {"affinity": affinity([UNREADABLE, term("disk In ssd")])},
            SSD,
            SSD,
            False,
            id="another-term-matched-before",
        ),
        pytest.param(
            {"affinity": affinity([UNREADABLE, term("disk In ssd")])},
            BARE,
            SSD,
            True,
            id="another-term-begins-to-match",
        ),
    ],
)
def test_hint_with_terms_that_cannot_be_read(spec, old, new, expected):
    assert hint(plugin())(pod(**spec), old, new) is expected
