import numpy as np
import pytest

from podium import framework as fwk
from podium.plugins.inter_pod_affinity import InterPodAffinity
from podium.plugins.inter_pod_affinity.scoring import stretched
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support.inter_pod_affinity import (
    CROWDED,
    FAR,
    OPPOSED,
    Subject,
    affinity,
    namespace,
    term,
)

NODES = [
    node("a1", labels="zone=a host=a1"),
    node("a2", labels="zone=a host=a2"),
    node("b1", labels="zone=b host=b1"),
    node("bare"),
]
WEB = pod("web", node="a1", labels="app=web")


def refused(why: str, names: str) -> dict[str, str]:
    """All nodes pass but those named, which are refused for this reason."""
    return {each.name: why if each.name in names.split() else "" for each in NODES}


@pytest.mark.parametrize(
    ("placed", "near", "expected"),
    [
        pytest.param([WEB], [term("app=web")], refused(FAR, "b1 bare"), id="same-zone"),
        pytest.param([WEB], [term("app=web", "host")], refused(FAR, "a2 b1 bare"), id="same-host"),
        pytest.param([], [term("app=web")], refused(FAR, "a1 a2 b1 bare"), id="nobody-there"),
        pytest.param([], [term("app=me")], refused(FAR, "bare"), id="first-of-its-kind"),
        pytest.param(
            [pod("x", node="bare", labels="app=me")],
            [term("app=me")],
            refused(FAR, "bare"),
            id="one-outside-all-domains-does-not-count",
        ),
        pytest.param(
            [pod("x", node="gone", labels="app=me")],
            [term("app=me")],
            refused(FAR, "bare"),
            id="one-on-a-node-that-is-gone-does-not-count",
        ),
        pytest.param(
            [pod("x", node="b1", labels="app=me", deletion_timestamp="2026-01-01T00:00:00Z")],
            [term("app=me")],
            refused(FAR, "a1 a2 bare"),
            id="terminating-pods-count",
        ),
        pytest.param(
            [pod("x", node="b1", labels="app=me", namespace="other")],
            [term("app=me")],
            refused(FAR, "bare"),
            id="other-namespaces-do-not-count",
        ),
        pytest.param(
            [WEB, pod("x", node="b1", labels="app=web tier=front")],
            [term("app=web"), term("tier=front", "host")],
            refused(FAR, "a1 a2 bare"),
            id="a-pod-must-match-all-terms",
        ),
        pytest.param(
            [pod(n, node=n, labels="app=web tier=front") for n in ("a1", "b1")],
            [term("app=web"), term("tier=front", "host")],
            refused(FAR, "a2 bare"),
            id="each-term-in-its-own-domain",
        ),
        pytest.param(
            [], [term(None)], refused(FAR, "a1 a2 b1 bare"), id="no-selector-matches-nobody"
        ),
        pytest.param([WEB], [term("")], refused(FAR, "b1 bare"), id="empty-selector-all-pods"),
    ],
)
def test_required_affinity(placed, near, expected):
    subject = Subject(*NODES, *placed)

    assert subject.filter(pod(labels="app=me", affinity=affinity(near=near))) == expected


@pytest.mark.parametrize(
    ("placed", "apart", "expected"),
    [
        pytest.param([WEB], [term("app=web")], refused(CROWDED, "a1 a2"), id="zone"),
        pytest.param([WEB], [term("app=web", "host")], refused(CROWDED, "a1"), id="host"),
        pytest.param([], [term("app=me")], refused("", ""), id="the-pod-itself-does-not-count"),
        pytest.param(
            [pod("x", node="bare", labels="app=web")],
            [term("app=web")],
            refused("", ""),
            id="a-node-without-the-key-is-no-domain",
        ),
        pytest.param(
            [WEB, pod("x", node="b1", labels="app=db")],
            [term("app=web", "host"), term("app=db", "zone")],
            refused(CROWDED, "a1 b1"),
            id="any-term-refuses",
        ),
    ],
)
def test_required_anti_affinity(placed, apart, expected):
    subject = Subject(*NODES, *placed)

    assert subject.filter(pod(labels="app=me", affinity=affinity(apart=apart))) == expected


@pytest.mark.parametrize(
    ("theirs", "on", "expected"),
    [
        pytest.param(term("app=me"), "a1", refused(OPPOSED, "a1 a2"), id="zone"),
        pytest.param(term("app=me", "host"), "a1", refused(OPPOSED, "a1"), id="host"),
        pytest.param(term("app=web"), "a1", None, id="speaks-of-others"),
        pytest.param(term("app=me"), "bare", None, id="stands-in-no-domain"),
        pytest.param(term("app=me"), "gone", None, id="stands-on-a-node-that-is-gone"),
        pytest.param(term("app=me", namespaces=["x"]), "a1", None, id="another-namespace"),
        pytest.param(
            term("app=me", namespaceSelector="team=a"),
            "a1",
            refused(OPPOSED, "a1 a2"),
            id="namespace-selector",
        ),
        pytest.param(term("app=me", namespaceSelector="team!=a"), "a1", None, id="excluded"),
    ],
)
def test_anti_affinity_of_others(theirs, on, expected):
    other = pod("other", node=on, affinity=affinity(apart=[theirs]))
    subject = Subject(*NODES, other, namespace("default", "team=a"))

    assert subject.filter(pod(labels="app=me")) == expected


def test_the_reason_is_the_first_that_applies():
    both = affinity(near=[term("app=web")], apart=[term("app=web", "host")])
    hostile = pod("hostile", node="a2", affinity=affinity(apart=[term("app=me", "zone")]))
    subject = Subject(*NODES, WEB, hostile)

    expected = {"a1": CROWDED, "a2": OPPOSED, "b1": FAR, "bare": FAR}
    assert subject.filter(pod(labels="app=me", affinity=both)) == expected


EVERYWHERE = {"default", "red", "blue", "lost"}


@pytest.mark.parametrize(
    ("spaces", "seen"),
    [
        pytest.param({}, {"default"}, id="own-namespace"),
        pytest.param({"namespaces": ["red"]}, {"red"}, id="named"),
        pytest.param({"namespaceSelector": ""}, {"default", "red", "blue", "lost"}, id="all"),
        pytest.param({"namespaceSelector": "color=red"}, {"red"}, id="selected"),
        pytest.param(
            {"namespaces": ["lost"], "namespaceSelector": "color=red"},
            {"red", "lost"},
            id="named-and-selected",
        ),
        pytest.param({"namespaceSelector": "color!=red"}, {"default", "blue"}, id="excluding"),
        pytest.param(
            {"namespaceSelector": "color color!=red"}, {"blue"}, id="asking-and-excluding"
        ),
    ],
)
def test_namespaces_of_own_terms(spaces, seen):
    assert namespaces_seen(spaces, V1_37) == seen


@pytest.mark.parametrize(
    ("selector", "in_1_36", "in_1_37"),
    [
        pytest.param("color!=red", EVERYWHERE, {"default", "blue"}, id="not-in"),
        pytest.param("!color", EVERYWHERE, {"default"}, id="does-not-exist"),
        pytest.param("color color!=red", {"blue"}, {"blue"}, id="asking-too"),
        pytest.param("", EVERYWHERE, EVERYWHERE, id="empty"),
    ],
)
def test_a_namespace_selector_that_only_excludes(selector, in_1_36, in_1_37):
    assert namespaces_seen({"namespaceSelector": selector}, V1_36) == in_1_36
    assert namespaces_seen({"namespaceSelector": selector}, V1_37) == in_1_37


def namespaces_seen(spaces, release):
    """The namespaces whose pods a term sees; ``lost`` has pods, but there is no such namespace."""
    names = sorted(EVERYWHERE)
    nodes = [node(name, labels=f"zone={name}") for name in names]
    pods = [pod(f"in-{name}", namespace=name, node=name) for name in names]
    known = [namespace("default"), namespace("red", "color=red"), namespace("blue", "color=blue")]
    subject = Subject(*nodes, *pods, *known, release=release)

    found = subject.filter(pod(affinity=affinity(apart=[term("", **spaces)])))

    return {name for name, why in found.items() if why}


def test_namespaces_are_looked_up_again_when_they_change():
    wanted = pod(affinity=affinity(apart=[term("", namespaceSelector="color=red")]))
    subject = Subject(*NODES, pod("x", namespace="red", node="b1"), namespace("red"))
    assert subject.filter(wanted) == refused("", "")

    subject.cluster.set_object(namespace("red", "color=red"))
    assert subject.filter(wanted) == refused(CROWDED, "b1")


def test_unreadable_terms_reject_the_pod():
    broken = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a"}]}}
    subject = Subject(*NODES)
    one = pod(affinity=affinity(near=[broken]))
    two = pod(affinity=affinity(near=[broken], dislikes=[(1, broken)]))

    wrong = '"" is not a valid label selector operator'
    first, second = f"requiredAffinityTerms: {wrong}", f"preferredAntiAffinityTerms: {wrong}"
    assert pre_filter(subject, one) == fwk.Status.unresolvable(f"parsing pod: {first}")
    assert pre_filter(subject, two) == fwk.Status.unresolvable(f"parsing pod: [{first}, {second}]")
    status = subject.plugin.pre_score(fwk.CycleState(), one, subject.cluster.rows())
    assert status == fwk.Status.error(f"parsing pod: {first}")


def pre_filter(subject, incoming):
    return subject.plugin.pre_filter(fwk.CycleState(), incoming, subject.cluster.rows())


DB = pod("db", node="b1", labels="app=db")
LIKES_ME = affinity(likes=[(7, term("app=me"))])
NEEDS_ME = affinity(near=[term("app=me")])


@pytest.mark.parametrize(
    ("placed", "own", "expected"),
    [
        pytest.param([WEB], affinity(likes=[(5, term("app=web"))]), (5, 5, 0, 0), id="likes"),
        pytest.param([WEB], affinity(dislikes=[(5, term("app=web"))]), (-5, -5, 0, 0), id="not"),
        pytest.param(
            [WEB, DB],
            affinity(likes=[(5, term("app=web", "host")), (3, term("app=db"))]),
            (5, 0, 3, 0),
            id="each-term-on-its-own",
        ),
        pytest.param(
            [WEB, pod("x", node="a2", labels="app=web")],
            affinity(likes=[(5, term("app=web"))]),
            (10, 10, 0, 0),
            id="each-pod-counts",
        ),
        pytest.param([WEB], affinity(likes=[(5, term("app=db"))]), None, id="nobody-there"),
        pytest.param(
            [WEB],
            affinity(likes=[(5, term("app=web"))], dislikes=[(5, term("app", "zone"))]),
            (0, 0, 0, 0),
            id="cancelling-is-not-nothing",
        ),
        pytest.param([WEB], affinity(near=[term("app=web")]), None, id="own-required-play-no-part"),
        pytest.param([pod("x", node="b1", affinity=LIKES_ME)], None, (0, 0, 7, 0), id="liked"),
        pytest.param([pod("x", node="b1", affinity=NEEDS_ME)], None, (0, 0, 1, 0), id="needed"),
        pytest.param(
            [pod("x", node="b1", affinity=affinity(dislikes=[(7, term("app=me"))]))],
            None,
            (0, 0, -7, 0),
            id="disliked",
        ),
        pytest.param(
            [pod("x", node="b1", affinity=affinity(apart=[term("app=me")]))],
            None,
            None,
            id="required-anti-affinity-of-others-plays-no-part",
        ),
        pytest.param([pod("x", node="bare", affinity=LIKES_ME)], None, None, id="in-no-domain"),
        pytest.param([pod("x", node="gone", affinity=LIKES_ME)], None, None, id="node-gone"),
    ],
)
def test_score(placed, own, expected):
    subject = Subject(*NODES, *placed)

    found = subject.scores(pod(labels="app=me", affinity=own))

    assert (found and tuple(found.values())) == expected


@pytest.mark.parametrize(
    ("args", "own", "expected"),
    [
        pytest.param({"hard_pod_affinity_weight": 30}, None, 37, id="weight"),
        pytest.param({"hard_pod_affinity_weight": 0}, None, 7, id="none"),
        pytest.param({"ignore_preferred_terms_of_existing_pods": True}, None, None, id="ignored"),
        pytest.param(
            {"ignore_preferred_terms_of_existing_pods": True},
            affinity(likes=[(1, term("app=nobody"))]),
            8,
            id="own-preferences-bring-them-back",
        ),
    ],
)
def test_score_by_arguments(args, own, expected):
    both = affinity(near=[term("app=me")], likes=[(7, term("app=me"))])
    subject = Subject(*NODES, pod("x", node="b1", affinity=both), **args)

    found = subject.scores(pod(labels="app=me", affinity=own))

    assert (found and found["b1"]) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param([], [], id="no-node"),
        pytest.param([7, 7], [0, 0], id="equal"),
        pytest.param([-5, 0, 5], [0, 50, 100], id="negative"),
        pytest.param([0, 29, 57, 58, 100], [0, 28, 56, 57, 100], id="divides-first"),
        pytest.param([0, 29, 50], [0, 57, 100], id="divides-first-of-50"),
    ],
)
def test_normalize(raw, expected):
    assert stretched(np.array(raw, np.int64)).tolist() == expected


def test_arguments_are_checked():
    assert list(InterPodAffinity.Args(hard_pod_affinity_weight=100).validate()) == []
    problem = fwk.Problem(
        "hardPodAffinityWeight", "Invalid value: 101: not in valid range [0, 100]"
    )
    assert list(InterPodAffinity.Args(hard_pod_affinity_weight=101).validate()) == [problem]


def test_events():
    registered = InterPodAffinity(InterPodAffinity.Args(), Subject().handle).events_to_register()

    assert [r.event for r in registered] == [
        fwk.on("AssignedPod", "add|delete|label").event,
        fwk.on("TargetPod", "label").event,
        fwk.on("Node", "add|label").event,
    ]
