"""InterPodAffinity when pods come and go in a dry run, and what it tells of its answers."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.registry import Registry
from podium.plugins.inter_pod_affinity import InterPodAffinity
from podium.state.aspects import Aspect
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
    node("b1", labels="zone=b"),
]
NEAR_ME = affinity(near=[term("app=me")])
APART = affinity(apart=[term("app=me", "host"), term("app=web", "zone")])


def after(subject, incoming, *, coming=(), going=()):
    """Why each node is refused when these pods have come to it or left it."""
    nodes, state = subject.cluster.rows(), fwk.CycleState()
    assert subject.plugin.pre_filter(state, incoming, nodes) is None
    copy = state.clone()
    added, removed = ([*map(fwk.PodInfo, coming)], [subject.cluster.pods[uid] for uid in going])
    subject.plugin.add_pods(copy, incoming, on_rows(nodes, added))
    subject.plugin.remove_pods(copy, incoming, on_rows(nodes, removed))
    return [status.message for status in subject.plugin.filter_all(copy, incoming, nodes)]


def on_rows(nodes, infos):
    rows = [nodes.cluster.row_of(info.pod.node_name) for info in infos]
    return fwk.PodsOnRows(nodes, infos, np.array(rows, np.intp))


ME = pod("me-1", node="a1", labels="app=me")


@pytest.mark.parametrize(
    ("own", "placed", "coming", "going", "expected"),
    [
        pytest.param(NEAR_ME, [], [], [], ["", "", ""], id="first-anywhere"),
        pytest.param(NEAR_ME, [], [ME], [], ["", "", ""], id="one-comes-to-its-own-world-only"),
        pytest.param(NEAR_ME, [ME], [], [], ["", "", FAR], id="one-is-there"),
        pytest.param(
            NEAR_ME, [ME], [], ["uid-me-1"], ["", "", FAR], id="first-again-where-it-has-left"
        ),
        pytest.param(
            affinity(near=[term("app=me", "host")]),
            [ME, pod("me-2", node="a2", labels="app=me")],
            [],
            ["uid-me-1"],
            [FAR, "", FAR],
            id="not-first-while-another-is-elsewhere",
        ),
        pytest.param(
            affinity(near=[term("app=me", "host"), term("app=me", "zone")]),
            [ME],
            [],
            ["uid-me-1"],
            ["", FAR, FAR],
            id="one-pod-counts-for-every-key-and-leaves-every-key",
        ),
        pytest.param(
            affinity(near=[term("app=me", "host")]),
            [],
            [pod("x", node="b1", labels="app=me"), pod("y", node="b1", labels="app=me")],
            [],
            ["", "", FAR],
            id="no-number-of-them-makes-up-for-a-missing-key",
        ),
        pytest.param(APART, [], [ME], [], [CROWDED, "", ""], id="forbidden-comes"),
        pytest.param(APART, [ME], [], ["uid-me-1"], ["", "", ""], id="forbidden-leaves"),
        pytest.param(
            APART,
            [],
            [pod("x", node="b1", labels="app=me")],
            [],
            ["", "", ""],
            id="forbidden-comes-where-its-key-is-missing",
        ),
        pytest.param(
            APART,
            [pod("x", node="b1", labels="app=me"), pod("y", node="b1", labels="app=web")],
            [],
            ["uid-x"],
            ["", "", CROWDED],
            id="one-that-did-not-count-leaves",
        ),
        pytest.param(
            NEAR_ME,
            [],
            [pod("x", node="a2", affinity=affinity(apart=[term("app=me")]))],
            [],
            ["", OPPOSED, ""],
            id="hostile-comes",
        ),
        pytest.param(
            NEAR_ME,
            [pod("x", node="a2", affinity=affinity(apart=[term("app=me", "zone")]))],
            [],
            ["uid-x"],
            [OPPOSED, "", ""],
            id="hostile-leaves-its-own-world-only",
        ),
        pytest.param(
            NEAR_ME,
            [],
            [pod("x", node="b1", affinity=affinity(apart=[term("app=me", "host")]))],
            [],
            ["", "", ""],
            id="hostile-comes-where-its-key-is-missing",
        ),
    ],
)
def test_dry_run(own, placed, coming, going, expected):
    subject = Subject(*NODES, *placed)

    found = after(subject, pod(labels="app=me", affinity=own), coming=coming, going=going)

    assert found == expected


def test_can_be_registered():
    assert InterPodAffinity.name in Registry([InterPodAffinity])


LONELY = affinity(apart=[term("app=web")])


@pytest.mark.parametrize(
    ("placed", "first", "second", "equal"),
    [
        pytest.param([], {"labels": "app=a"}, {"labels": "app=b"}, True, id="nobody-has-terms"),
        pytest.param([], {"namespace": "a"}, {"namespace": "b"}, True, id="nor-cares-where"),
        pytest.param([LONELY], {"labels": "app=a"}, {"labels": "app=b"}, False, id="seen-key"),
        pytest.param([LONELY], {"labels": "id=a"}, {"labels": "id=b"}, True, id="unseen-key"),
        pytest.param([LONELY], {"namespace": "a"}, {"namespace": "b"}, False, id="namespace"),
        pytest.param([], {"affinity": LONELY}, {"affinity": LONELY}, True, id="equal-terms"),
        pytest.param([], {"affinity": LONELY}, {"affinity": APART}, False, id="other-terms"),
        pytest.param([], {"affinity": affinity()}, {}, True, id="no-terms-is-no-affinity"),
        pytest.param(
            [],
            {"affinity": LONELY, "labels": "app=a"},
            {"affinity": LONELY, "labels": "app=b"},
            True,
            id="own-anti-affinity-does-not-see-own-labels",
        ),
        pytest.param(
            [],
            {"affinity": NEAR_ME, "labels": "app=a"},
            {"affinity": NEAR_ME, "labels": "app=b"},
            False,
            id="own-affinity-does",
        ),
    ],
)
def test_signature(placed, first, second, equal):
    others = [pod(f"x{i}", node="a1", affinity=own) for i, own in enumerate(placed)]
    sign = Subject(*NODES, *others).plugin.sign

    assert (sign(pod("one", **first)) == sign(pod("two", **second))) is equal


def test_signature_forgets_keys_of_pods_that_left():
    hostile = pod("x", node="a1", affinity=LONELY)
    subject = Subject(*NODES, hostile, pod("y", node="a1", affinity=APART))
    subject.cluster.remove_pod(hostile)
    assert subject.plugin.sign(pod(labels="app=a")) != subject.plugin.sign(pod(labels="app=b"))

    subject.cluster.remove_pod(pod("y", node="a1", affinity=APART))
    assert subject.plugin.sign(pod(labels="app=a")) == subject.plugin.sign(pod(labels="app=b"))


def test_preferences_of_others_do_not_matter_when_ignored():
    fan = pod("fan", node="a1", affinity=affinity(likes=[(1, term("app=web"))]))
    arguments = {"ignore_preferred_terms_of_existing_pods": True}
    sign = Subject(*NODES, fan, **arguments).plugin.sign

    assert sign(pod(labels="app=a")) == sign(pod(labels="app=b"))


@pytest.mark.parametrize(
    ("placed", "own", "outdating", "harmless"),
    [
        pytest.param(None, None, Aspect.AFFINITY, Aspect.PODS | Aspect.LABELS, id="nobody"),
        pytest.param(
            LONELY,
            None,
            Aspect.AFFINITY | Aspect.LABELS | Aspect.NAMESPACES,
            Aspect.PODS | Aspect.RESOURCES,
            id="others",
        ),
        pytest.param(
            None, LONELY, Aspect.PODS | Aspect.LABELS | Aspect.NAMESPACES, Aspect.TAINTS, id="own"
        ),
    ],
)
def test_reads(placed, own, outdating, harmless):
    subject = Subject(*NODES, namespace("default"), pod("x", node="a1", affinity=placed))

    reads = subject.plugin.depends_on(pod(affinity=own))

    assert reads.cluster & outdating == outdating
    assert not reads.cluster & harmless
    assert not reads.node
    assert not reads.feasible
