"""Several profiles, gated pods and preemption, told through the API alone."""

import pytest

from podium.testing import node, pod
from tests.support.scenarios import HIGH, reasons

TWO_PROFILES = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"schedulerName": "default-scheduler"},
        {
            "schedulerName": "packing",
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}],
                        }
                    },
                }
            ],
        },
    ],
}


@pytest.mark.parametrize("cluster_configuration", [TWO_PROFILES], ids=["two-profiles"])
def test_two_profiles_schedule_their_own_pods_their_own_way(cluster):
    cluster.create(node("n1"), node("n2"), pod("first", cpu="2", node="n1"))
    cluster.create(
        pod("spread", cpu="1"),
        pod("packed", cpu="1", scheduler_name="packing"),
        pod("foreign", cpu="1", scheduler_name="somebody-else"),
    )
    cluster.settle()

    assert cluster.node_of("spread") == "n2"
    assert cluster.node_of("packed") == "n1"
    assert cluster.node_of("foreign") is None
    (event,) = (e for e in cluster.events_of("packed") if e["reason"] == "Scheduled")
    assert event["reportingInstance"].startswith("packing-")


def test_a_gated_pod_waits_until_its_last_gate_is_gone(cluster):
    gates = [{"name": "a"}, {"name": "b"}]
    cluster.create(node("n1"), pod("web", scheduling_gates=gates))
    cluster.wait(10)
    assert cluster.node_of("web") is None
    assert reasons(cluster) == []

    def open_one(obj):
        del obj["spec"]["schedulingGates"][0]

    cluster.update("pods", "web", open_one)
    cluster.wait(10)
    assert cluster.node_of("web") is None

    cluster.update("pods", "web", open_one)
    cluster.settle()
    assert cluster.node_of("web") == "n1"


def slow_to_stop(name, cpu, seconds):
    return pod(name, cpu=cpu, annotations={"podium.dev/stop-after": f"{seconds}s"})


def test_preemption_waits_for_a_victim_that_takes_its_time(cluster):
    victim = slow_to_stop("victim", "3", 20)
    cluster.create(HIGH, node("n1", cpu="4"), victim)
    cluster.wait(5)
    assert cluster.get("pods", "victim")["status"]["phase"] == "Running"

    cluster.create(pod("web", cpu="2", priority_class_name="high"))
    cluster.settle()
    assert cluster.get("pods", "web")["status"]["nominatedNodeName"] == "n1"
    leaving = cluster.get("pods", "victim")
    assert "deletionTimestamp" in leaving["metadata"]
    conditions = {one["type"]: one for one in leaving["status"]["conditions"]}
    assert conditions["DisruptionTarget"]["reason"] == "PreemptionByScheduler"
    (told,) = (one for one in cluster.events_of("victim") if one["reason"] == "Preempted")
    assert told["message"].endswith("on node n1")

    # The room is promised: a pod of lower priority does not get it.
    cluster.create(pod("low", cpu="2"))
    cluster.wait(15)
    assert (cluster.node_of("web"), cluster.node_of("low")) == (None, None)

    cluster.wait(10)
    assert cluster.get("pods", "victim") is None
    assert (cluster.node_of("web"), cluster.node_of("low")) == ("n1", "n1")


def test_promised_room_is_taken_before_the_api_server_knows(cluster):
    victim = slow_to_stop("victim", "3", 20)
    cluster.create(HIGH, node("n1", cpu="4"), victim)
    cluster.wait(5)
    # Beside the victim there is room for the second, but not beside the first.
    cluster.create(pod("web", cpu="4", priority_class_name="high"), pod("low", cpu="1"))
    cluster.settle()
    assert cluster.node_of("low") is None
    assert "1 Insufficient cpu" in cluster.why_pending("low")

    cluster.wait(25)
    assert (cluster.node_of("web"), cluster.node_of("low")) == ("n1", None)


def test_a_nomination_that_is_given_up_wakes_the_pods_it_kept_out(cluster):
    victim = slow_to_stop("victim", "3", 10)
    cluster.create(HIGH, node("n1", cpu="4"), victim)
    cluster.wait(5)
    cluster.create(pod("web", cpu="3", priority_class_name="high"))
    cluster.settle()
    cluster.create(pod("low", cpu="3"))
    cluster.settle()
    assert cluster.node_of("low") is None

    cluster.delete("pods", "web")
    cluster.wait(12)
    assert cluster.node_of("low") == "n1"
