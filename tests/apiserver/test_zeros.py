"""What an object does not need to say is not stored, whatever client writes it."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.kinds.builtin import builtin_kinds
from podium.apiserver.zeros import drop_zeros
from tests.support.controllers import World, template, workload

KINDS = builtin_kinds()
DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"
# What kubectl's protobuf carries for a pod in which none of these was set.
UNSAID = {"hostNetwork": False, "hostPID": False, "hostname": "", "nodeSelector": {}, "volumes": []}


@pytest.mark.parametrize(
    ("resource", "spec", "expected"),
    [
        pytest.param("pods", UNSAID, {}, id="false-and-empty"),
        pytest.param("pods", {"priority": 0}, {"priority": 0}, id="zero-that-is-no-default"),
        pytest.param("pods", {"hostNetwork": True}, {"hostNetwork": True}, id="true"),
        pytest.param("pods", {"securityContext": {}}, {"securityContext": {}}, id="struct"),
        pytest.param(
            "pods",
            {"containers": [{"name": "c", "tty": False, "args": [], "resources": {}}]},
            {"containers": [{"name": "c", "resources": {}}]},
            id="inside-a-list",
        ),
        pytest.param(
            "pods",
            {"containers": [{"name": "", "args": ["", "a"]}]},
            {"containers": [{"name": "", "args": ["", "a"]}]},
            id="required-and-elements-stay",
        ),
        pytest.param("deployments.apps", {"replicas": 0}, {"replicas": 0}, id="no-replicas"),
        pytest.param("deployments.apps", {"paused": False}, {}, id="not-paused"),
        pytest.param(
            "persistentvolumeclaims",
            {"storageClassName": "", "volumeName": ""},
            {"storageClassName": ""},
            id="no-class-is-not-the-default-class",
        ),
        pytest.param(
            "poddisruptionbudgets.policy",
            {"maxUnavailable": 0, "selector": {"matchLabels": {}}},
            {"maxUnavailable": 0, "selector": {}},
            id="number-or-percentage",
        ),
        pytest.param(
            "resourceclaims.resource.k8s.io",
            {"devices": {"config": [], "requests": []}},
            {"devices": {"requests": []}},
            id="list-that-is-always-written",
        ),
    ],
)
def test_what_is_dropped(resource, spec, expected):
    obj = {"metadata": {"name": "x", "labels": {"a": ""}, "annotations": {}}, "spec": spec}

    drop_zeros(obj, KINDS.resource(resource).schema)

    assert obj == {"metadata": {"name": "x", "labels": {"a": ""}}, "spec": expected}


some_pods = st.fixed_dictionaries(
    {},
    optional={
        "hostNetwork": st.booleans(),
        "priority": st.sampled_from([0, 1]),
        "nodeSelector": st.dictionaries(st.sampled_from("ab"), st.sampled_from(["", "x"])),
        "tolerations": st.lists(st.fixed_dictionaries({"key": st.sampled_from(["", "k"])})),
    },
)


@given(spec=some_pods)
def test_once_is_enough_and_nothing_that_says_something_goes(spec):
    schema = KINDS.resource("pods").schema
    obj = {"spec": copy.deepcopy(spec)}
    drop_zeros(obj, schema)
    again = copy.deepcopy(obj)
    drop_zeros(again, schema)

    assert again == obj
    assert obj["spec"].get("hostNetwork", False) == spec.get("hostNetwork", False)
    assert obj["spec"].get("priority") == spec.get("priority")
    assert obj["spec"].get("nodeSelector", {}) == spec.get("nodeSelector", {})
    assert len(obj["spec"].get("tolerations", [])) == len(spec.get("tolerations", []))


def test_going_back_to_a_template_without_its_zeros_finds_its_set():
    """`kubectl rollout undo` sends what it read, without what Go leaves out."""
    world = World()
    world.create(DEPLOYMENTS, workload(template=template(**UNSAID)))
    first = world.names(SETS)
    world.change(DEPLOYMENTS, "web", lambda obj: obj["spec"].update(template=template(image="b")))
    both = world.names(SETS)

    world.change(DEPLOYMENTS, "web", lambda obj: obj["spec"].update(template=template()))

    assert len(both) == 2
    assert world.names(SETS) == both
    revision = world.get(SETS, first[0])["metadata"]["annotations"]
    assert revision["deployment.kubernetes.io/revision"] == "3"
