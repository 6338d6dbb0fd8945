import json

import pytest

from podium import framework as fwk
from podium.api.objects import OwnerReference
from podium.legacy.plugins.node_prefer_avoid_pods import ANNOTATION, NodePreferAvoidPods
from podium.testing.builders import node, pod

PLUGIN = NodePreferAvoidPods(fwk.NoArgs(), None)


def owned(kind="ReplicaSet", uid="1", *, controller=True):
    owner = OwnerReference("apps/v1", kind, "web", uid, controller)
    return pod(owner_references=(owner,))


def avoiding(*controllers):
    """The annotation of a node that these (kind, uid) shall avoid."""
    entries = [
        {"podSignature": {"podController": {"kind": kind, "uid": uid}}, "reason": "because"}
        for kind, uid in controllers
    ]
    return json.dumps({"preferAvoidPods": entries})


def scores(subject, *texts):
    """What both forms say of nodes with these annotations; ``None`` for a node without one."""
    nodes = fwk.Rows.of(
        *(
            node(f"n{number}", annotations={} if text is None else {ANNOTATION: text})
            for number, text in enumerate(texts)
        )
    )
    together = PLUGIN.score_all(fwk.CycleState(), subject, nodes).tolist()
    assert together == [PLUGIN.score(fwk.CycleState(), subject, each) for each in nodes]
    return together


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param(owned(), 0, id="named"),
        pytest.param(owned("ReplicationController"), 100, id="other-kind"),
        pytest.param(owned(uid="2"), 100, id="other-uid"),
        pytest.param(owned(controller=False), 100, id="owner-that-does-not-control"),
        pytest.param(pod(), 100, id="no-owner"),
    ],
)
def test_score(subject, expected):
    assert scores(subject, avoiding(("ReplicaSet", "1"))) == [expected]


def test_only_two_kinds_of_controllers_can_be_avoided():
    text = avoiding(("StatefulSet", "1"), ("ReplicationController", "1"))

    assert scores(owned("StatefulSet"), text) == [100]
    assert scores(owned("ReplicationController"), text) == [0]


def test_each_node_speaks_for_itself():
    one, two = avoiding(("ReplicaSet", "1")), avoiding(("ReplicaSet", "2"), ("ReplicaSet", "1"))

    assert scores(owned(), one, None, two, avoiding(), one) == [0, 100, 0, 100, 0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="no-json"),
        pytest.param("[]", id="no-object"),
        pytest.param('{"preferAvoidPods": [{"podSignature": {"podController": 1}}]}', id="type"),
        pytest.param('{"preferAvoidPods": null}', id="null"),
        pytest.param('{"preferAvoidPods": [{}, {"podSignature": {}}]}', id="nobody"),
    ],
)
def test_an_annotation_that_says_nothing(text):
    assert scores(owned(), text) == [100]


def test_replicas_are_equal_and_the_node_is_all_it_reads():
    assert PLUGIN.sign(owned()) == PLUGIN.sign(owned()) != PLUGIN.sign(owned(uid="2"))
    assert PLUGIN.sign(pod("a")) == PLUGIN.sign(owned("Job"))
    assert PLUGIN.depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.NODE)
