"""The Workload and the PodGroup of a job, as kube-controller-manager 1.37 was seen to make them."""

import pytest

from podium.apiserver.controllers.job_groups import GROUPS, WORKLOADS, group_name, workload_name
from tests.support.controllers import World

FEATURES = frozenset({"GenericWorkload", "WorkloadWithJob"})


def job(scheduling=None, **spec):
    container = {"name": "c", "image": "a"}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    scheduled = {"scheduling": scheduling} if scheduling is not None else {}
    return {
        "metadata": {"name": "train"},
        "spec": {"parallelism": 3, "completions": 3, "template": template, **scheduled, **spec},
    }


def world(**options):
    return World(kubelets=False, features=FEATURES, **options)


def only(made, resource):
    [found] = made.api.store.objects(resource)
    return found


def test_names_are_those_of_kube_controller_manager():
    uid = "03e47027-9a80-462c-ad34-a37349df724e"
    assert workload_name({"metadata": {"name": "train", "uid": uid}}) == "train-9d9c4f44c"
    assert group_name("train-9d9c4f44c", "train-pgt-0") == "train-9d9c4f44c-train-pgt-0-64f695d557"
    assert len(group_name("w" * 253, "t" * 63)) == 253
    assert len(workload_name({"metadata": {"name": "n" * 253, "uid": uid}})) == 253


def test_a_gang_of_all_pods():
    made = world()
    made.create("jobs.batch", job({"schedulingPolicy": {"gang": {}}}))

    workload, group = only(made, WORKLOADS), only(made, GROUPS)
    gang = {"gang": {"minCount": 3}}
    assert workload["spec"] == {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "train"},
        "podGroupTemplates": [
            {"name": "train-pgt-0", "schedulingPolicy": gang, "schedulingConstraints": None}
        ],
    }
    name = workload["metadata"]["name"]
    assert group["spec"] == {
        "workloadRef": {"workloadName": name, "templateName": "train-pgt-0"},
        "schedulingPolicy": gang,
        "disruptionMode": {"single": {}},
        "priority": 0,
    }
    owners = [(one["kind"], one.get("controller")) for one in group["metadata"]["ownerReferences"]]
    assert owners == [("Job", True), ("Workload", None)]
    pods = made.api.store.objects("pods")
    assert [one["spec"]["schedulingGroup"] for one in pods] == [
        {"podGroupName": group["metadata"]["name"]}
    ] * 3
    told = [one["message"] for one in made.api.store.objects("events")]
    assert f"Created Workload {name} for Job train" in told
    assert f"Created PodGroup {group['metadata']['name']} for Job train" in told


def test_without_a_word_about_scheduling_pods_count_alone():
    made = world()
    made.create("jobs.batch", job())
    assert only(made, GROUPS)["spec"]["schedulingPolicy"] == {"basic": {}}


def test_the_size_of_a_gang_follows_the_job():
    made = world()
    made.create("jobs.batch", job({"schedulingPolicy": {"gang": {"minCount": 3}}}))

    def shrink(obj):
        obj["spec"]["scheduling"]["schedulingPolicy"]["gang"]["minCount"] = 2

    made.change("jobs.batch", "train", shrink)
    assert only(made, GROUPS)["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    [template] = only(made, WORKLOADS)["spec"]["podGroupTemplates"]
    assert template["schedulingPolicy"] == {"gang": {"minCount": 2}}


def own_group(body):
    body["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "mine"}


def owned(body):
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": True}
    body["metadata"]["ownerReferences"] = [owner]


@pytest.mark.parametrize("change", [own_group, owned])
def test_jobs_that_are_left_as_they_are(change):
    made, body = world(), job()
    change(body)
    made.create("jobs.batch", body)

    assert made.api.store.objects(GROUPS) == made.api.store.objects(WORKLOADS) == []
    assert len(made.api.store.objects("pods")) == 3


def test_a_group_that_is_gone_is_not_made_again_for_a_job_that_runs():
    made = world()
    made.create("jobs.batch", job(completions=6))
    name = only(made, GROUPS)["metadata"]["name"]
    made.change(GROUPS, name, lambda obj: obj["metadata"].pop("finalizers"))
    made.cluster.delete_at_once(GROUPS, ("default", name))
    made.delete("pods", made.api.store.objects("pods")[0]["metadata"]["name"], grace_seconds=0)
    made.settle()

    assert made.api.store.objects(GROUPS) == []


def test_without_the_gate_jobs_have_no_groups():
    made = World(kubelets=False, features=frozenset({"GenericWorkload"}))
    made.create("jobs.batch", job({"schedulingPolicy": {"gang": {}}}))

    assert made.api.store.objects(GROUPS) == []
    assert "scheduling" not in only(made, "jobs.batch")["spec"]
