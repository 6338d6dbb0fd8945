"""Pods that Coscheduling and CapacityScheduling hold back, with their groups and quotas."""

import pytest

from podium.explain import explain, explain_node
from podium.simulation import Simulation
from tests.support import dumps

CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "multiPoint": {
                    "enabled": [{"name": "Coscheduling"}, {"name": "CapacityScheduling"}]
                },
                "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
            },
        }
    ],
}


def custom(kind, name, **spec):
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def member(name, group, cpu="1", **spec):
    made = dumps.manifest(name, cpu, **spec)
    made["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": group}
    return made


def simulation(*objects):
    return Simulation.from_objects([dumps.node("one"), *objects], CONFIGURATION)


def test_a_group_that_does_not_exist():
    found = explain(simulation(member("web", "none")), "web")

    assert found.state == "pending"
    assert found.sentence == (
        "default/web is pending: Coscheduling refuses one (PodGroup not found)."
    )


def test_a_group_with_too_few_pods():
    group = custom("PodGroup", "gang", minMember=50)
    found = explain(simulation(group, member("web", "gang")), "web")

    assert found.state == "pending"
    assert "current pods number: 1, minMember of group: 50" in found.message


def test_a_member_waits_for_the_others():
    group = custom("PodGroup", "gang", minMember=2)
    made = simulation(group, member("a", "gang"), member("b", "gang", "9"))
    found = explain(made, "a")

    assert found.state == "waiting"
    assert found.sentence == (
        "default/a would get a node, one, and waits for Coscheduling (Permit)."
    )
    assert explain(made, "a") == found  # the group did not fail by being explained


def test_what_helps_a_member_that_is_too_large():
    group = custom("PodGroup", "gang", minMember=2)
    found = explain(simulation(group, member("a", "gang"), member("b", "gang", "9")), "b")

    assert ("request", "one") in [(fix.kind, fix.node) for fix in found.fixes]


def test_a_quota_that_is_used_up():
    quota = custom("ElasticQuota", "share", min={"cpu": "2"}, max={"cpu": "2", "memory": "1Gi"})
    used, more = dumps.manifest("used", "1"), dumps.manifest("more", "2")
    made = simulation(quota, {**used, "spec": {**used["spec"], "nodeName": "one"}}, more)
    found = explain(made, "more")

    assert found.state == "pending"
    assert "ElasticQuota default is more than Max" in found.message


def test_a_node_that_is_asked_about_members():
    group = custom("PodGroup", "gang", minMember=2)
    made = simulation(group, member("a", "gang"), member("b", "gang", "9"), member("web", "none"))
    found = explain_node(made.core, "one", made.pending.values())

    assert {each.pod: (each.fits, each.text) for each in found.pending} == {
        "default/a": (True, "default/a would fit, and then waits for Coscheduling (Permit)"),
        "default/b": (False, "default/b does not fit: it has 4 cpu in all, and the pod requests 9"),
        "default/web": (
            False,
            "default/web would fit, but Coscheduling refuses one for it (PodGroup not found)",
        ),
    }


def test_a_gang_is_placed_as_a_whole():
    group = custom("PodGroup", "gang", minMember=2)
    fits = simulation(group, member("a", "gang"), member("b", "gang"))
    too_large = simulation(group, member("a", "gang"), member("b", "gang", "9"))

    assert {each.pod for each in fits.schedule().placed} == {"default/a", "default/b"}
    assert too_large.schedule().placed == ()


def test_a_group_that_is_added_wakes_its_pods():
    made = simulation(member("web", "gang"))
    assert made.schedule().placed == ()

    made.add(custom("PodGroup", "gang", minMember=1))

    assert [each.pod for each in made.schedule().placed] == ["default/web"]


@pytest.mark.parametrize("forks", [1, 3])
def test_forks_do_not_see_what_others_placed(forks):
    quota = custom("ElasticQuota", "share", min={"cpu": "2"}, max={"cpu": "2", "memory": "1Gi"})
    made = simulation(quota)
    for _ in range(forks):
        trial = made.fork()
        trial.add(dumps.manifest("first", "2"), dumps.manifest("second", "2"))
        assert len(trial.schedule().placed) == 1
