"""A cluster for plain functions does what the simulated one does, and ends cleanly."""

import asyncio

import pytest

from podium import framework as fwk
from podium.errors import ConfigError
from podium.testing import Cluster, node, pod

TWO_PROFILES = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}],
}


class Nowhere(fwk.FilterPlugin):
    name = "Nowhere"

    def filter(self, state, subject, candidate):
        return fwk.Status.unschedulable("nowhere")


@pytest.mark.parametrize(
    ("version", "says_so"), [("1.36", True), ("1.37", False)], ids=["1.36", "1.37"]
)
def test_a_cluster_of_a_release(version, says_so):
    with Cluster(kubernetes_version=version) as cluster:
        cluster.create(node("small", cpu="1"), pod("web", cpu="2"))
        cluster.settle()

        assert ("no new claims to deallocate" in cluster.why_pending("web")) is says_so
        kubelet = cluster.get("nodes", "small")["status"]["nodeInfo"]["kubeletVersion"]
        assert kubelet == f"v{version}.0"


def test_a_day_in_a_cluster(cluster):
    cluster.create(node("small", cpu="1"), pod("web", cpu="2"))
    cluster.settle()
    assert cluster.node_of("web") is None
    assert "1 Insufficient cpu" in cluster.why_pending("web")

    cluster.create(node("big", cpu="4"))
    cluster.wait(2)
    assert (cluster.node_of("web"), cluster.why_pending("web")) == ("big", "")
    reasons = [event["reason"] for event in cluster.events_of("web")]
    assert reasons[0] == "FailedScheduling"
    assert "Scheduled" in reasons

    cluster.delete("pods", "web")
    cluster.wait(60)
    assert cluster.get("pods", "web") is None


@pytest.mark.parametrize("ask", ["node_of", "why_pending"])
def test_a_pod_that_is_not_there_is_told_with_those_that_are(cluster, ask):
    with pytest.raises(LookupError, match=r"^no pod web; there are none$"):
        getattr(cluster, ask)("web")

    cluster.create(pod("web"))
    with pytest.raises(LookupError, match=r"^no pod wbe; there is web$"):
        getattr(cluster, ask)("wbe")

    cluster.create(pod("api", namespace="kube-system"))
    with pytest.raises(LookupError, match=r"^no pod api; there are kube-system/api, web$"):
        getattr(cluster, ask)("api")

    cluster.create(*(pod(f"x{number:02}") for number in range(20)))
    with pytest.raises(LookupError, match=r"^no pod y; .*, x16, x17 and 2 more$"):
        getattr(cluster, ask)("y")


def test_objects_are_updated_in_place(cluster):
    def cordon(obj):
        obj["spec"]["unschedulable"] = True

    def declare(status):
        status["allocatable"]["example.com/gpu"] = "1"

    cluster.create(node("a"), node("b"))
    cluster.update("nodes", "a", cordon)
    cluster.set_status("nodes", "b", declare)
    cluster.create(pod("web", requests={"example.com/gpu": 1}))
    cluster.wait(2)

    assert cluster.get("nodes", "a")["spec"]["unschedulable"]
    assert cluster.node_of("web") == "b"


@pytest.mark.parametrize("cluster_plugins", [[Nowhere]], ids=["Nowhere"])
@pytest.mark.parametrize("cluster_configuration", [TWO_PROFILES], ids=["two-profiles"])
def test_plugins_run_in_every_profile(cluster):
    cluster.create(node("a"), pod("web"), pod("else", scheduler_name="other"))
    cluster.settle()

    assert "1 nowhere" in cluster.why_pending("web")
    assert "1 nowhere" in cluster.why_pending("else")


def test_a_configuration_from_a_file(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Nonsense\n")

    with pytest.raises(ConfigError, match=r"scheduler\.yaml"):
        Cluster(configuration=path)


def test_a_failing_test_ends_its_cluster():
    def failing():
        with Cluster() as cluster:
            cluster.create(node("a"), pod("web"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()


def test_it_works_where_an_event_loop_is_running():
    async def notebook():
        with Cluster() as cluster:
            cluster.create(node("a"), pod("web"))
            cluster.settle()
            return cluster.node_of("web")

    assert asyncio.run(notebook()) == "a"


def test_objects_are_listed():
    with Cluster() as cluster:
        cluster.create(node("b"), node("a"), pod("web"))

        assert [one["metadata"]["name"] for one in cluster.list("nodes")] == ["a", "b"]
        assert [one["metadata"]["name"] for one in cluster.list("pods", "default")] == ["web"]
        assert cluster.list("pods", "kube-system") == []
        with pytest.raises(LookupError):
            cluster.list("nods")
