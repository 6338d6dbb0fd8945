import pytest

from podium.errors import InvalidSelector
from podium.plugins.inter_pod_affinity.hints import node_may_help, pod_may_help
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support.inter_pod_affinity import affinity, term
from tests.support.releases import plugin_of

WANTS_WEB = pod("me", affinity=affinity(near=[term("app=web")]))
WANTS_BOTH = pod("me", affinity=affinity(near=[term("app=web"), term("tier=front", "host")]))
SHUNS_WEB = pod("me", affinity=affinity(apart=[term("app=web")]))
SHUNS_BOTH = pod("me", affinity=affinity(apart=[term("app=web"), term("tier=front", "host")]))
PLAIN = pod("me", labels="app=me")
WEB = pod("web", node="a", labels="app=web")
DB = pod("web", node="a", labels="app=db")
BOTH = pod("web", node="a", labels="app=web tier=front")
WEB_IN_FRONT = pod("me", labels="app=web tier=front")
PLAIN_WEB = pod("me", labels="app=web")
HOSTILE_TO_BOTH = pod(
    "x", node="a", affinity=affinity(apart=[term("app=web"), term("tier=front", "host")])
)
HOSTILE = pod("x", node="a", affinity=affinity(apart=[term("app=me")]))


def selecting(spaces: str):
    return pod("me", affinity=affinity(near=[term("app=web", namespaceSelector=spaces)]))


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(WANTS_WEB, None, WEB, True, id="wanted-comes"),
        pytest.param(WANTS_WEB, None, DB, False, id="another-comes"),
        pytest.param(WANTS_WEB, None, pod(labels="app=web"), False, id="unplaced"),
        pytest.param(
            WANTS_WEB,
            None,
            pod(labels="app=web", status={"nominated_node_name": "a"}),
            True,
            id="nominated",
        ),
        pytest.param(WANTS_BOTH, None, WEB, False, id="must-match-all-terms"),
        pytest.param(SHUNS_WEB, None, WEB, False, id="forbidden-comes"),
        pytest.param(PLAIN, None, WEB, False, id="no-terms-never-match"),
        pytest.param(WANTS_WEB, DB, WEB, True, id="becomes-wanted"),
        pytest.param(WANTS_WEB, WEB, WEB, False, id="was-wanted-before"),
        pytest.param(WANTS_WEB, WEB, DB, False, id="wanted-no-longer"),
        pytest.param(SHUNS_WEB, WEB, DB, True, id="forbidden-no-longer"),
        pytest.param(SHUNS_WEB, DB, WEB, False, id="becomes-forbidden"),
        pytest.param(SHUNS_BOTH, WEB, DB, True, id="was-forbidden-by-one-term"),
        pytest.param(SHUNS_BOTH, BOTH, WEB, False, id="is-still-forbidden-by-one-term"),
        pytest.param(PLAIN, PLAIN, PLAIN, True, id="its-own-labels"),
        pytest.param(SHUNS_WEB, WEB, None, True, id="forbidden-goes"),
        pytest.param(SHUNS_WEB, DB, None, False, id="another-goes"),
        pytest.param(SHUNS_WEB, pod(labels="app=web"), None, False, id="unplaced-goes"),
        pytest.param(SHUNS_BOTH, WEB, None, True, id="goes-that-one-term-forbids"),
        pytest.param(PLAIN, HOSTILE, None, True, id="hostile-goes"),
        pytest.param(SHUNS_WEB, HOSTILE, None, False, id="hostile-to-others-goes"),
        pytest.param(WANTS_WEB, WEB, None, False, id="wanted-goes"),
        pytest.param(selecting(""), None, WEB, True, id="all-namespaces"),
        pytest.param(selecting("team=a"), None, WEB, False, id="selected-namespaces-never-match"),
        pytest.param(selecting("team!=a"), None, WEB, True, id="excluded-namespaces-always-match"),
    ],
)
def test_pod_events(waiting, old, new, expected):
    assert pod_may_help(waiting, old, new) is expected


@pytest.mark.parametrize(
    ("waiting", "old", "new", "in_1_36", "in_1_37"),
    [
        pytest.param(SHUNS_BOTH, WEB, DB, False, True, id="one-of-two-terms-matched"),
        pytest.param(SHUNS_BOTH, BOTH, WEB, True, False, id="one-of-two-terms-still-matches"),
        pytest.param(SHUNS_BOTH, BOTH, DB, True, True, id="both-terms-matched"),
        pytest.param(SHUNS_BOTH, WEB, None, False, True, id="goes-that-one-term-forbids"),
        pytest.param(WEB_IN_FRONT, HOSTILE_TO_BOTH, None, True, True, id="hostile-goes"),
        pytest.param(PLAIN_WEB, HOSTILE_TO_BOTH, None, False, True, id="half-hostile-goes"),
        pytest.param(WANTS_BOTH, None, WEB, False, False, id="affinity-takes-all-terms"),
    ],
)
def test_which_terms_of_an_anti_affinity_count(waiting, old, new, in_1_36, in_1_37):
    hints = [plugin_of("InterPodAffinity", release).pod_hint for release in (V1_36, V1_37)]

    assert [hint(waiting, old, new) for hint in hints] == [in_1_36, in_1_37]


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(WANTS_WEB, None, "zone=a", True, id="added-with-the-key"),
        pytest.param(WANTS_WEB, None, "rack=1", False, id="added-without-the-key"),
        pytest.param(WANTS_WEB, "", "zone=a", True, id="gains-the-key"),
        pytest.param(WANTS_WEB, "zone=a", "zone=b", True, id="moves"),
        pytest.param(WANTS_WEB, "zone=a", "", False, id="loses-the-key"),
        pytest.param(WANTS_WEB, "zone=a", "zone=a rack=1", False, id="stays"),
        pytest.param(WANTS_BOTH, "zone=a", "zone=a host=x", True, id="any-term"),
        pytest.param(SHUNS_WEB, None, "rack=1", True, id="shunning-any-new-node"),
        pytest.param(SHUNS_WEB, "zone=a", "", True, id="shunning-loses-the-key"),
        pytest.param(SHUNS_WEB, "zone=a", "zone=b", True, id="shunning-moves"),
        pytest.param(SHUNS_WEB, "", "zone=a", False, id="shunning-gains-the-key"),
        pytest.param(PLAIN, None, "zone=a", False, id="without-terms"),
    ],
)
def test_node_events(waiting, old, new, expected):
    before = None if old is None else node(labels=old)

    assert node_may_help(waiting, before, node(labels=new)) is expected


def test_unreadable_terms_fail_the_hint():
    broken = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a"}]}}

    with pytest.raises(InvalidSelector):
        pod_may_help(pod("me", affinity=affinity(near=[broken])), None, WEB)
    preferring = pod("me", affinity=affinity(near=[term("app=web")], likes=[(1, broken)]))
    assert pod_may_help(preferring, None, WEB)
