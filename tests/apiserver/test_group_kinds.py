"""Workloads and pod groups of scheduling.k8s.io, with the feature gate GenericWorkload.

The answers are those that kube-apiserver gave to the same requests; tests/control_plane asks again.
"""

import gzip
import json
from pathlib import Path

import pytest

from podium.apiserver.features import features_of
from podium.apiserver.kinds.groups.workload_tree import tree_causes
from podium.config import feature_gates
from podium.errors import ConfigError
from podium.release import V1_36
from tests.support.control_plane import sides
from tests.support.control_plane.comparison import Ask, all_differences
from tests.support.control_plane.scripts import grouping
from tests.support.controllers import World

RECORDED = Path(__file__).parents[1] / "data" / "group-answers-1.37.json.gz"
USUAL = frozenset({"GenericWorkload"})
ALL_GATES = USUAL | {
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
}
GROUPS = "podgroups.scheduling.k8s.io"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "features", "scripts"),
    [
        ("usual", USUAL, grouping.ALL),
        ("all-gates", ALL_GATES, grouping.GATED),
        ("jobs", USUAL | {"WorkloadWithJob"}, grouping.JOBS),
    ],
)
def test_the_answers_are_those_of_kube_apiserver(tmp_path, name, features, scripts):
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))[name]
    with sides.embedded(tmp_path, features=features) as side:
        found = [line for script in scripts for line in differing(script, side, recorded)]

    assert not found, "\n".join(found)


def differing(script, side, recorded):
    ask = Ask(side, script.__name__.replace("_", "-"))
    namespace = {"metadata": {"name": ask.namespace}}
    side.request("POST", "/api/v1/namespaces", json.dumps(namespace).encode())
    script(ask)
    return all_differences(json.loads(json.dumps(ask.answers)), recorded[script.__name__])


def test_without_the_gate_there_are_no_groups():
    world = World()

    assert [kind for kind in world.api.kinds if kind.plural == "podgroups"] == []
    made = world.create("pods", member("p"))
    assert "schedulingGroup" not in made["spec"]


@pytest.mark.parametrize(
    ("settings", "release", "expected"),
    [
        ((), None, set()),
        (("GenericWorkload=true",), None, {"GenericWorkload"}),
        (
            ("GenericWorkload=true", "WorkloadWithJob=true"),
            None,
            {"GenericWorkload", "WorkloadWithJob"},
        ),
        (("GenericWorkload=true", "WorkloadWithJob=false"), None, {"GenericWorkload"}),
        (("GenericWorkload=false",), None, set()),
    ],
)
def test_features_of_settings(settings, release, expected):
    assert features_of(feature_gates.parse(settings), settings) == expected


def test_the_gate_is_refused_in_1_36():
    with pytest.raises(ConfigError, match=r"as of Kubernetes 1\.37, not of 1\.36"):
        feature_gates.parse(["GenericWorkload=true"], V1_36)


def member(name, group="gang"):
    container = {"name": "c", "image": "app"}
    spec = {"containers": [container], "schedulingGroup": {"podGroupName": group}}
    return {"metadata": {"name": name}, "spec": spec}


def gang(name="gang"):
    return {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}


class TestProtection:
    """A deleted group stays as long as pods that have not ended belong to it."""

    def test_without_pods_it_goes_at_once(self):
        world = World(features=USUAL)
        world.create(GROUPS, gang())
        world.delete(GROUPS, "gang")
        world.settle()
        assert world.cluster.find(GROUPS, ("default", "gang")) is None

    def test_pods_keep_it_until_they_are_gone(self):
        world = World(features=USUAL)
        world.create(GROUPS, gang())
        for name in ("a", "b"):
            world.create("pods", member(name))
        world.create("pods", member("other", "another"))
        world.delete(GROUPS, "gang")
        world.settle()
        assert world.cluster.find(GROUPS, ("default", "gang")) is not None

        world.delete("pods", "a")
        world.wait(60)
        assert world.cluster.find(GROUPS, ("default", "gang")) is not None
        status = {"phase": "Succeeded"}
        world.cluster.set_status("pods", ("default", "b"), status)
        world.settle()
        assert world.cluster.find(GROUPS, ("default", "gang")) is None


@pytest.mark.parametrize(("depth", "is_refused"), [(3, False), (4, True), (5, True)])
def test_the_depth_of_templates(depth, is_refused):
    """kube-apiserver shows the templates in the message as Go structs, so it is not compared."""
    found = list(tree_causes({"compositePodGroupTemplates": [grouping.nested(depth)]}))

    texts = [cause.message for cause in found]
    assert (
        any(text.endswith("maximum template hierarchy depth is 4") for text in texts) is is_refused
    )
